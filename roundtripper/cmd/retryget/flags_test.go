package main

// This file tests the command line: what is refused, and what each flag does to the policy.

import (
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
)

// unsent fails a test whose command sends something.
type unsent struct{ t *testing.T }

func (u unsent) RoundTrip(req *http.Request) (*http.Response, error) {
	u.t.Errorf("sent %s %s", req.Method, req.URL)
	return nil, http.ErrNotSupported
}

// What can't be meant is refused before anything is sent, by name, and without
// showing what may be secret.
func TestUsageErrors(t *testing.T) {
	const url = "http://example.test/"
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown flag", []string{"-bogus", url}, "no flag is called -bogus"},
		{"unknown flag with a value", []string{"--bogus=topsecret", url}, "no flag is called -bogus"},
		{"value glued to -H", []string{"-HAuthorization: Bearer topsecret", url}, "the value of -H comes after a space"},
		{"value glued to -d", []string{"-dtopsecret", url}, "the value of -d comes after a space"},
		{"no flag, with a colon", []string{"-Authorization: topsecret", url}, "begins with a dash and is no flag"},
		{"too many dashes", []string{"---retries", "1", url}, "begins with a dash and is no flag"},
		{"dash and nothing", []string{"-=topsecret", url}, "begins with a dash and is no flag"},
		{"too many dashes after a flag", []string{"-retries", "1", "---x"}, "begins with a dash and is no flag"},
		{"no value", []string{"-retries"}, "-retries"},
		{"negative retries", []string{"-retries", "-1", url}, `-retries: "-1" is no count; want a whole number, 0 or more`},
		{"retries in words", []string{"-retries=two", url}, `-retries: "two"`},
		{"retries beyond an int", []string{"-retries=99999999999999999999", url}, "-retries: "},
		{"negative redirects", []string{"-redirects", "-1", url}, "-redirects: "},
		{"no unit", []string{"-attempt-timeout", "5", url}, `-attempt-timeout: "5" is no duration; want 0 or more, with a unit`},
		{"negative timeout", []string{"-idle-timeout", "-5s", url}, `-idle-timeout: "-5s"`},
		{"empty timeout", []string{"-total-timeout", "", url}, `-total-timeout: ""`},
		{"duration beyond int64", []string{"-max-delay", "3000000h", url}, "-max-delay: "},
		{"unknown policy", []string{"-policy", "bold", url}, `-policy: no policy is called "bold"; want headless, standard or transfer`},
		{"unknown rule", []string{"-retry-after", "maybe", url}, `-retry-after: no rule is called "maybe"; want honor, clamp or ignore`},
		{"status out of range", []string{"-statuses", "503,600", url}, `-statuses: "600"`},
		{"status in words", []string{"-statuses", "busy", url}, `-statuses: "busy"`},
		{"empty status", []string{"-statuses", "503,", url}, `-statuses: ""`},
		{"no method", []string{"-X", "GE T", url}, `-X: "GE T" is no HTTP method`},
		{"empty method", []string{"-X", "", url}, "-X: "},
		{"header without a colon", []string{"-H", "Authorization Bearer topsecret", url}, "-H: there is no colon"},
		{"header without a name", []string{"-H", ": topsecret", url}, "-H: "},
		{"header name with a space", []string{"-H", "X Y: topsecret", url}, "-H: "},
		{"header with a line break", []string{"-H", "X-Y: a\r\nX-Z: topsecret", url}, "-H: the value of X-Y has a control character"},
		{"request ID twice", []string{"-H", "X-Request-Id: a", "-H", "X-Request-Id: b", url}, "-H: request ID: "},
		{"request ID not ASCII", []string{"-H", "X-Request-Id: topsecret\u00e9", url}, "-H: request ID: "},
		{"empty key", []string{"-key", "", url}, "-key: "},
		{"key with a tab", []string{"-key", "topsecret\tb", url}, "-key: "},
		{"key beyond 255", []string{"-key", strings.Repeat("k", 256), url}, "-key: "},
		{"no such body", []string{"-d", "@testdata/none", url}, "-d: open testdata/none: "},
		{"body is a folder", []string{"-d", "@.", url}, "-d: "},
		{"no folder for the output", []string{"-o", "testdata/none/out", url}, "-o: open testdata/none/out: "},
		{"output is a folder", []string{"-o", ".", url}, "-o: "},
		{"boolean", []string{"-quiet=maybe", url}, "-quiet"},
		{"two URLs", []string{url, url}, "2 URLs; want one"},
		{"flag after the URL", []string{url, "-X", "POST"}, "flags come before it"},
		{"no scheme", []string{"example.test/topsecret"}, "URL: it does not begin with http:// or https://"},
		{"other scheme", []string{"ftp://example.test/topsecret"}, "URL: it does not begin with http:// or https://"},
		{"no host", []string{"http:///x"}, "URL: it names no host"},
		{"port alone", []string{"http://:80/x"}, "URL: it names no host"},
		{"bad escape", []string{"http://example.test/%zz?topsecret"}, "URL: invalid URL escape"},
		{"slash in a password", []string{"http://user:top/secret@example.test/"}, "URL: it can't be parsed; a special character"},
		{"empty URL", []string{""}, "URL: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, nil)
			b.base = unsent{t}
			got := b.do(t.Context(), tc.args...)
			assert.Equal(t, exitUsage, got.exit)
			assert.Empty(t, got.stdout)
			first, rest, _ := strings.Cut(got.stderr, "\n")
			assert.True(t, strings.HasPrefix(first, "retryget: "), got.stderr)
			assert.Contains(t, first, tc.want)
			assert.Equal(t, "retryget -h lists the flags.\n", rest)
			assert.NotContains(t, got.stderr, "secret")
		})
	}
}

// A flag replaces one field and leaves the rest of the preset alone, wherever
// it stands on the line.
func TestFlagsReplaceFields(t *testing.T) {
	for _, tc := range []struct {
		args   string
		preset func() roundtripper.Policy
		change func(*roundtripper.Policy)
	}{
		{"", roundtripper.Headless, func(*roundtripper.Policy) {}},
		{"-policy headless", roundtripper.Headless, func(*roundtripper.Policy) {}},
		{"-policy standard", roundtripper.Standard, func(*roundtripper.Policy) {}},
		{"-policy transfer", roundtripper.Transfer, func(*roundtripper.Policy) {}},
		{"-retries 7 -policy standard", roundtripper.Standard, func(p *roundtripper.Policy) { p.MaxRetries = 7 }},
		{"-retries 0", roundtripper.Headless, func(p *roundtripper.Policy) { p.MaxRetries = 0 }},
		{"-retries 7 -retries 1", roundtripper.Headless, func(p *roundtripper.Policy) { p.MaxRetries = 1 }},
		{"-attempt-timeout 1m30s", roundtripper.Headless, func(p *roundtripper.Policy) { p.AttemptTimeout = 90 * time.Second }},
		{"-policy transfer -idle-timeout 0", roundtripper.Transfer, func(p *roundtripper.Policy) { p.IdleTimeout = 0 }},
		{"-total-timeout 300ms", roundtripper.Headless, func(p *roundtripper.Policy) { p.TotalTimeout = 300 * time.Millisecond }},
		{"-max-delay 0s", roundtripper.Headless, func(p *roundtripper.Policy) { p.MaxDelay = 0 }},
		{"-retry-after honor", roundtripper.Headless, func(p *roundtripper.Policy) { p.RetryAfter = roundtripper.HonorRetryAfter }},
		{"-policy standard -retry-after clamp", roundtripper.Standard, func(p *roundtripper.Policy) { p.RetryAfter = roundtripper.ClampRetryAfter }},
		{"-retry-after ignore", roundtripper.Headless, func(p *roundtripper.Policy) { p.RetryAfter = roundtripper.IgnoreRetryAfter }},
		{"-statuses 503,429,503", roundtripper.Headless, func(p *roundtripper.Policy) { p.Statuses = []int{429, 503} }},
		{"-statuses none", roundtripper.Headless, func(p *roundtripper.Policy) { p.Statuses = nil }},
		{"-key k", roundtripper.Headless, func(p *roundtripper.Policy) { p.KeyHeader = "Idempotency-Key" }},
		{"-key k -policy standard", roundtripper.Standard, func(*roundtripper.Policy) {}},
	} {
		t.Run(tc.args, func(t *testing.T) {
			o, err := parseFlags(strings.Fields(tc.args))
			require.NoError(t, err)
			want, got := tc.preset(), o.policy()
			tc.change(&want)
			require.NoError(t, got.Validate())
			// Functions can't be compared; Explain shows what they come to.
			assert.Equal(t, want.Explain(), got.Explain())
			want.Backoff, got.Backoff = nil, nil
			assert.Equal(t, want.Accept == nil, got.Accept == nil)
			want.Accept, got.Accept = nil, nil
			assert.Equal(t, want, got)
		})
	}
}

func TestExplain(t *testing.T) {
	b := newBench(t, nil)
	b.base = unsent{t}
	got := b.do(t.Context(), "-explain", "http://example.test/")
	assert.Equal(t, result{exitOK, roundtripper.Headless().Explain(), ""}, got)
	assert.Contains(t, got.stdout, "34s")

	b = newBench(t, nil)
	b.base = unsent{t}
	got = b.do(t.Context(), "-policy", "standard", "-explain", "-total-timeout", "90s")
	want := roundtripper.Standard()
	want.TotalTimeout = 90 * time.Second
	assert.Equal(t, result{exitOK, want.Explain(), ""}, got)
}

// The help names each flag that there is, and none that there is not.
func TestHelp(t *testing.T) {
	for _, arg := range []string{"-h", "-help", "--help"} {
		b := newBench(t, nil)
		b.base = unsent{t}
		assert.Equal(t, result{exitOK, help, ""}, b.do(t.Context(), arg))
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	o := new(options)
	o.defineRequest(fs)
	o.definePolicy(fs)
	defined := map[string]bool{"h": true}
	fs.VisitAll(func(f *flag.Flag) { defined[f.Name] = true })
	named := map[string]bool{}
	for line := range strings.Lines(help) {
		assert.LessOrEqual(t, len(line), 81, "a line wider than a terminal: %s", line)
		if rest, ok := strings.CutPrefix(line, "  -"); ok {
			named[strings.Fields(rest)[0]] = true
		}
	}
	assert.Equal(t, defined, named)
}
