package main

// This file tests whole fetches: exit status, last line, redirects, secrets, interrupts.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

const testURL = "http://example.test/thing"

// Zero is for a 2xx that arrived whole, and for nothing else.
func TestExitStatus(t *testing.T) {
	jsonBody := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, body)
		}
	}
	for _, tc := range []struct {
		name    string
		args    string
		handler http.HandlerFunc
		exit    int
		stdout  string
		last    string // what the last line has in it
	}{
		{"200", "", always(200, "fine\n"), exitOK, "fine\n", "done         5 bytes, 1 attempt in 0s"},
		{"one byte", "", always(299, "1"), exitOK, "1", "done         1 byte, "},
		{"204", "", always(204, ""), exitOK, "", "done         0 bytes, 1 attempt in 0s"},
		{"retried", "", once(503), exitOK, "fine", "done         4 bytes, 2 attempts in 100ms"},
		{"304", "", always(304, ""), exitFailed, "", "failed       ok: 304 Not Modified; not followed, and no 2xx"},
		{"404", "", always(404, "gone\n"), exitFailed, "gone\n", "failed       status: 404 Not Found; this policy takes it to be final (1 attempt in 0s, request ID "},
		{"a status without a name", "", always(599, ""), exitFailed, "", "failed       status: 599; this policy"},
		{"503 to the end", "", always(503, "busy\n"), exitFailed, "busy\n", "failed       retries-spent: 503 Service Unavailable; no retry is left (3 attempts in 300ms"},
		{"no retries", "-retries 0", always(503, ""), exitFailed, "", "retries-spent: 503 Service Unavailable; no retry is left (1 attempt in 0s"},
		{"status made final", "-statuses none", always(503, ""), exitFailed, "", "status: 503 Service Unavailable; this policy takes it to be final"},
		{"status made to heal", "-statuses 404", once(404), exitOK, "fine", "2 attempts in 100ms"},
		{"malformed JSON", "", jsonBody(`{"a":`), exitFailed, "", "failed       contract: the body is not one JSON value; another attempt would not mend that"},
		{"malformed JSON, other policy", "-policy standard", jsonBody(`{"a":`), exitOK, `{"a":`, "done"},
		{"HEAD", "-X HEAD", always(200, "fine"), exitOK, "", "done         0 bytes"},
		{"HEAD is not repeated", "-X HEAD", always(503, ""), exitFailed, "", "not-repeatable: 503 Service Unavailable; this policy does not repeat a HEAD"},
		{"the server says no", "", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(503)
			io.WriteString(w, `{"retryable":false}`)
		}, exitFailed, `{"retryable":false}`, "envelope: 503 Service Unavailable; the server said not to retry"},
		{"attempt timeout", "-attempt-timeout 2s", func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, exitFailed, "", "retries-spent: attempt timeout of 2s exceeded; no retry is left (3 attempts in 6.3s"},
		{"total timeout", "-total-timeout 3s", func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, exitFailed, "", "deadline: total timeout of 3s exceeded; no time is left for another attempt (1 attempt in 3s"},
		{"a body cut short", "", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "half\n")
		}, exitFailed, "half\n", "failed       cut off after 5 bytes of the body: unexpected EOF"},
		{"a body that stalls", "", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "half\n")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, exitFailed, "half\n", "failed       cut off after 5 bytes of the body: attempt timeout of 8s exceeded (-policy transfer limits only silence)"},
		{"retry-after too long", "-retry-after honor", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(429)
		}, exitFailed, "", "failed       retry-after-too-long: 429 Too Many Requests; it asks for a longer wait than -max-delay; try again at "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := newBench(t, tc.handler).do(t.Context(), append(strings.Fields(tc.args), testURL)...)
				assert.Equal(t, tc.exit, got.exit)
				assert.Equal(t, tc.stdout, got.stdout)
				all := strings.Split(strings.TrimSuffix(got.stderr, "\n"), "\n")
				assert.Contains(t, all[len(all)-1], tc.last)
			})
		})
	}
}

// The header's own figure is shown, though the wait is clamped.
func TestClampedRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newBench(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(503)
		}).do(t.Context(), "-retries", "1", testURL)
		assert.Contains(t, got.stderr, "answer       503 Service Unavailable, asks for a wait of 1m0s\n   0.000s  wait         5s before attempt 2: may heal (status)\n")
	})
}

func TestQuiet(t *testing.T) {
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		exit    int
		stderr  string
	}{
		{"good", always(200, ""), exitOK, ""},
		{"bad", always(404, ""), exitFailed, "retryget: status: 404 Not Found; this policy takes it to be final (1 attempt in 0s, request ID me)\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tc.handler)
				b.live = true
				got := b.do(t.Context(), "-quiet", "-H", "X-Request-Id: me", testURL)
				assert.Equal(t, result{tc.exit, "", tc.stderr}, got)
			})
		})
	}
}

// Each redirect is a call of its own, and none is followed beyond the number.
func TestRedirects(t *testing.T) {
	loop := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"x?token=topsecret", http.StatusFound)
	}
	for _, tc := range []struct {
		name    string
		args    string
		handler http.HandlerFunc
		exit    int
		stderr  []string
	}{
		{"followed", "", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/thing" {
				http.Redirect(w, r, "http://user:topsecret@other.test/there?token=topsecret", http.StatusFound)
			}
		}, exitOK, []string{"answer       302 Found\n", "attempt 1    GET http://other.test/there?…\n", "done "}},
		{"without end", "-redirects 2", loop, exitFailed, []string{"/thingxx?…\n", "failed       more than 2 redirects (-redirects)\n"}},
		{"not followed", "-redirects 0", loop, exitFailed, []string{"failed       ok: 302 Found; not followed, and no 2xx (1 attempt"}},
		{"to what is no URL", "", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://user:top/secret@other.test/")
			w.WriteHeader(http.StatusFound)
		}, exitFailed, []string{"failed       a redirect leads to what is no URL\n"}},
		{"to another scheme", "", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "ftp://user:topsecret@other.test/")
			w.WriteHeader(http.StatusFound)
		}, exitFailed, []string{"failed       permanent: "}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := newBench(t, tc.handler).do(t.Context(), append(strings.Fields(tc.args), testURL)...)
				assert.Equal(t, tc.exit, got.exit)
				for _, want := range tc.stderr {
					assert.Contains(t, got.stderr, want)
				}
				assert.NotContains(t, got.stderr, "secret")
			})
		})
	}
}

// Credentials reach the server and nobody else.
func TestRedaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
			_, password, _ := r.BasicAuth()
			assert.Equal(t, "topsecret1", password)
			assert.Equal(t, "topsecret2", r.URL.Query().Get("token"))
			assert.Equal(t, "topsecret3", r.Header.Get("X-Api-Key"))
			w.WriteHeader(503)
		})
		got := b.do(t.Context(), "-H", "X-Api-Key: topsecret3", "http://user:topsecret1@example.test/a?token=topsecret2#topsecret4")
		assert.Equal(t, exitFailed, got.exit)
		assert.Contains(t, got.stderr, "attempt 1    GET http://example.test/a?…\n")
		assert.NotContains(t, got.stderr, "secret")
		assert.NotContains(t, got.stderr, "user")
	})
}

// An error of the transport may have a URL in it, a proxy's, say, or control
// characters that a terminal would obey.
func TestErrorText(t *testing.T) {
	for _, tc := range []struct{ err, want string }{
		{"no path", "no path"},
		{`invalid proxy address "http://user:topsecret@proxy.test:x/": bad port`, `invalid proxy address "[URL]": bad port`},
		{"at https://us@er:top/secret@example.test/x: gone", "at [URL]: gone"},
		{"at http://example.test/x?token=topsecret gone", "at http://example.test/x?… gone"},
		{"two\r\nlines, \x1b[31mred\x1b[0m", "two  lines,  [31mred [0m"},
	} {
		assert.Equal(t, tc.want, clean(errors.New(tc.err)))
	}
	b := newBench(t, nil)
	b.base = failing{errors.New(`invalid proxy address "http://user:topsecret@proxy.test/?topsecret"`)}
	got := b.do(t.Context(), "-retries", "0", testURL)
	assert.Equal(t, exitFailed, got.exit)
	assert.Contains(t, got.stderr, `error        invalid proxy address "http://proxy.test/?…"`)
	assert.NotContains(t, got.stderr, "secret")
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// Where both streams go to one place, the time line begins a line of its own.
func TestSharedOutput(t *testing.T) {
	for _, tc := range []struct {
		body   string
		shared bool
		want   string
	}{
		{"fine", true, "200 OK\n\n"},
		{"fine\n", true, "200 OK\n "},
		{"", true, "200 OK\n "},
		{"fine", false, "200 OK\n "},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, always(200, tc.body))
			b.shared = tc.shared
			assert.Contains(t, b.do(t.Context(), testURL).stderr, tc.want, "%+v", tc)
		})
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// An output that takes nothing is no fault of the server.
func TestBrokenOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, always(200, "fine"))
		b.command.stdout = full{}
		got := b.do(t.Context(), testURL)
		assert.Equal(t, exitFailed, got.exit)
		assert.Contains(t, got.stderr, "failed       the body can't be written: no space left\n")
	})
}

// The end of the context is an interrupt, and at once, wherever it comes.
func TestInterrupt(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, tc := range []struct {
		name    string
		args    []string
		handler http.HandlerFunc
		stdout  string
		last    string
	}{
		{"in an attempt", []string{testURL}, hang, "", "interrupted  after 1 attempt in 2.5s"},
		{"in a wait", []string{testURL}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "4")
			w.WriteHeader(503)
		}, "", "interrupted  after 1 attempt in 2.5s"},
		{"in the body", []string{testURL}, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "half\n")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "half\n", "interrupted  after 5 bytes of the body"},
		{"after a redirect", []string{testURL}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/thing" {
				http.Redirect(w, r, "/there", http.StatusFound)
				return
			}
			<-r.Context().Done()
		}, "", "interrupted  after 1 attempt in 2.5s"},
		{"reading standard input", []string{"-d", "-", testURL}, hang, "", "interrupted  before anything was sent"},
	} {
		for _, live := range []bool{false, true} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(2500*time.Millisecond, func() { cancel(errors.New("interrupt")) })
					b := newBench(t, tc.handler)
					b.live = live
					input, w := io.Pipe() // says nothing until the test ends
					defer w.Close()
					b.stdin = input
					start := time.Now()
					got := b.do(ctx, tc.args...)
					assert.Equal(t, 2500*time.Millisecond, time.Since(start))
					assert.Equal(t, exitInterrupted, got.exit)
					assert.Equal(t, tc.stdout, got.stdout)
					all := strings.Split(strings.TrimSuffix(screen(got.stderr), "\n"), "\n")
					assert.Equal(t, "   2.500s  "+tc.last, all[len(all)-1])
					assert.NotContains(t, got.stderr, "canceled", "said once, and in words")
				})
			})
		}
	}
}

// The same over sockets, through the front door.
func TestOverSockets(t *testing.T) {
	s := httptest.NewServer(once(503))
	defer s.Close()
	var stdout, stderr strings.Builder
	exit := run(t.Context(), []string{"-max-delay", "0", "-H", "X-Request-Id: me", s.URL + "/x"}, strings.NewReader(""), &stdout, &stderr)
	assert.Equal(t, exitOK, exit)
	assert.Equal(t, "fine", stdout.String())
	for _, want := range []string{"attempt 1    GET " + s.URL + "/x\n", "503 Service Unavailable\n", "attempt 2\n", "4 bytes, 2 attempts"} {
		assert.Contains(t, stderr.String(), want)
	}

	stdout.Reset()
	stderr.Reset()
	s.Close()
	exit = run(t.Context(), []string{"-retries", "1", "-max-delay", "0", s.URL}, strings.NewReader(""), &stdout, &stderr)
	assert.Equal(t, exitFailed, exit)
	assert.Empty(t, stdout.String())
	assert.Contains(t, stderr.String(), "no retry is left (2 attempts in ")
}
