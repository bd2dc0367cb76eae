package roundtripper_test

// Responses that nobody wants, and the connections under them: they are drained
// so that the connection can be used again, but not at any price (linkerd
// #1256: an undrained body costs a connection).

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// On real sockets a drain has 50 ms of real time, and a busy machine may take
// them away: it gets three chances. Without any drain none of them would do.
func TestRetriesShareOneConnection(t *testing.T) {
	var conns int32
	for range 3 {
		var requests atomic.Int32
		srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) < 6 {
				w.WriteHeader(503)
				io.WriteString(w, strings.Repeat("x", 1<<10))
			}
		}))
		policy := quick(roundtripper.Headless())
		policy.MaxRetries = 5
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", srv.URL, nil))
		wantEnd(t, outcome(t, resp, err), 6, roundtripper.ReasonOK)
		drink(t, resp)
		if n := requests.Load(); n != 6 {
			t.Fatalf("%d requests, want 6", n)
		}
		if conns = srv.conns.Load(); conns == 1 {
			return
		}
	}
	t.Errorf("6 requests on %d connections, want 1", conns)
}

func TestHeadlessWaitsOnOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		n, base := serveInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at = append(at, time.Since(start))
			if len(at) < 3 {
				http.Error(w, "not now", http.StatusServiceUnavailable)
			}
		}))
		resp, err := roundtripper.New(base, roundtripper.Headless()).RoundTrip(newRequest(t, "GET", anyURL, nil))
		report := outcome(t, resp, err)
		wantEnd(t, report, 3, roundtripper.ReasonOK)
		drink(t, resp)
		if fmt.Sprint(at) != "[0s 100ms 300ms]" || report.Elapsed != 300*time.Millisecond {
			t.Errorf("requests at %v, elapsed %v, want 100 ms and 200 ms of waits", at, report.Elapsed)
		}
		if n.dialed.Load() != 1 {
			t.Errorf("%d connections, want 1", n.dialed.Load())
		}
	})
}

func TestHundredFlakyGETsOnOneConnection(t *testing.T) {
	for _, size := range []int{0, 2, 10 << 10, 200 << 10} {
		for _, chunked := range []bool{false, true} {
			if chunked && size > 10<<10 {
				continue
			}
			t.Run(fmt.Sprintf("size=%d/chunked=%v", size, chunked), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					requests := 0
					n, base := serveInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						requests++
						if requests%2 == 0 {
							io.WriteString(w, "ok")
							return
						}
						if !chunked {
							w.Header().Set("Content-Length", fmt.Sprint(size))
						}
						w.WriteHeader(503)
						if chunked {
							http.NewResponseController(w).Flush()
						}
						w.Write(make([]byte, size))
					}))
					tr := roundtripper.New(base, quick(roundtripper.Headless()))
					for range 100 {
						resp, err := tr.RoundTrip(newRequest(t, "GET", anyURL, nil))
						wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
						if got := drink(t, resp); got != "ok" {
							t.Fatalf("got %q", got)
						}
					}
					if n := n.dialed.Load(); n != 1 || requests != 200 {
						t.Errorf("%d requests on %d connections, want 200 on 1", requests, n)
					}
				})
			})
		}
	}
}

// What a drain reads: all of a body of up to 256 KiB, nothing of one that says
// to be longer, 256 KiB of one that does not say.
func TestDrainIsBoundedInBytes(t *testing.T) {
	const limit = 256 << 10
	for _, test := range []struct {
		size, declared int64
		want           int64
	}{
		{0, 0, 0},
		{1, 1, 1},
		{limit, limit, limit},
		{limit + 1, limit + 1, 0},
		{1 << 40, 1 << 40, 0},
		{10, -1, 10},
		{limit, -1, limit},
		{1 << 40, -1, limit},
	} {
		synctest.Test(t, func(t *testing.T) {
			var left *io.LimitedReader
			var first *tracked
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				if first != nil {
					return answer(req, 200, ""), nil
				}
				left = &io.LimitedReader{R: readerFunc(func(p []byte) (int, error) { return len(p), nil }), N: test.size}
				first = &tracked{Reader: left}
				resp := answer(req, 503, "")
				resp.Body, resp.ContentLength = first, test.declared
				return resp, nil
			})
			resp, err := roundtripper.New(base, quick(roundtripper.Headless())).RoundTrip(newRequest(t, "GET", anyURL, nil))
			wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
			if got := test.size - left.N; got != test.want || first.closes.Load() != 1 {
				t.Errorf("size %d, declared %d: drained %d bytes and closed %d times, want %d and once",
					test.size, test.declared, got, first.closes.Load(), test.want)
			}
		})
	}
}

// stalled is a response body that gives nothing until its context ends or it is
// closed; it may be deaf to either.
type stalled struct {
	ctx    context.Context
	closed chan struct{}
	deaf   bool // to Close
	closes atomic.Int32
}

func newStalled(ctx context.Context) *stalled {
	return &stalled{ctx: ctx, closed: make(chan struct{})}
}

func (b *stalled) Read([]byte) (int, error) {
	select {
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	case <-b.closed:
		return 0, errors.New("read of a closed body")
	}
}

func (b *stalled) Close() error {
	if b.closes.Add(1) == 1 && !b.deaf {
		close(b.closed)
	}
	return nil
}

// A drain takes 50 ms at most, then the wait begins; whether the body listens
// to its context or to Close makes no difference.
func TestDrainIsBoundedInTime(t *testing.T) {
	for _, listens := range []string{"context", "Close", "both"} {
		t.Run("listens to "+listens, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var first *stalled
				base := baseFunc(func(req *http.Request) (*http.Response, error) {
					if first != nil {
						if first.closes.Load() == 0 {
							t.Error("the first response is still open")
						}
						return answer(req, 200, "ok"), nil
					}
					first = newStalled(req.Context())
					first.deaf = listens == "context"
					if listens == "Close" {
						first.ctx = context.Background()
					}
					resp := answer(req, 503, "")
					resp.Body, resp.ContentLength = first, -1
					return resp, nil
				})
				resp, err := roundtripper.New(base, roundtripper.Headless()).RoundTrip(newRequest(t, "GET", anyURL, nil))
				report := outcome(t, resp, err)
				wantEnd(t, report, 2, roundtripper.ReasonOK)
				drink(t, resp)
				if got := time.Since(start); got != 150*time.Millisecond {
					t.Errorf("the call took %v, want 50 ms of drain and 100 ms of wait", got)
				}
			})
		})
	}
}

// A body that gives a little now and then is cut off all the same.
func TestDrainOfATricklingBody(t *testing.T) {
	// It is deaf to all, so the Read that is on its way at 50 ms is waited for.
	for every, want := range map[time.Duration]time.Duration{
		20 * time.Millisecond: 60 * time.Millisecond,
		35 * time.Millisecond: 70 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			attempts := 0
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				attempts++
				resp := answer(req, []int{503, 200}[attempts-1], "")
				if attempts == 1 {
					resp.Body, resp.ContentLength = io.NopCloser(readerFunc(func(p []byte) (int, error) {
						time.Sleep(every)
						return copy(p, "x"), nil
					})), -1
				}
				return resp, nil
			})
			resp, err := roundtripper.New(base, quick(roundtripper.Headless())).RoundTrip(newRequest(t, "GET", anyURL, nil))
			wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
			if d := time.Since(start); d != want {
				t.Errorf("a byte every %v: drained for %v, want %v", every, d, want)
			}
		})
	}
}

// A drain ends with the caller's context and with the call's own time.
func TestDrainEndsWithTheCall(t *testing.T) {
	for name, test := range map[string]struct {
		total  time.Duration
		cancel time.Duration
		stop   roundtripper.Reason
		is     error
	}{
		"canceled": {0, 20 * time.Millisecond, roundtripper.ReasonCanceled, context.Canceled},
		"total":    {20 * time.Millisecond, time.Hour, roundtripper.ReasonDeadline, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				attempts := 0
				base := baseFunc(func(req *http.Request) (*http.Response, error) {
					attempts++
					resp := answer(req, 503, "")
					resp.Body, resp.ContentLength = newStalled(req.Context()), -1
					return resp, nil
				})
				policy := quick(roundtripper.Headless())
				policy.TotalTimeout = test.total
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(test.cancel, cancel)
				resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
				wantEnd(t, outcome(t, resp, err), 1, test.stop)
				if !errors.Is(err, test.is) || time.Since(start) != 20*time.Millisecond || attempts != 1 {
					t.Errorf("after %v and %d attempts: %v; want 20 ms, 1, %v", time.Since(start), attempts, err, test.is)
				}
			})
		})
	}
}

// A body that fails while it is drained does no harm.
func TestDrainSurvivesABrokenBody(t *testing.T) {
	attempts := 0
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		attempts++
		resp := answer(req, []int{503, 200}[attempts-1], "")
		if attempts == 1 {
			resp.Body, resp.ContentLength = io.NopCloser(readerFunc(func([]byte) (int, error) { return 0, errReset })), -1
		}
		return resp, nil
	})
	resp, err := roundtripper.New(base, quick(roundtripper.Headless())).RoundTrip(newRequest(t, "GET", anyURL, nil))
	wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
}

// A fault elsewhere: responses that are not handed out are left open. Whatever the reason
// for which a call ends without the response, or with another, it is closed.
func TestResponseThatIsNotHandedOutIsClosed(t *testing.T) {
	fallback := func(req *http.Request, _ *roundtripper.Report, _ error) (*http.Response, error) {
		return answer(req, 200, "old"), nil
	}
	for name, test := range map[string]struct {
		status int
		change func(*roundtripper.Policy)
		header []string
	}{
		"Accept says no":     {200, func(p *roundtripper.Policy) { p.Accept = func(*http.Response) error { return errOwn } }, nil},
		"another request ID": {200, func(p *roundtripper.Policy) { p.RequestIDHeader = "X-Request-Id" }, []string{"X-Request-Id", "other"}},
		"malformed JSON":     {200, func(p *roundtripper.Policy) { p.Accept = roundtripper.ValidJSON }, []string{"Content-Type", "application/json"}},
		"JSON cut":           {299, nil, []string{"Content-Type", "application/json"}},
		"fallback":           {404, func(p *roundtripper.Policy) { p.Fallback = fallback }, nil},
		"fallback at last":   {503, func(p *roundtripper.Policy) { p.Fallback = fallback }, nil},
		"Prepare fails next": {503, func(p *roundtripper.Policy) {
			p.Prepare = func(_ *http.Request, n int) error { return []error{nil, errOwn}[n-1] }
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []*tracked
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				b := &tracked{Reader: strings.NewReader("{body")}
				bodies = append(bodies, b)
				resp := answer(req, test.status, "", test.header...)
				resp.Body, resp.ContentLength = b, 5
				if test.status == 299 {
					resp.ContentLength = 6
				}
				return resp, nil
			})
			policy := quick(roundtripper.Standard())
			if test.change != nil {
				test.change(&policy)
			}
			resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
			outcome(t, resp, err)
			if resp != nil && drink(t, resp) != "old" {
				t.Errorf("the response itself was handed out: %d", resp.StatusCode)
			}
			if len(bodies) == 0 {
				t.Error("nothing was sent")
			}
			for i, b := range bodies {
				if b.closes.Load() == 0 {
					t.Errorf("response %d was left open", i+1)
				}
			}
		})
	}
}
