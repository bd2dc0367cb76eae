package main

// This file keeps secrets out of what is shown: a URL may have a password or a
// token in it.

import (
	"net/url"
	"regexp"
	"strings"
)

// redacted writes u without what may be secret: user name and password, query
// and fragment.
func redacted(u *url.URL) string {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.RawQuery != "" {
		return plain.String() + "?..."
	}
	return plain.String()
}

// Parts of a URL within a text that may be secret.
var (
	userInfo = regexp.MustCompile(`://[^\s"]*@`)
	query    = regexp.MustCompile(`(://[^\s"?]*\?)[^\s"]*`)
)

// clean is the text of err on one line, with the URLs in it redacted: an error
// about a proxy's address, say, shows all of it.
func clean(err error) string {
	text := userInfo.ReplaceAllString(err.Error(), "://")
	text = query.ReplaceAllString(text, "$1...")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
