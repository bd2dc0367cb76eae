package statuspage

// Text from outside: copied, cut, and without what may be secret or can't be printed.

import (
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rebound-go/rebound/roundtripper/internal/redact"
)

// longest is the most bytes of any text on the page, before the sign that says that it was cut. IDs of events and
// deliveries may be that long, and an operator looks for whole ones.
const longest = 255

// clean is s, cut to longest and printable. It shares no memory with s, which may be part of something large.
func clean(s string) string {
	cut := len(s) > longest
	if cut {
		s = s[:longest]
		for n := 1; n < utf8.UTFMax && n <= len(s); n++ { // not in the middle of a rune
			if utf8.RuneStart(s[len(s)-n]) {
				if !utf8.FullRuneInString(s[len(s)-n:]) {
					s = s[:len(s)-n]
				}
				break
			}
		}
	}
	s = strings.Map(printable, s)
	if cut {
		return s + "…"
	}
	return strings.Clone(s)
}

func printable(r rune) rune {
	switch {
	case unicode.IsPrint(r): // neither controls nor those that turn the direction of writing
		return r
	case unicode.IsSpace(r):
		return ' '
	}
	return utf8.RuneError
}

// defaultPort is the port that a scheme implies, with its colon.
func defaultPort(scheme string) string {
	switch scheme {
	case "http":
		return ":80"
	case "https":
		return ":443"
	}
	return ":"
}

// requestText is what the page says of a request: its method, its URL without what may be secret, and the host in it. The
// three share one piece of memory.
func requestText(req *http.Request) (method, target, host string) {
	method = req.Method
	if method == "" {
		method = http.MethodGet
	}
	u := req.URL
	if u == nil {
		return clean(method), "", ""
	}
	address := strings.TrimSuffix(strings.ToLower(redact.Host(u)), defaultPort(u.Scheme))
	path := u.EscapedPath()
	text := method + " " + u.Scheme + "://" + address + path
	if len(text) > longest || strings.IndexFunc(text, notPlain) >= 0 {
		host = clean(u.Scheme + "://" + address)
		return clean(method), clean(host + path), host
	}
	begin, end := len(method)+1, len(text)-len(path)
	return text[:len(method)], text[begin:], text[begin:end]
}

func notPlain(r rune) bool { return r < ' ' || r > '~' }

// hostOfKey is the host in requestText's form, from the key under which a Transport knows it: scheme, name and port, with
// no brackets around an IPv6 address. A key of another kind stays as it is.
func hostOfKey(key string) string {
	scheme, rest, ok := strings.Cut(key, "://")
	colon := strings.LastIndexByte(rest, ':')
	if !ok || colon < 0 {
		return clean(key)
	}
	name, port := rest[:colon], rest[colon:]
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == defaultPort(scheme) {
		port = ""
	}
	return clean(scheme + "://" + name + port)
}

// errorText is the text of err without the secrets of the URLs in it; empty if there is no error.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return clean(redact.Text(err.Error()))
}

// pathText is the path of a request that came in.
func pathText(u *url.URL) string {
	if u == nil {
		return ""
	}
	return clean(u.EscapedPath())
}
