package main

// Tests of deliveries: time line, ending, exit status.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// The time line and the ending, to the letter.
func TestDeliver(t *testing.T) {
	stall := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	for _, tc := range []struct {
		name    string
		handler http.Handler
		exit    int
		stdout  string
		stderr  []string
	}{
		{"at once", answers(200), exitOK, "delivered  event evt_X, delivery dlv_X (1 attempt in 0s)", []string{
			"   0.000s  attempt 1    POST http://receiver.test/hook?..., delivery dlv_X",
			"   0.000s  answer       200 OK",
		}},
		{"at the third attempt", answers(503, 409, 204), exitOK, "delivered  event evt_X, delivery dlv_X (3 attempts in 75ms)", []string{
			"   0.000s  attempt 1    POST http://receiver.test/hook?..., delivery dlv_X",
			"   0.000s  answer       503 Service Unavailable",
			"   0.000s  wait         25ms before attempt 2: may heal (status)",
			"   0.025s  attempt 2",
			"   0.025s  answer       409 Conflict",
			"   0.025s  wait         50ms before attempt 3: may heal (status)",
			"   0.075s  attempt 3",
			"   0.075s  answer       204 No Content",
		}},
		{"refused", answers(410), exitFailed, "failed     event evt_X, delivery dlv_X, gone for good: 410 Gone (1 attempt in 0s)", []string{
			"   0.000s  attempt 1    POST http://receiver.test/hook?..., delivery dlv_X",
			"   0.000s  answer       410 Gone",
		}},
		{"no answer", stall, exitFailed, "unknown    event evt_X, delivery dlv_X: attempt timeout of 2s exceeded (3 attempts in 6.075s)", []string{
			"   0.000s  attempt 1    POST http://receiver.test/hook?..., delivery dlv_X",
			"   2.000s  error        attempt timeout of 2s exceeded",
			"   2.000s  wait         25ms before attempt 2: may heal (attempt-timeout)",
			"   2.025s  attempt 2",
			"   4.025s  error        attempt timeout of 2s exceeded",
			"   4.025s  wait         50ms before attempt 3: may heal (attempt-timeout)",
			"   4.075s  attempt 3",
			"   6.075s  error        attempt timeout of 2s exceeded",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tc.handler)
				assert.Equal(t, tc.exit, b.do(t, t.Context(), "http://user:topsecret@receiver.test/hook?key=topsecret"))
				assert.Equal(t, []string{tc.stdout}, lines(b.stdout.String()))
				assert.Equal(t, tc.stderr, lines(b.stderr.String()))
			})
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tc.handler)
				b.do(t, t.Context(), "-quiet", testURL)
				assert.Empty(t, b.stderr.String())
			})
		})
	}
}

// The event comes from a file, from standard input, or from nowhere, and arrives as it is.
func TestEvents(t *testing.T) {
	const body = `{ "id": "evt_1", "type": "order.paid" }` + "\r\n"
	file := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
	for _, args := range [][]string{{"-event", file}, {"-event", "-"}, nil} {
		synctest.Test(t, func(t *testing.T) {
			var got *webhookmw.Delivery
			b := newBench(t, verifier(t, webhookmw.Config{}, func(_ http.ResponseWriter, r *http.Request) {
				got, _ = webhookmw.FromContext(r.Context())
			}))
			b.stdin = strings.NewReader(body)
			require.Equal(t, exitOK, b.do(t, t.Context(), append(args, testURL)...), b.stderr.String())
			if args != nil {
				assert.Equal(t, body, string(got.Body))
			} else {
				assert.Equal(t, "rehearsal.delivered", got.Type)
			}
		})
	}
}

// Without a URL the event goes to a receiver of our own, which tells what it makes of it.
func TestDeliverToOurOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.stdin = strings.NewReader(`{"id":"evt_1","type":"order\u001bpaid"}`)
		require.Equal(t, exitOK, b.do(t, t.Context(), "-event", "-"))
		assert.Equal(t, []string{
			"   0.000s  attempt 1    POST http://own.test/, delivery dlv_X",
			"   0.000s  accepted     200 accepted (event evt_1, order paid, 39 bytes, delivery dlv_X)",
			"   0.000s  answer       200 OK",
		}, lines(b.stderr.String()))
	})
}

// Tomorrow the event is replayed: a hundred times under one key, which is once, and without one each time.
func TestReplay(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "kept")
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, answers(400))
		b.stdin = strings.NewReader(`{"id":"evt_1","type":"order.paid"}`)
		require.Equal(t, exitFailed, b.do(t, t.Context(), "-event", "-", "-events", kept, testURL))
	})
	for _, tc := range []struct {
		key   string
		want  int
		words string
	}{{"k", 1, "all were 1 delivery"}, {"", 100, "100 deliveries"}} {
		synctest.Test(t, func(t *testing.T) {
			ran := make(chan string, 200)
			b := newBench(t, verifier(t, webhookmw.Config{}, func(_ http.ResponseWriter, r *http.Request) {
				d, _ := webhookmw.FromContext(r.Context())
				time.Sleep(100 * time.Millisecond)
				ran <- string(d.Body)
			}))
			args := []string{"-events", kept, "-replay", "evt_1", "-times", "100", "-concurrency", "10"}
			if tc.key != "" {
				args = append(args, "-key", tc.key)
			}
			require.Equal(t, exitOK, b.do(t, t.Context(), append(args, testURL)...), b.stderr.String())
			assert.Len(t, ran, tc.want)
			assert.Equal(t, `{"id":"evt_1","type":"order.paid"}`, <-ran)
			got := lines(b.stdout.String())
			require.Len(t, got, 101)
			assert.Equal(t, "100 times: 100 delivered, 0 failed, 0 unknown; "+tc.words, got[100])
			assert.Contains(t, b.stderr.String(), fmt.Sprintf("#%d POST", tc.want))
			assert.NotContains(t, b.stderr.String(), fmt.Sprintf("#%d POST", tc.want+1))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, answers(200))
		assert.Equal(t, exitUsage, b.do(t, t.Context(), "-events", kept, "-replay", "evt_2", testURL))
		assert.Contains(t, b.stderr.String(), "rehearse: -replay: no such event in "+kept+": evt_2\n")
		b = newBench(t, answers(200))
		b.stdin = strings.NewReader(`{"id":"evt_1","type":"order.lost"}`)
		assert.Equal(t, exitUsage, b.do(t, t.Context(), "-events", kept, "-event", "-", testURL))
		assert.Contains(t, b.stderr.String(), `rehearse: event "evt_1" is known with other bytes`)
	})
}

// An interrupt ends it at once, wherever it is.
func TestInterrupt(t *testing.T) {
	for name, args := range map[string][]string{
		"in a wait":      {testURL},
		"in many":        {"-times", "50", "-concurrency", "5", testURL},
		"at the input":   {"-event", "-", testURL},
		"in a scenario":  {"-scenario", "slow", testURL},
		"between two":    {"-scenario", "all", testURL},
		"before the end": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				after := 10 * time.Millisecond
				handler := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					time.Sleep(5 * time.Millisecond)
					w.WriteHeader(503)
				}))
				if len(args) == 0 {
					handler, after = nil, 500*time.Millisecond
				}
				time.AfterFunc(after, interrupt)
				b := newBench(t, handler)
				in, out := io.Pipe()
				defer out.Close()
				b.stdin = in
				start := time.Now()
				assert.Equal(t, exitInterrupted, b.do(t, ctx, args...))
				assert.LessOrEqual(t, time.Since(start), after+2*time.Second)
				assert.NotContains(t, b.stdout.String(), "times:")
				assert.True(t, strings.HasSuffix(b.stderr.String(), "rehearse: interrupted\n"), b.stderr.String())
				time.Sleep(time.Second) // a handler that was at work when the sender left ends, too
			})
		})
	}
}

func TestCannotListen(t *testing.T) {
	for _, args := range [][]string{{"serve"}, {}, {"-event", "-"}} {
		b := newBench(t, nil)
		b.stdin = strings.NewReader(`{"id":"evt_1","type":"order.paid"}`)
		b.listen = func(string) (net.Listener, error) { return nil, errors.New("no loopback") }
		assert.Equal(t, exitFailed, b.do(t, t.Context(), args...))
		assert.Equal(t, "rehearse: no loopback\n", b.stderr.String())
	}
}
