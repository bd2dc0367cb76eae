package main

// Tests of the scenarios: a correct receiver passes, and each that is not is found out.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// Our own receiver is correct, here and on loopback, and takes nothing from the environment.
func TestOurOwnReceiver(t *testing.T) {
	check := func(t *testing.T, exit int, stdout, stderr string) {
		assert.Equal(t, exitOK, exit, stdout)
		got := lines(stdout)
		require.Len(t, got, 1+len(scenarios())+2)
		for i, s := range scenarios() {
			assert.True(t, strings.HasPrefix(got[1+i], "ok       "+s.name+" "), got[1+i])
		}
		assert.True(t, strings.HasSuffix(got[len(got)-1], ", all answered as a correct receiver does"))
		assert.Contains(t, stderr, "no URL was given: a receiver of our own listens on http://")
	}
	t.Run("in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			check(t, b.do(t, t.Context()), b.stdout.String(), b.stderr.String())
		})
	})
	t.Run("on loopback", func(t *testing.T) {
		t.Setenv(secretVariable, "topsecret")
		var stdout, stderr bytes.Buffer
		check(t, run(t.Context(), nil, strings.NewReader(""), &stdout, &stderr), stdout.String(), stderr.String())
	})
}

// checked is a receiver that verifies and remembers nothing.
func checked(t *testing.T) http.Handler {
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{testSecret}})
	require.NoError(t, err)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Millisecond)
		if _, err := v.Check(r); err != nil {
			rejection, _ := errors.AsType[*webhookmw.Rejection](err)
			w.WriteHeader(rejection.Status)
		}
	})
}

// early is a receiver that keeps a list of its own, beside that of its Verifier, and acknowledges what is on it: these
// bytes under this ID, if the request is believed. They get there before they are worked on, or after.
func early(t *testing.T, work time.Duration, before bool, believed func(*http.Request) bool) http.Handler {
	var seen sync.Map
	next := verifier(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		time.Sleep(work)
		seen.Store(d.DeliveryID+string(d.Body), true)
		w.WriteHeader(200)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		unread := func() io.ReadCloser { return io.NopCloser(io.MultiReader(bytes.NewReader(data), broken{err})) }
		r.Body = unread()
		ok := err == nil && believed(r)
		r.Body = unread()
		name := r.Header.Get("Webhook-Delivery-Id") + string(data)
		known := false
		if before && ok {
			_, known = seen.LoadOrStore(name, true)
		} else {
			_, known = seen.Load(name)
		}
		if ok && known {
			w.Header().Set("Webhook-Duplicate", "true")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// broken is the end of a body that has been read: the error that it ended with, or none.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return 0, io.EOF
}

// knowing says of a delivery that it has taken that it is known, before it looks at who sent it, and when.
func knowing(t *testing.T) http.Handler {
	return early(t, 0, false, func(*http.Request) bool { return true })
}

// acknowledging says so of one that is still in work.
func acknowledging(t *testing.T, work time.Duration) http.Handler {
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{testSecret}})
	require.NoError(t, err)
	return early(t, work, true, func(r *http.Request) bool {
		_, err := v.Check(r)
		return err == nil
	})
}

// reparsed is a receiver that parses the body and verifies what it makes of it.
func reparsed(t *testing.T, next http.Handler, change func([]byte) []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		data = change(data)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		next.ServeHTTP(w, r)
	})
}

// Each fault shows in the scenarios that are about it, and in no other.
func TestFaultyReceivers(t *testing.T) {
	found := map[string]bool{}
	for _, tc := range []struct {
		name    string
		handler func(t *testing.T) http.Handler
		want    string // scenarios that differ; *: not listed
	}{
		{"none", func(t *testing.T) http.Handler { return verifier(t, webhookmw.Config{}, nil) }, ""},
		{"takes everything", func(*testing.T) http.Handler {
			return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
		}, "*"},
		{"takes nothing", func(*testing.T) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.WriteHeader(500)
			})
		}, "*"},
		{"remembers nothing", checked, "duplicate twins other-body"},
		{"knows before it looks", knowing, "stale-duplicate forged-duplicate"},
		{"acknowledges what is in work", func(t *testing.T) http.Handler { return acknowledging(t, 700*time.Millisecond) }, "twins"},
		{"is as quick to take as to acknowledge", func(t *testing.T) http.Handler { return acknowledging(t, leeway) }, ""},
		{"wide window", func(t *testing.T) http.Handler {
			return verifier(t, webhookmw.Config{Tolerance: time.Hour}, nil)
		}, "stale stale-duplicate future"},
		{"narrow window", func(t *testing.T) http.Handler {
			return verifier(t, webhookmw.Config{Tolerance: time.Minute}, nil)
		}, "late"},
		{"no limit", func(t *testing.T) http.Handler {
			return verifier(t, webhookmw.Config{MaxBodyBytes: 1 << 20}, nil)
		}, "too-large too-large-chunked"},
		{"low limit", func(t *testing.T) http.Handler {
			return verifier(t, webhookmw.Config{MaxBodyBytes: 1 << 10}, nil)
		}, "largest"},
		{"any JSON", func(t *testing.T) http.Handler {
			return verifier(t, webhookmw.Config{Contract: webhookmw.AnyJSON}, nil)
		}, "no-id"},
		{"anything", func(t *testing.T) http.Handler {
			return verifier(t, webhookmw.Config{Contract: webhookmw.AnyBody}, nil)
		}, "no-json no-id two-ids two-events"},
		{"knows too little", func(t *testing.T) http.Handler {
			return verifier(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
				if d, _ := webhookmw.FromContext(r.Context()); d.Type == "rehearsal.never.heard.of" {
					w.WriteHeader(422)
				}
			})
		}, "unknown-event"},
		{"refuses events that it knows", func(t *testing.T) http.Handler {
			return verifier(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
				if d, _ := webhookmw.FromContext(r.Context()); d.EventSeen {
					w.WriteHeader(409)
				}
			})
		}, "replay"},
		{"trims bodies", func(t *testing.T) http.Handler {
			return reparsed(t, verifier(t, webhookmw.Config{}, nil), bytes.TrimSpace)
		}, "newline other-body"},
		{"no v2", func(t *testing.T) http.Handler {
			next := verifier(t, webhookmw.Config{}, nil)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				signature := r.Header.Get("Webhook-Signature")
				r.Header.Set("Webhook-Signature", strings.ReplaceAll(signature, "v2=", "ignored="))
				next.ServeHTTP(w, r)
			})
		}, "stolen"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tc.handler(t))
				exit := b.do(t, t.Context(), "-scenario", "all", testURL)
				var differ []string
				for _, line := range lines(b.stdout.String()) {
					if name, ok := strings.CutPrefix(line, "DIFFERS  "); ok {
						name, _, _ = strings.Cut(name, " ")
						differ = append(differ, name)
						found[name] = true
					}
				}
				assert.Equal(t, len(differ) > 0, exit == exitFailed)
				if tc.want != "*" {
					assert.ElementsMatch(t, strings.Fields(tc.want), differ, b.stdout.String())
				}
			})
		})
	}
	for _, s := range scenarios() {
		assert.True(t, found[s.name], "%s finds no fault", s.name)
	}
}

// Some of the scenarios, in the order that they were asked for.
func TestSomeScenarios(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, verifier(t, webhookmw.Config{}, nil))
		assert.Equal(t, exitOK, b.do(t, t.Context(), "-scenario", "stale, duplicate", testURL))
		assert.Equal(t, lines(strings.TrimPrefix(`
         scenario   what is sent                          a correct receiver        this one
ok       stale      signed 6 minutes ago                  401                       401
ok       duplicate  the same delivery again, signed anew  2xx, then 2xx, duplicate  200, then 200, duplicate

2 scenarios in 0s, all answered as a correct receiver does
`, "\n")), lines(b.stdout.String()))
		assert.Empty(t, b.stderr.String())
	})
}

// A receiver that is still at work on what the sender did not wait for says so, and that is right.
func TestHangUpWhileWorking(t *testing.T) {
	for _, work := range []time.Duration{2 * time.Second, 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, verifier(t, webhookmw.Config{}, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(work)
				w.WriteHeader(200)
			}))
			assert.Equal(t, exitOK, b.do(t, t.Context(), "-scenario", "hang-up", testURL))
			// Whether the request got as far as the handler before the sender was gone
			// is the server's business: either way the delivery is taken in the end.
			assert.Regexp(t, `then 200(, duplicate)?\n`, b.stdout.String())
			assert.Contains(t, b.stdout.String(), fmt.Sprintf("1 scenario in %d", work/time.Second))
		})
	}
}

// A delivery in work is asked for again for ten seconds, and no longer.
func TestPatience(t *testing.T) {
	for _, tc := range []struct {
		work time.Duration
		exit int
		want string
		took time.Duration
	}{
		{9 * time.Second, exitOK, "then 200\n", 9 * time.Second},
		{time.Hour, exitFailed, "then 409\n", patience},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			b := newBench(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if time.Since(start) < tc.work {
					w.WriteHeader(409)
				}
			}))
			assert.Equal(t, tc.exit, b.do(t, t.Context(), "-scenario", "hang-up", testURL))
			assert.Contains(t, b.stdout.String(), tc.want)
			assert.InDelta(t, tc.took, time.Since(start), float64(100*time.Millisecond))
		})
	}
}

// What a receiver hands over with a 101 is not read: it may never end.
func TestSwitchingProtocols(t *testing.T) {
	over := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		buf.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
		buf.Flush()
		io.Copy(io.Discard, buf)
	})
	for _, tc := range []struct{ args, want string }{
		{"-quiet", "failed     event evt_X, delivery dlv_X: 101 Switching Protocols (1 attempt in 0s)\n"},
		{"-scenario=delivery", "DIFFERS  delivery  one event, as it should be  2xx                 101\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, over)
			start := time.Now()
			assert.Equal(t, exitFailed, b.do(t, t.Context(), tc.args, testURL))
			assert.Zero(t, time.Since(start))
			assert.Contains(t, strings.Join(lines(b.stdout.String()), "\n")+"\n", tc.want)
		})
	}
}

// Where nothing answers there is nothing to compare.
func TestNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.network.Close()
		assert.Equal(t, exitFailed, b.do(t, t.Context(), "-scenario", "all", testURL))
		assert.Len(t, lines(b.stdout.String()), 2)
		assert.Contains(t, b.stdout.String(), "no answer: connection refused")
		assert.Equal(t, "rehearse: nothing answers there; the other scenarios were left out\n", b.stderr.String())
	})
}
