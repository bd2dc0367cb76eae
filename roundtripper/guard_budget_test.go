package roundtripper_test

// This file tests what a retry budget does to calls: how much load an outage
// makes, what a call is told when there is no token, and that a token which
// paid for nothing comes back. It also holds what the tests of guards share.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
)

// gdHost is the key under which the guards know gdURL's service.
const (
	gdHost = "http://example.com:80"
	gdURL  = "http://example.com/things"
)

// gdPolicy repeats what may heal three times, a second apart.
func gdPolicy() roundtripper.Policy {
	return roundtripper.Policy{
		MaxRetries: 3,
		Methods:    []string{"GET"},
		Statuses:   []int{408, 429, 502, 503, 504},
		Backoff:    backoff.Constant(time.Second),
		MaxDelay:   30 * time.Second,
	}
}

func gdGet(ctx context.Context, url string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		panic(err)
	}
	return req
}

// gdBase is a base transport that counts what it is sent and does what do says
// at the time; do gets the number of the sending, from 1.
type gdBase struct {
	mu   sync.Mutex
	do   func(req *http.Request, n int) (*http.Response, error)
	sent int
}

func (b *gdBase) RoundTrip(req *http.Request) (*http.Response, error) {
	b.mu.Lock()
	b.sent++
	do, n := b.do, b.sent
	b.mu.Unlock()
	if req.Body != nil {
		defer req.Body.Close()
	}
	return do(req, n)
}

func (b *gdBase) set(do func(*http.Request, int) (*http.Response, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.do = do
}

func (b *gdBase) sends() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sent
}

func gdStatus(status int) func(*http.Request, int) (*http.Response, error) {
	return func(req *http.Request, _ int) (*http.Response, error) {
		return answer(req, status, http.StatusText(status)), nil
	}
}

func gdError(err error) func(*http.Request, int) (*http.Response, error) {
	return func(*http.Request, int) (*http.Response, error) { return nil, err }
}

// gdHang answers nothing until the request's context ends.
func gdHang(req *http.Request, _ int) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// gdEnd makes a call, reads the response there may be, and gives the report.
func gdEnd(t testing.TB, rt http.RoundTripper, req *http.Request) *roundtripper.Report {
	t.Helper()
	resp, err := rt.RoundTrip(req)
	r := outcome(t, resp, err)
	if resp != nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	return r
}

// gdAside makes a call that may panic or exit its goroutine, and gives what it
// panicked with.
func gdAside(rt http.RoundTripper, req *http.Request) (panicked any) {
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() { panicked = recover() }()
		if resp, err := rt.RoundTrip(req); err == nil {
			resp.Body.Close()
		}
	})
	wg.Wait()
	return panicked
}

func gdTokens(t testing.TB, b *budget.Budget, want float64) {
	t.Helper()
	if got := b.Tokens(gdHost); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v tokens, want %v", got, want)
	}
}

// An outage costs the normal load and ten requests, however the failures look
// and however many retries a call has (without a budget: 40,000 sends).
func TestBudgetOutage(t *testing.T) {
	for _, tc := range []struct {
		name  string
		do    func(*http.Request, int) (*http.Response, error)
		calls int
	}{
		{"503", gdStatus(503), 10_000},
		{"reset", gdError(errReset), 500},
		{"429", gdStatus(429), 500},
		{"timeout", gdHang, 500},
	} {
		for _, retries := range []int{1, 3} {
			twRun(t, fmt.Sprintf("%s/retries=%d", tc.name, retries), func(t *testing.T) {
				base := &gdBase{do: tc.do}
				p := gdPolicy()
				p.MaxRetries, p.AttemptTimeout, p.Budget = retries, time.Second, budget.New(budget.Config{})
				rt := roundtripper.New(base, p)
				for call := 1; call <= tc.calls; call++ {
					gdEnd(t, rt, gdGet(t.Context(), gdURL))
					if got := base.sends(); got > call+10 {
						t.Fatalf("%d sends after %d calls", got, call)
					}
				}
				if got, want := base.sends(), tc.calls+10; got != want {
					t.Errorf("%d sends, want %d", got, want)
				}
			})
		}
	}
}

// Where an answer that says that the server works is repeated all the same, as
// Headless repeats a 500, an outage that looks like this must not pay for its
// own retries: a call succeeds at most once, and these never do.
func TestBudgetOutageOfRepeatedAnswers(t *testing.T) {
	for _, status := range []int{500, 408} {
		twRun(t, fmt.Sprint(status), func(t *testing.T) {
			base := &gdBase{do: gdStatus(status)}
			p := gdPolicy()
			p.Statuses, p.Budget = []int{408, 500}, budget.New(budget.Config{})
			rt := roundtripper.New(base, p)
			for range 1000 {
				gdEnd(t, rt, gdGet(t.Context(), gdURL))
			}
			if got := base.sends(); got != 1010 {
				t.Errorf("%d sends for 1,000 calls, want 1,010", got)
			}
		})
	}
}

// At any rate of failures the sends stay within 1.1 x calls + 10, at every
// prefix; at one half they are about 1.05 x calls, since only then are the
// tokens worth something.
func TestBudgetHalfFailing(t *testing.T) {
	for _, percent := range []int{5, 10, 50, 90} {
		twRun(t, fmt.Sprintf("failing=%d%%", percent), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(percent)))
			successes := 0
			base := &gdBase{}
			base.do = func(req *http.Request, n int) (*http.Response, error) {
				if random.IntN(100) < percent {
					return nil, errReset
				}
				successes++
				return answer(req, 200, "ok"), nil
			}
			p := gdPolicy()
			p.Budget = budget.New(budget.Config{})
			rt := roundtripper.New(base, p)
			calls := map[bool]int{true: 10_000, false: 2000}[percent == 50]
			for call := 1; call <= calls; call++ {
				gdEnd(t, rt, gdGet(t.Context(), gdURL))
				sends := base.sends()
				if 10*sends > 11*call+100 {
					t.Fatalf("%d sends after %d calls: above 1.1 x calls + 10", sends, call)
				}
				if 10*(sends-call) > 100+successes {
					t.Fatalf("%d retries for %d successes", sends-call, successes)
				}
			}
			if percent == 50 && (base.sends() < 10_400 || base.sends() > 10_650) {
				t.Errorf("%d sends, want about 10,527", base.sends())
			}
		})
	}
}

// With nothing left the original result comes back at once, whole and with no
// wait before it (envoy#30205, failsafe-go: 5 s of waiting and then another
// error; grpc-java#7222: the call hangs).
func TestBudgetEmptyReturnsAtOnce(t *testing.T) {
	twRun(t, "response", func(t *testing.T) {
		base := twScript(twStep{after: twTick, status: 503, body: "why", header: []string{"Retry-After", "7"}})
		p := gdPolicy()
		p.Budget = budget.New(budget.Config{Initial: -1})
		resp, err := twDo(t, base, p, gdGet(t.Context(), gdURL))
		if err != nil || resp.StatusCode != 503 || twRead(t, resp) != "why" {
			t.Fatalf("%v, %v: want the 503", resp, err)
		}
		base.wantNow(t, twTick)
		base.wantAttempts(t, 1)
		r := outcome(t, resp, err)
		wantEnd(t, r, 1, roundtripper.ReasonBudgetSpent)
		if r.Attempts[0].Wait != 0 || !r.Attempts[0].Verdict.Retry {
			t.Errorf("attempt %+v: want no wait, and that it might have healed", r.Attempts[0])
		}
		if d, ok := r.RetryAfter(); !ok || d != 7*time.Second {
			t.Errorf("RetryAfter %v, %v", d, ok)
		}
	})
	twRun(t, "error", func(t *testing.T) {
		base := twScript(twStep{after: twTick, err: errReset})
		p := gdPolicy()
		p.Budget = budget.New(budget.Config{Initial: 1})
		_, err := twDo(t, base, p, gdGet(t.Context(), gdURL))
		base.wantStarts(t, 0, time.Second+twTick)
		base.wantNow(t, time.Second+2*twTick)
		wantEnd(t, outcome(t, nil, err), 2, roundtripper.ReasonBudgetSpent)
		if !errors.Is(err, errReset) {
			t.Errorf("%v: want the original error in it", err)
		}
		gdTokens(t, p.Budget, 0)
	})
}

// A retry that is not sent costs nothing, whatever stops it: else those who
// give up would drain the budget for all.
func TestBudgetTokenComesBack(t *testing.T) {
	type world struct {
		p      roundtripper.Policy
		base   *gdBase
		rt     *roundtripper.Transport
		req    *http.Request
		cancel context.CancelCauseFunc
	}
	for _, tc := range []struct {
		name   string
		change func(*world)
		during func(*world)        // happens at the end of the wait
		want   roundtripper.Reason // empty: the call panics or exits
	}{
		{"canceled", nil, func(w *world) { w.cancel(errors.New("closed the tab")) }, roundtripper.ReasonCanceled},
		{"breaker opens", func(w *world) {
			w.p.Breaker = breaker.PerHost(breaker.Config{Consecutive: 2})
		}, func(w *world) {
			permit, _ := w.p.Breaker.Allow(gdHost)
			permit.Done(breaker.Failure, nil)
		}, roundtripper.ReasonBreakerOpen},
		{"network is lost, canceled", func(w *world) {
			w.p.Offline = offline.New(offline.Config{})
		}, func(w *world) {
			gdLose(w.p.Offline)
			time.AfterFunc(100*twTick, func() { w.cancel(nil) })
		}, roundtripper.ReasonCanceled},
		{"network is lost, TotalTimeout", func(w *world) {
			w.p.Offline, w.p.TotalTimeout = offline.New(offline.Config{}), time.Second+100*twTick
		}, func(w *world) { gdLose(w.p.Offline) }, roundtripper.ReasonDeadline},
		{"network is lost, MaxWait", func(w *world) {
			w.p.Offline = offline.New(offline.Config{MaxWait: 100 * twTick})
		}, func(w *world) { gdLose(w.p.Offline) }, roundtripper.ReasonOffline},
		{"host asks for silence past the deadline", func(w *world) {
			w.p.ShareRetryAfter, w.p.TotalTimeout = true, 2*time.Second
		}, func(w *world) {
			w.base.set(func(req *http.Request, _ int) (*http.Response, error) {
				return answer(req, 429, "", "Retry-After", "20"), nil
			})
			gdAside(w.rt, gdGet(roundtripper.WithoutRetry(context.Background()), gdURL))
		}, roundtripper.ReasonDeadline},
		{"GetBody fails", func(w *world) {
			w.req.Body = io.NopCloser(strings.NewReader("x"))
			w.req.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("gone") }
		}, nil, roundtripper.ReasonNotReplayable},
		{"GetBody panics", func(w *world) {
			w.req.Body = io.NopCloser(strings.NewReader("x"))
			w.req.GetBody = func() (io.ReadCloser, error) { panic("gone") }
		}, nil, ""},
		{"Prepare fails", func(w *world) {
			w.p.Prepare = gdSecond(func() error { return errors.New("no key") })
		}, nil, roundtripper.ReasonPermanent},
		{"Prepare panics", func(w *world) {
			w.p.Prepare = gdSecond(func() error { panic("no key") })
		}, nil, ""},
		{"Prepare exits", func(w *world) {
			w.p.Prepare = gdSecond(func() error { runtime.Goexit(); return nil })
		}, nil, ""},
		{"observer of the wait panics", func(w *world) {
			w.p.Observe = func(e roundtripper.Event) {
				if e.State == roundtripper.StateWaiting {
					panic("full disk")
				}
			}
		}, nil, ""},
		{"observer of the sending panics", func(w *world) {
			w.p.Observe = func(e roundtripper.Event) {
				if e.State == roundtripper.StateSending && e.Attempt.Number == 2 {
					panic("full disk")
				}
			}
		}, nil, ""},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			w := &world{p: gdPolicy(), base: &gdBase{do: gdStatus(503)}, req: gdGet(ctx, gdURL), cancel: cancel}
			// Neither full nor empty, so that one given back twice shows.
			w.p.Budget = budget.New(budget.Config{Initial: 5})
			if tc.change != nil {
				tc.change(w)
			}
			w.rt = roundtripper.New(w.base, w.p)
			if tc.during != nil {
				time.AfterFunc(990*twTick, func() { tc.during(w) })
			}
			if tc.want == "" {
				gdAside(w.rt, w.req)
			} else if r := gdEnd(t, w.rt, w.req); r.Stop != tc.want || len(r.Attempts) != 1 {
				t.Errorf("stop %q after %d attempts, want %q after 1", r.Stop, len(r.Attempts), tc.want)
			}
			gdTokens(t, w.p.Budget, 5)
		})
	}
}

// gdSecond is a Prepare that does f before the second attempt.
func gdSecond(f func() error) func(*http.Request, int) error {
	return func(_ *http.Request, attempt int) error {
		if attempt == 2 {
			return f()
		}
		return nil
	}
}

// A retry that was sent is paid for, however it ended: the load was there.
func TestBudgetTokenIsSpent(t *testing.T) {
	for _, tc := range []struct {
		name   string
		second func(req *http.Request, cancel func()) (*http.Response, error)
		want   float64
	}{
		{"answered", func(req *http.Request, _ func()) (*http.Response, error) { return answer(req, 200, ""), nil }, 4.1},
		{"canceled", func(req *http.Request, cancel func()) (*http.Response, error) {
			cancel()
			return gdHang(req, 0)
		}, 4},
		{"panics", func(*http.Request, func()) (*http.Response, error) { panic("base") }, 4},
		{"exits", func(*http.Request, func()) (*http.Response, error) { runtime.Goexit(); return nil, nil }, 4},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := gdPolicy()
			p.Budget = budget.New(budget.Config{Initial: 5})
			base := &gdBase{do: func(req *http.Request, n int) (*http.Response, error) {
				if n == 1 {
					return answer(req, 503, ""), nil
				}
				return tc.second(req, cancel)
			}}
			gdAside(roundtripper.New(base, p), gdGet(ctx, gdURL))
			gdTokens(t, p.Budget, tc.want)
		})
	}
}

// No token is asked for by a call that could not be repeated anyway.
func TestBudgetIsAskedLast(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*roundtripper.Policy, *http.Request)
		header string
		want   roundtripper.Reason
	}{
		{"final", func(p *roundtripper.Policy, _ *http.Request) { p.Statuses = nil }, "", roundtripper.ReasonStatus},
		{"overruled", func(p *roundtripper.Policy, _ *http.Request) {
			p.Decide = func(*roundtripper.Attempt) roundtripper.Verdict { return roundtripper.Verdict{} }
		}, "", roundtripper.ReasonStatus},
		{"no retries", func(p *roundtripper.Policy, _ *http.Request) { p.MaxRetries = 0 }, "", roundtripper.ReasonRetriesSpent},
		{"write", func(_ *roundtripper.Policy, req *http.Request) { req.Method = "POST" }, "", roundtripper.ReasonNotRepeatable},
		{"one-shot body", func(_ *roundtripper.Policy, req *http.Request) {
			req.Body = io.NopCloser(strings.NewReader("x"))
		}, "", roundtripper.ReasonNotReplayable},
		{"Retry-After", func(*roundtripper.Policy, *http.Request) {}, "31", roundtripper.ReasonRetryAfterTooLong},
		{"deadline", func(p *roundtripper.Policy, _ *http.Request) { p.TotalTimeout = time.Second }, "", roundtripper.ReasonDeadline},
		{"open breaker", func(p *roundtripper.Policy, _ *http.Request) {
			p.Breaker = breaker.PerHost(breaker.Config{Consecutive: 1})
		}, "", roundtripper.ReasonBreakerOpen},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p, req := gdPolicy(), gdGet(t.Context(), gdURL)
			p.Budget = budget.New(budget.Config{Initial: -1, Max: 5}) // whoever asks is told "budget-spent"
			tc.change(&p, req)
			base := &gdBase{do: func(req *http.Request, _ int) (*http.Response, error) {
				if req.Body != nil {
					io.Copy(io.Discard, req.Body)
				}
				if tc.header != "" {
					return answer(req, 503, "", "Retry-After", tc.header), nil
				}
				return answer(req, 503, ""), nil
			}}
			wantEnd(t, gdEnd(t, roundtripper.New(base, p), req), 1, tc.want)
		})
	}
}

// What earns: everything that shows the server at work, a 404 too
// (aws-sdk-go-v2#3186), and nothing else. How the policy judges an answer has no
// say in that.
func TestBudgetEarns(t *testing.T) {
	earning := []int{200, 204, 301, 304, 400, 401, 404, 410, 422, 500, 501}
	for _, status := range append([]int{429, 502, 503, 504}, earning...) {
		twRun(t, fmt.Sprint(status), func(t *testing.T) {
			p := gdPolicy()
			p.MaxRetries, p.Budget = 0, budget.New(budget.Config{Initial: 5})
			rt := roundtripper.New(&gdBase{do: gdStatus(status)}, p)
			for range 3 {
				gdEnd(t, rt, gdGet(t.Context(), gdURL))
			}
			want := 5.0
			if slices.Contains(earning, status) {
				want = 5.3
			}
			gdTokens(t, p.Budget, want)
		})
	}
	for _, tc := range []struct {
		name string
		do   func(*http.Request, int) (*http.Response, error)
		ctx  func(context.Context) (context.Context, context.CancelFunc)
	}{
		{"reset", gdError(errReset), context.WithCancel},
		{"malformed", gdError(http.ErrSchemeMismatch), context.WithCancel},
		{"nothing", gdError(nil), context.WithCancel},
		{"timeout", gdHang, context.WithCancel},
		{"deadline", gdHang, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, twTick)
		}},
		{"canceled", gdHang, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			ctx, cancel := tc.ctx(t.Context())
			defer cancel()
			p := gdPolicy()
			p.MaxRetries, p.AttemptTimeout, p.Budget = 0, 2*twTick, budget.New(budget.Config{Initial: 5})
			gdEnd(t, roundtripper.New(&gdBase{do: tc.do}, p), gdGet(ctx, gdURL))
			gdTokens(t, p.Budget, 5)
		})
	}
}

// A host that is down does not stop retries to another one, if the budget is
// per host (aws-sdk-go-base#915, eksctl#7877); what is the same host, the budget
// sees.
func TestBudgetPerHost(t *testing.T) {
	for _, perHost := range []bool{true, false} {
		twRun(t, fmt.Sprintf("perHost=%v", perHost), func(t *testing.T) {
			base := &gdBase{do: gdStatus(503)}
			p := quick(gdPolicy())
			p.Budget = budget.New(budget.Config{PerHost: perHost})
			rt := roundtripper.New(base, p)
			for i := range 100 {
				gdEnd(t, rt, gdGet(t.Context(), []string{"http://a.test/x", "http://A.test:80/y"}[i%2]))
			}
			if got := base.sends(); got != 110 {
				t.Errorf("%d sends to the dead host, want 110", got)
			}
			want := map[bool]int{true: 4, false: 1}[perHost]
			for _, url := range []string{"http://b.test/", "https://a.test/", "http://a.test:8080/"} {
				before := base.sends()
				gdEnd(t, rt, gdGet(t.Context(), url))
				if got := base.sends() - before; got != want {
					t.Errorf("%d sends to %s, want %d", got, url, want)
				}
			}
		})
	}
}

// A drained budget comes back with the successes, and with nothing but them:
// ten buy one retry (aws-sdk-go-v2#3550).
func TestBudgetComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &gdBase{do: gdStatus(503)}
		p := gdPolicy()
		p.Budget = budget.New(budget.Config{Initial: -1})
		rt := roundtripper.New(base, p)
		sends := func(status int, want int) {
			t.Helper()
			base.set(gdStatus(status))
			before := base.sends()
			gdEnd(t, rt, gdGet(t.Context(), gdURL))
			if got := base.sends() - before; got != want {
				t.Errorf("%d sends, want %d", got, want)
			}
		}
		for range 3 {
			time.Sleep(time.Hour)
			sends(503, 1)
			for range 9 {
				sends(200, 1)
			}
			sends(503, 1)
			sends(404, 1)
			sends(503, 2)
		}
	})
}
