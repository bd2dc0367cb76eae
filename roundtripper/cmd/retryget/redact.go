package main

// This file keeps secrets out of what is shown: a URL may have a password or a
// token in it.

import (
	"net/url"
	"strings"

	"github.com/rebound-go/rebound/roundtripper/internal/redact"
)

// redacted writes u without what may be secret, and says where there was a
// query.
func redacted(u *url.URL) string {
	if u.RawQuery != "" {
		return redact.URL(u) + "?" + redact.Left
	}
	return redact.URL(u)
}

// clean is the text of err on one line, with the URLs in it redacted: an error
// about a proxy's address, say, shows all of it.
func clean(err error) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, redact.Text(err.Error()))
}
