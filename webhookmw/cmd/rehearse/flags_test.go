package main

// Tests of the command line: what is refused, and where the secret comes from.

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// unsent fails a test whose command sends something.
type unsent struct{ t *testing.T }

func (u unsent) RoundTrip(req *http.Request) (*http.Response, error) {
	u.t.Errorf("sent %s %s", req.Method, req.URL)
	return nil, http.ErrNotSupported
}

func TestUsageErrors(t *testing.T) {
	dir := t.TempDir()
	short := filepath.Join(dir, "short")
	require.NoError(t, os.WriteFile(short, []byte("topsecret\n"), 0o600))
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"event without a name", []string{"-event", "", testURL}, "-event: it is empty"},
		{"events without a name", []string{"-events", "", testURL}, "-events: it is empty"},
		{"replay from an empty name", []string{"-replay", "a", "-events", "", testURL}, "-events: it is empty"},
		{"secret without a name", []string{"-secret-file", "", testURL}, "-secret-file: it is empty"},
		{"serve with a secret without a name", []string{"serve", "-secret-file", ""}, "-secret-file: it is empty"},
		{"more at once than times", []string{"-concurrency", "10", testURL}, "-concurrency 10: more than -times, which is 1"},
		{"a few more at once", []string{"-times", "4", "-concurrency", "5", testURL}, "-concurrency 5: more than -times, which is 4"},
		{"all and one more", []string{"-scenario", "all, stale", testURL}, "-scenario: all has no other names beside it"},
		{"one more and all", []string{"-scenario", "stale,all", testURL}, "-scenario: all has no other names beside it"},
		{"replay from no directory", []string{"-replay", "a", "-events", filepath.Join(dir, "none"), testURL}, "-events: stat "},
		{"unknown flag", []string{"-bogus", testURL}, "-bogus"},
		{"two URLs", []string{testURL, testURL}, "2 URLs; want one"},
		{"flag after the URL", []string{testURL, "-quiet"}, "flags come before it"},
		{"no scheme", []string{"receiver.test/topsecret"}, "URL: want an absolute one"},
		{"other scheme", []string{"ftp://user:topsecret@receiver.test/"}, "URL: want an absolute one"},
		{"no host", []string{"http://:80/"}, "URL: want an absolute one"},
		{"malformed", []string{"http://user:topsecret@receiver.test/%zz"}, "URL: want an absolute one"},
		{"empty URL", []string{""}, "URL: want an absolute one"},
		{"no such file", []string{"-event", filepath.Join(dir, "none"), testURL}, "-event: open "},
		{"folder", []string{"-event", dir, testURL}, "-event: read "},
		{"no event", []string{"-event", "-", testURL}, "bad event"},
		{"event and replay", []string{"-event", "-", "-replay", "a", "-events", dir, testURL}, "want one of them"},
		{"replay of nothing", []string{"-replay", "", "-events", dir, testURL}, "-replay: want the ID"},
		{"replay from nowhere", []string{"-replay", "a", testURL}, "-replay needs -events"},
		{"key without replay", []string{"-key", "k", testURL}, "-key is for replays"},
		{"empty key", []string{"-key", "", "-replay", "a", "-events", dir, testURL}, "-key: it is empty"},
		{"events in a file", []string{"-events", short, testURL}, "mkdir "},
		{"no times", []string{"-times", "0", testURL}, "-times: want a whole number"},
		{"concurrency in words", []string{"-concurrency", "many", testURL}, "-concurrency: want a whole number"},
		{"unknown scenario", []string{"-scenario", "stale,rain", testURL}, `no scenario is called "rain"`},
		{"empty scenario", []string{"-scenario", "", testURL}, `no scenario is called ""`},
		{"scenario with an event", []string{"-scenario", "all", "-event", "-", testURL}, "-event has no meaning there"},
		{"scenario many times", []string{"-scenario", "all", "-times", "3", testURL}, "-times has no meaning there"},
		{"no such secret", []string{"-secret-file", filepath.Join(dir, "none"), testURL}, "-secret-file: open "},
		{"short secret", []string{"-secret-file", short, testURL}, "secret"},
		{"secret for nobody", []string{"-secret-file", short}, "-secret-file is for a URL"},
		{"serve with a URL", []string{"serve", testURL}, "serve takes flags only"},
		{"serve with an event", []string{"serve", "-event", "-"}, "-event"},
		{"work without a unit", []string{"serve", "-work", "3"}, "-work: want a duration"},
		{"negative work", []string{"serve", "-work", "-3s"}, "-work: want a duration"},
		{"answer in words", []string{"serve", "-answer", "200,busy"}, "-answer: want statuses"},
		{"informational answer", []string{"serve", "-answer", "100"}, "-answer: want statuses"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, nil)
			b.base = unsent{t}
			assert.Equal(t, exitUsage, b.do(t, t.Context(), tc.args...))
			assert.Empty(t, b.stdout.String())
			first, rest, _ := strings.Cut(b.stderr.String(), "\n")
			assert.True(t, strings.HasPrefix(first, "rehearse: "), first)
			assert.Contains(t, first, tc.want)
			assert.Equal(t, "rehearse -h lists the flags.\n", rest)
		})
	}
	assert.NoDirExists(t, filepath.Join(dir, "none"), "a replay makes no directory")
	b := newBench(t, nil)
	b.base, b.getenv = unsent{t}, func(string) string { return "" }
	assert.Equal(t, exitUsage, b.do(t, t.Context(), testURL))
	assert.Contains(t, b.stderr.String(), "no secret: set REHEARSE_SECRET, or give -secret-file")
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"serve", "-help"}} {
		b := newBench(t, nil)
		assert.Equal(t, exitOK, b.do(t, t.Context(), args...))
		for _, s := range scenarios() {
			assert.Contains(t, b.stdout.String(), "\n  "+s.name+" ")
		}
		for _, o := range []func(*options, *flag.FlagSet){(*options).defineSend, (*options).defineServe} {
			fs := flag.NewFlagSet("", flag.ContinueOnError)
			o(new(options), fs)
			fs.VisitAll(func(f *flag.Flag) { assert.Contains(t, b.stdout.String(), "\n  -"+f.Name+" ") })
		}
		for line := range strings.Lines(b.stdout.String()) {
			assert.LessOrEqual(t, len(line), 81, line)
		}
	}
}

// A secret from a file wins over that of the environment. One line end after it is an editor's.
func TestSecretFile(t *testing.T) {
	for _, text := range []string{testSecret, testSecret + "\n", testSecret + "\r\n"} {
		file := filepath.Join(t.TempDir(), "secret")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, verifier(t, webhookmw.Config{}, nil))
			b.getenv = func(string) string { return "topsecret but another one" }
			assert.Equal(t, exitOK, b.do(t, t.Context(), "-secret-file", file, testURL))
		})
	}
}

// Whatever the arguments are, they are refused or mean something that can be done.
func FuzzFlags(f *testing.F) {
	f.Add("")
	f.Add("-scenario\nall\n" + testURL)
	f.Add("-replay\na\n-events\nd\n-key\nk\n-times\n3\n" + testURL)
	f.Add("serve\n-work\n2.5s\n-answer\n500,200")
	f.Add("-times\n99999999999999999999\nhttp://[::1]:80/")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := parseFlags(strings.Split(text, "\n"))
		if err != nil {
			return
		}
		if o.serve {
			require.False(t, o.work < 0)
			for _, status := range o.answer {
				require.True(t, 200 <= status && status <= 599)
			}
			return
		}
		require.Positive(t, o.times)
		require.Positive(t, o.concurrency)
		require.LessOrEqual(t, o.concurrency, o.times)
		require.False(t, o.key != "" && o.replay == "")
		require.False(t, o.replay != "" && o.events == "")
		if o.url != nil {
			require.Contains(t, []string{"http", "https"}, o.url.Scheme)
			require.NotEmpty(t, o.url.Hostname())
			require.NotContains(t, redacted(o.url), "@")
		}
	})
}
