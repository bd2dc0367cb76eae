package main

// Secrets: where one comes from, and how it stays out of what is shown.

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/webhookmw"
)

// secretVariable is the environment variable that the secret comes from.
const secretVariable = "REHEARSE_SECRET"

// findSecret returns the secret to sign and to verify with. A receiver of our own has one of its own, so that what
// stands in the environment is never sent anywhere without being asked for.
func (c *command) findSecret(o *options) (string, error) {
	secret := c.getenv(secretVariable)
	switch {
	case o.url == nil && !o.serve, o.serve && secret == "" && o.secretFile == "":
		o.madeSecret = true
		return roundtripper.NewKey(), nil
	case o.secretFile != "":
		data, err := os.ReadFile(o.secretFile)
		if err != nil {
			return "", fmt.Errorf("-secret-file: %w", err)
		}
		secret = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	case secret == "":
		return "", errors.New("no secret: set " + secretVariable + ", or give -secret-file")
	}
	if err := webhookmw.Signed().Sign(http.Header{}, secret, "check", time.Now(), nil); err != nil {
		return "", err
	}
	return secret, nil
}

// redacted writes u without what may be secret: user name and password, query and fragment.
func redacted(u *url.URL) string {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.RawQuery != "" {
		return plain.String() + "?..."
	}
	return plain.String()
}

// Parts of a URL within a text that may be secret.
var (
	userInfo = regexp.MustCompile(`://[^\s"/]*@`)
	query    = regexp.MustCompile(`(://[^\s"?]*\?)[^\s"]*`)
)

// clean is the text of err on one line, with the URLs in it redacted.
func clean(err error) string {
	text := userInfo.ReplaceAllString(err.Error(), "://")
	return plain(query.ReplaceAllString(text, "$1..."))
}

// plain is a text that does nothing to a terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
