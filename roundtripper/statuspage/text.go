package statuspage

// Text from outside: copied, cut, and without what may be secret or can't be printed.

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
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
	address := u.Host[strings.LastIndexByte(u.Host, '@')+1:] // put together by hand, it may hold user info
	address = strings.TrimSuffix(strings.ToLower(address), defaultPort(u.Scheme))
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
	return clean(withoutSecrets(err.Error()))
}

// withoutSecrets takes out of each word of text what may be secret in a URL. It goes by the text and not by [url.Error],
// since not everybody wraps what they quote. What stands in quotes is one word: a URL that could not be parsed may have
// blanks in it.
func withoutSecrets(text string) string {
	text = badPort.ReplaceAllString(text, "invalid port")
	if !strings.ContainsAny(text, "?@#") && !strings.Contains(text, "://") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		n := 1
		switch text[0] {
		case ' ', '\n', '\t':
			b.WriteByte(text[0])
		case '"':
			n = closingQuote(text)
			b.WriteString(plainURL(text[:n], true))
		default:
			n = wordEnd(text, " \n\t\"")
			if strings.Contains(text[:n], "://") { // a query may hold quotation marks
				n = wordEnd(text, " \n\t")
			}
			b.WriteString(plainURL(text[:n], false))
		}
		text = text[n:]
	}
	return b.String()
}

// badPort is what package net/url says of user info with a /, ? or # in it: it quotes the beginning of the password.
var badPort = regexp.MustCompile(`invalid port \S+ after host`)

// wordEnd is where the word that text begins with is over.
func wordEnd(text, ends string) int {
	if n := strings.IndexAny(text, ends); n >= 0 {
		return n
	}
	return len(text)
}

// closingQuote is the length of the quotation that text begins with. One that never closes goes to the end.
func closingQuote(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// plainURL is a word without user info, query and fragment, if it looks as if it had them. Where they are in a URL that
// can't be parsed nobody knows, so such a one is left out.
func plainURL(word string, quoted bool) string {
	if mark := strings.Index(word, "://"); mark >= 0 {
		start := strings.LastIndexFunc(word[:mark], func(r rune) bool { return !isSchemeRune(r) }) + 1
		behind := closing
		if quoted {
			behind = `"`
		}
		end := max(len(strings.TrimRight(word, behind)), start)
		_, err := url.Parse(word[start:end])
		if err != nil || quoted && strings.Contains(word, `\`) { // what is escaped may be what broke it
			return word[:start] + "[URL]" + word[end:]
		}
	}
	marks := "?"
	if quoted || strings.Contains(word, "://") {
		marks = "?#"
	}
	if i := strings.IndexAny(word, marks); i >= 0 && i < len(strings.TrimRight(word, closing))-1 {
		rest := ""
		if quoted && strings.HasSuffix(word, `"`) {
			rest = `"`
		}
		word = word[:i+1] + "…" + rest
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(word, "://")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("://")
		authority := after
		if slash := strings.IndexAny(after, "/?#"); slash >= 0 {
			authority = after[:slash]
		}
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			after = after[at+1:]
		}
		word = after
	}
}

// closing are the marks that may stand behind a URL and be none of it.
const closing = "\"'):;,."

func isSchemeRune(r rune) bool {
	return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '+' || r == '-' || r == '.'
}

// pathText is the path of a request that came in.
func pathText(u *url.URL) string {
	if u == nil {
		return ""
	}
	return clean(u.EscapedPath())
}
