// Package redact takes out of URLs, and out of texts that quote them, what may be secret: user info, query and fragment. It
// is for what people read, the log, the status page, the spans and the command, which all have it from here.
package redact

import (
	"net/url"
	"strings"
)

// Left is what stands for a query or a fragment that was taken out.
const Left = "…"

// URL writes u without what may be secret. A nil u is nothing.
func URL(u *url.URL) string {
	if u == nil {
		return ""
	}
	plain := Plain(u)
	return plain.String()
}

// Plain is u without what may be secret.
func Plain(u *url.URL) url.URL {
	return url.URL{Scheme: u.Scheme, Host: Host(u), Path: u.Path, RawPath: u.RawPath}
}

// Host is the host of u, with its port. Where u was put together by hand it may hold user info, which is left out.
func Host(u *url.URL) string { return u.Host[strings.LastIndexByte(u.Host, '@')+1:] }

// Text is a text, usually of an error, with the URLs in it redacted. It goes by the text and not by the tree of an error,
// since not everybody wraps what they quote. What stands in quotation marks is one word: a URL that could not be parsed may
// have blanks in it. A URL of which it can't be told where its parts begin is left out.
func Text(text string) string {
	text = withoutPort(text)
	if !strings.ContainsAny(text, "?@#") && !strings.Contains(text, "://") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		n := 1
		switch text[0] {
		case ' ', '\n', '\t', '\r':
			b.WriteByte(text[0])
		case '"':
			n = closingQuote(text)
			b.WriteString(word(text[:n], true))
		default:
			n = end(text, blanks+`"`)
			if strings.Contains(text[:n], "://") { // a query may hold quotation marks
				n = end(text, blanks)
			}
			b.WriteString(word(text[:n], false))
		}
		text = text[n:]
	}
	return b.String()
}

const blanks = " \n\t\r"

// withoutPort cuts what package net/url says of user info with a /, ? or # in it: it takes the beginning of the password
// for a port, and quotes it.
func withoutPort(text string) string {
	const before, after = "invalid port ", " after host"
	var b strings.Builder
	for {
		start := strings.Index(text, before)
		if start < 0 {
			break
		}
		start += len(before)
		length := strings.Index(text[start:], after)
		if length < 0 {
			break
		}
		b.WriteString(text[:start-1])
		text = text[start+length+len(after):]
	}
	return b.String() + text
}

// end is where the word that text begins with is over.
func end(text, ends string) int {
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

// closing are the marks that may stand behind a URL and be none of it.
const closing = "\"'):;,."

// word is a word redacted, if it looks as if it had something to hide.
func word(word string, quoted bool) string {
	mark := strings.Index(word, "://")
	if mark >= 0 {
		start := strings.LastIndexFunc(word[:mark], func(r rune) bool { return !isScheme(r) }) + 1
		behind := closing
		if quoted {
			behind = `"`
		}
		stop := max(len(strings.TrimRight(word, behind)), start)
		u, err := url.Parse(word[start:stop])
		if err != nil || strings.Contains(u.Path, "://") || quoted && strings.Contains(word, `\`) {
			return word[:start] + "[URL]" + word[stop:]
		}
	}
	marks := "?"
	if quoted || mark >= 0 {
		marks = "?#"
	}
	if i := strings.IndexAny(word, marks); i >= 0 && i < len(strings.TrimRight(word, closing))-1 {
		behind := ""
		if quoted && strings.HasSuffix(word, `"`) {
			behind = `"`
		}
		word = word[:i+1] + Left + behind
	}
	if mark < 0 || mark >= len(word) {
		return word
	}
	authority := word[mark+len("://"):]
	authority = authority[:end(authority, "/?#")]
	return word[:mark+len("://")] + word[mark+len("://")+strings.LastIndexByte(authority, '@')+1:]
}

func isScheme(r rune) bool {
	return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '+' || r == '-' || r == '.'
}
