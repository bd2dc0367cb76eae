package redact_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/internal/redact"
)

// texts are what errors say, and what is left of it. "hush" is secret in all of them.
var texts = []struct{ in, want string }{
	{"", ""},
	{"EOF", "EOF"},
	{"really? yes", "really? yes"},
	{"a #1 problem @ noon", "a #1 problem @ noon"},
	{`Get "https://u:hush@h.example.com/p?q=hush#hush": EOF`, `Get "https://h.example.com/p?…": EOF`},
	{`Get "https://h.example.com/p": EOF`, `Get "https://h.example.com/p": EOF`},
	{"proxyconnect https://u:hush@h.example.com: refused", "proxyconnect https://h.example.com: refused"},
	{"from http://u:hush@a.example.com/ to http://v:hush@b.example.com/?hush", "from http://a.example.com/ to http://b.example.com/?…"},
	{"https://h.example.com/#hush", "https://h.example.com/#…"},
	{"redirect to /p?token=hush,", "redirect to /p?…"},
	{"at http://[::1]:80/p?hush\tgone", "at http://[::1]:80/p?…\tgone"},

	// Where it can't be told where a URL ends, or its parts begin.
	{`parse "http://h.example.com/?a hush": invalid`, `parse "http://h.example.com/?…": invalid`},
	{`parse "http://h.example.com/?hush`, `parse "http://h.example.com/?…`},
	{`Get "http://h.example.com/?q=\"x\"&token=hush": EOF`, `Get "[URL]": EOF`},
	{`Get "http://h.example.com/?q=\\x&token=hush": EOF`, `Get "[URL]": EOF`},
	{`Get "http://u:hush@h.example.com/\"hush": EOF`, `Get "[URL]": EOF`},
	{`parse "http://u:hush/x@h.example.com": invalid port ":hush" after host`, `parse "[URL]": invalid port`},
	{`parse "http://u:hush x@h.example.com": invalid`, `parse "[URL]": invalid`},
	{"tried https://a.example.com/x,https://u:hush@b.example.com/", "tried [URL]"},
	{`"https://a.example.com/x https://u:hush@b.example.com/"`, `"[URL]"`},
	{`http://h.example.com/?q="hush"&r=hush`, "http://h.example.com/?…"},
	{`invalid proxy address "http://u:a/hush@h.example.com": x`, `invalid proxy address "[URL]": x`},
	{`parse "http://u:hush?x@h.example.com": x`, `parse "[URL]": x`},
	{`parse "http://u:hush": invalid port ":hush" after host`, `parse "[URL]": invalid port`},
	{`http://u:hush#x@h.example.com: x`, `[URL]: x`},
	{`http://h.example.com/?q="x"&token=hush broke`, `http://h.example.com/?… broke`},
	{`parse "http://u:/hush\t@h.example.com": x`, `parse "[URL]": x`},
	{`(https://h.example.com:443): x`, `(https://h.example.com:443): x`},
	{`Get "http://u:hush@h.example.com/?hush": Get "http://u:hush@h.example.com/?hush": EOF`,
		`Get "http://h.example.com/?…": Get "http://h.example.com/?…": EOF`},
}

func TestText(t *testing.T) {
	for _, tc := range texts {
		assert.Equal(t, tc.want, redact.Text(tc.in), tc.in)
	}
}

// Nothing of a URL's secret parts is left, whatever they are and however the text came about.
func FuzzText(f *testing.F) {
	f.Add("pass", "q=1", "frag")
	f.Add("a b", `"`, `\`)
	f.Add("/x", "?", "#@://")
	f.Fuzz(func(t *testing.T, password, query, fragment string) {
		const mark = "S3CRET"
		u := url.URL{Scheme: "http", User: url.UserPassword("u", mark+password), Host: "h.example.com", Path: "/p",
			RawQuery: url.QueryEscape(mark + query), Fragment: mark + fragment}
		e := &url.Error{Op: "Get", URL: u.String(), Err: errEOF}
		for _, text := range []string{e.Error(), u.String(), "at " + u.String() + ", gone", `"` + u.String() + `"`} {
			if got := redact.Text(text); strings.Contains(got, mark) {
				t.Errorf("%q became %q", text, got)
			}
		}
		if got := redact.URL(&u); got != "http://h.example.com/p" {
			t.Errorf("%q became %q", u.String(), got)
		}
	})
}

type textError string

func (e textError) Error() string { return string(e) }

const errEOF = textError("EOF")

func TestURL(t *testing.T) {
	assert.Empty(t, redact.URL(nil))
	byHand := &url.URL{Scheme: "http", Host: "u:hush@h.example.com:8080", Path: "/a b", RawQuery: "hush"}
	assert.Equal(t, "http://h.example.com:8080/a%20b", redact.URL(byHand))
	assert.Equal(t, "h.example.com:8080", redact.Host(byHand))
}
