package roundtripper_test

// This file tests what a breaker does to calls: what opens it, what a refused
// call is told, and that nothing that becomes of a trial makes it useless.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
)

// gdOpen opens the breaker of gdHost.
func gdOpen(g *breaker.Group, cause error) {
	for range 100 {
		permit, err := g.Allow(gdHost)
		if err != nil {
			return
		}
		permit.Done(breaker.Failure, cause)
	}
	panic("the breaker does not open")
}

// gdCool opens the breaker of gdHost and lets its cooldown pass.
func gdCool(g *breaker.Group) {
	gdOpen(g, nil)
	time.Sleep(45*time.Second + 1)
}

func gdStatusOf(t testing.TB, g *breaker.Group) breaker.Status {
	t.Helper()
	for _, s := range g.Snapshot() {
		if s.Key == gdHost {
			return s
		}
	}
	t.Fatalf("no breaker for %s in %+v", gdHost, g.Snapshot())
	return breaker.Status{}
}

func gdState(t testing.TB, g *breaker.Group, want breaker.State) {
	t.Helper()
	if got := g.State(gdHost); got != want {
		t.Errorf("the breaker is %v, want %v", got, want)
	}
}

// gdRefused checks that a call failed because of an open breaker.
func gdRefused(t testing.TB, resp *http.Response, err error) *breaker.OpenError {
	t.Helper()
	if r := outcome(t, resp, err); r.Stop != roundtripper.ReasonBreakerOpen {
		t.Errorf("stop %q, want %q: %v", r.Stop, roundtripper.ReasonBreakerOpen, err)
	}
	open, ok := errors.AsType[*breaker.OpenError](err)
	if !ok {
		t.Fatalf("no *OpenError in %v", err)
	}
	return open
}

// What counts: five calls in a row that end so open the breaker, or say nothing,
// or reset the run. How the policy judges them is another matter.
func TestBreakerCounts(t *testing.T) {
	canceled := func(req *http.Request, _ int) (*http.Response, error) {
		req.Context().Value(gdCancel{}).(context.CancelFunc)()
		return gdHang(req, 0)
	}
	for _, tc := range []struct {
		name string
		do   func(*http.Request, int) (*http.Response, error)
		want breaker.Outcome
	}{
		{"200", gdStatus(200), breaker.Success},
		{"304", gdStatus(304), breaker.Success},
		{"404", gdStatus(404), breaker.Success},
		{"408", gdStatus(408), breaker.Success},
		{"500", gdStatus(500), breaker.Success},
		{"501", gdStatus(501), breaker.Success},
		{"429", gdStatus(429), breaker.Neutral},
		{"502", gdStatus(502), breaker.Failure},
		{"503", gdStatus(503), breaker.Failure},
		{"504", gdStatus(504), breaker.Failure},
		{"reset", gdError(errReset), breaker.Failure},
		{"EOF", gdError(io.EOF), breaker.Failure},
		{"attempt timeout", gdHang, breaker.Failure},
		{"JSON breaks off", func(req *http.Request, _ int) (*http.Response, error) {
			resp := answer(req, 200, "", twJSON...)
			resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("["), gdBroken{}))
			return resp, nil
		}, breaker.Failure},
		{"canceled", canceled, breaker.Neutral},
		{"caller's deadline", func(req *http.Request, _ int) (*http.Response, error) {
			time.Sleep(3 * time.Second)
			return gdHang(req, 0)
		}, breaker.Neutral},
		{"panic", func(*http.Request, int) (*http.Response, error) { panic("base") }, breaker.Neutral},
		{"Goexit", func(*http.Request, int) (*http.Response, error) { runtime.Goexit(); return nil, nil }, breaker.Neutral},
	} {
		for name, decide := range map[string]func(*roundtripper.Attempt) roundtripper.Verdict{
			"as it is": nil,
			"Decide says yes": func(*roundtripper.Attempt) roundtripper.Verdict {
				return roundtripper.Verdict{Retry: true, Reason: roundtripper.ReasonNetwork}
			},
			"Decide says no": func(*roundtripper.Attempt) roundtripper.Verdict {
				return roundtripper.Verdict{Reason: roundtripper.ReasonOK}
			},
		} {
			twRun(t, tc.name+"/"+name, func(t *testing.T) {
				group := breaker.PerHost(breaker.Config{})
				p := roundtripper.Policy{AttemptTimeout: 4 * time.Second, ReadJSON: 1 << 10, Breaker: group, Decide: decide}
				rt := roundtripper.New(&gdBase{do: tc.do}, p)
				for i := range 5 {
					if i == 4 {
						gdState(t, group, breaker.Closed)
					}
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					if tc.name == "caller's deadline" {
						ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
					}
					gdAside(rt, gdGet(context.WithValue(ctx, gdCancel{}, cancel), gdURL))
					cancel()
				}
				s := gdStatusOf(t, group)
				want := map[breaker.Outcome][3]int{
					breaker.Neutral: {0, 0, 0}, breaker.Success: {5, 0, 0}, breaker.Failure: {5, 5, 1},
				}[tc.want]
				if got := [3]int{s.Known, s.Failures, int(s.State)}; got != want {
					t.Errorf("known, failures, state: %v, want %v: %+v", got, want, s)
				}
			})
		}
	}
}

type gdCancel struct{}

type gdBroken struct{}

func (gdBroken) Read([]byte) (int, error) { return 0, errReset }

// A call that is refused touches no network, waits for nothing and is not
// repeated; its error says which host, for how long and why, and looks like no
// timeout; its body is closed and its fallback asked.
func TestBreakerRefuses(t *testing.T) {
	for name, do := range map[string]func(*http.Request, int) (*http.Response, error){
		"error": gdError(errReset), "status": gdStatus(503),
	} {
		twRun(t, name, func(t *testing.T) {
			base := &gdBase{do: do}
			p := gdPolicy()
			p.Breaker, p.Budget = breaker.PerHost(breaker.Config{}), budget.New(budget.Config{Initial: 5})
			single := p
			single.MaxRetries = 0
			for range 5 {
				gdEnd(t, roundtripper.New(base, single), gdGet(t.Context(), gdURL))
			}
			time.Sleep(time.Second)
			start, sends := time.Now(), base.sends()
			body := newProbe("x")
			req := newRequest(t, "PUT", gdURL, body)
			p.Methods = []string{"PUT"}
			var states []roundtripper.State
			p.Observe = func(e roundtripper.Event) { states = append(states, e.State) }
			resp, err := roundtripper.New(base, p).RoundTrip(req)
			open := gdRefused(t, resp, err)
			if base.sends() != sends || time.Since(start) != 0 {
				t.Errorf("%d sends, %v passed, want nothing of either", base.sends()-sends, time.Since(start))
			}
			body.check(t, "body")
			wantEnd(t, outcome(t, resp, err), 0, roundtripper.ReasonBreakerOpen)
			e, _ := errors.AsType[*roundtripper.Error](err)
			left, ok := e.RetryAfter()
			if at, known := e.Report.RetryAt(); !known || !at.Equal(start.Add(left)) {
				t.Errorf("RetryAt %v, %v: want %v from now", at, known, left)
			}
			if !ok || left != open.RetryIn || left < 29*time.Second || left > 44*time.Second {
				t.Errorf("RetryAfter %v, %v; RetryIn %v", left, ok, open.RetryIn)
			}
			if open.Key != gdHost {
				t.Errorf("Key %q, want %q", open.Key, gdHost)
			}
			switch {
			case name == "error" && !errors.Is(open.Cause, errReset):
				t.Errorf("Cause %v, want %v", open.Cause, errReset)
			case name == "status" && (open.Cause == nil || !strings.Contains(err.Error(), "503")):
				t.Errorf("Cause %v, error %v: want to read of the 503", open.Cause, err)
			}
			if e.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
				t.Errorf("%v looks like the end of a context", err)
			}
			if want := []roundtripper.State{roundtripper.StateFailed}; !reflect.DeepEqual(states, want) {
				t.Errorf("events %v, want %v", states, want)
			}
			gdTokens(t, p.Budget, 5)

			p.Fallback = func(_ *http.Request, r *roundtripper.Report, err error) (*http.Response, error) {
				if _, ok := errors.AsType[*breaker.OpenError](err); !ok || r.Stop != roundtripper.ReasonBreakerOpen {
					t.Errorf("fallback is told %q, %v", r.Stop, err)
				}
				return answer(nil, 200, "cached"), nil
			}
			resp, err = roundtripper.New(base, p).RoundTrip(gdGet(t.Context(), gdURL))
			if err != nil || drink(t, resp) != "cached" || base.sends() != sends {
				t.Errorf("%v, %v: want the fallback", resp, err)
			}
		})
	}
}

// A breaker that opens between two attempts ends the call with what the last
// one got, and with no wait.
func TestBreakerOpensBetweenAttempts(t *testing.T) {
	for _, tc := range []struct {
		name string
		step twStep
	}{
		{"response", twStep{after: twTick, status: 503, body: "why"}},
		{"error", twStep{after: twTick, err: errReset}},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(tc.step)
			p := gdPolicy()
			p.MaxRetries, p.Breaker, p.Budget = 9, breaker.PerHost(breaker.Config{}), budget.New(budget.Config{})
			resp, err := twDo(t, base, p, gdGet(t.Context(), gdURL))
			base.wantNow(t, 4*time.Second+5*twTick)
			wantEnd(t, outcome(t, resp, err), 5, roundtripper.ReasonBreakerOpen)
			gdState(t, p.Breaker, breaker.Open)
			gdTokens(t, p.Budget, 6) // four retries; none was asked for the fifth
			if tc.step.status != 0 {
				if err != nil || twRead(t, resp) != "why" {
					t.Errorf("%v, %v: want the last response", resp, err)
				}
				base.wantClosed(t)
			} else if !errors.Is(err, errReset) {
				t.Errorf("%v: want the last error in it", err)
			}
		})
	}
}

// One that opens during the wait refuses the next attempt: the response is gone
// by then, so the error says both what was and why it is over.
func TestBreakerOpensDuringTheWait(t *testing.T) {
	for _, tc := range []struct {
		name string
		step twStep
		want string
	}{
		{"response", twStep{status: 503, body: "why"}, "503"},
		{"error", twStep{err: errReset}, errReset.Error()},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(tc.step)
			p := gdPolicy()
			p.Breaker = breaker.PerHost(breaker.Config{})
			time.AfterFunc(500*twTick, func() { gdOpen(p.Breaker, errors.New("others")) })
			resp, err := twDo(t, base, p, gdGet(t.Context(), gdURL))
			base.wantAttempts(t, 1)
			base.wantNow(t, time.Second)
			base.wantClosed(t)
			gdRefused(t, resp, err)
			if !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "others") {
				t.Errorf("%v: want to read of %q and of the others' failure", err, tc.want)
			}
			if tc.step.err != nil && !errors.Is(err, errReset) {
				t.Errorf("%v: want the last error in it", err)
			}
		})
	}
}

// 100 callers at the half-open moment: exactly one reaches the base
// (sony/gobreaker#91, opossum#119; 17 times the load in safe-client-gateway#3442).
func TestBreakerLetsOneThrough(t *testing.T) {
	for _, status := range []int{200, 503} {
		twRun(t, fmt.Sprint(status), func(t *testing.T) {
			base := &gdBase{do: func(req *http.Request, _ int) (*http.Response, error) {
				time.Sleep(time.Second)
				return answer(req, status, ""), nil
			}}
			p := gdPolicy()
			p.Breaker = breaker.PerHost(breaker.Config{})
			rt := roundtripper.New(base, p)
			gdCool(p.Breaker)
			var mu sync.Mutex
			var wg sync.WaitGroup
			stops := map[roundtripper.Reason]int{}
			for range 100 {
				wg.Go(func() {
					r := gdEnd(t, rt, gdGet(t.Context(), gdURL))
					mu.Lock()
					defer mu.Unlock()
					stops[r.Stop]++
				})
			}
			synctest.Wait()
			gdState(t, p.Breaker, breaker.HalfOpen)
			wg.Wait()
			if got := base.sends(); got != 1 {
				t.Errorf("%d sends, want 1", got)
			}
			want := map[roundtripper.Reason]int{roundtripper.ReasonBreakerOpen: 99, roundtripper.ReasonOK: 1}
			if status != 200 { // the trial's failure opens it: no second attempt
				want = map[roundtripper.Reason]int{roundtripper.ReasonBreakerOpen: 100}
			}
			if !reflect.DeepEqual(stops, want) {
				t.Errorf("stops %v, want %v", stops, want)
			}
			gdState(t, p.Breaker, map[int]breaker.State{200: breaker.Closed, 503: breaker.Open}[status])
		})
	}
}

// A trial that says nothing neither opens nor closes the breaker, and the next
// caller has the slot at once (App-vNext/Polly#1979: half-open for ever, and its
// fix: closed by a cancellation; failsafe-lib#33, s3-orchestrator#424: a panic
// keeps the slot; go-zero#5551).
func TestBreakerTrialThatSaysNothing(t *testing.T) {
	type trial struct {
		ctx    context.Context
		cancel context.CancelFunc
		p      *roundtripper.Policy
		base   *gdBase
		req    **http.Request
	}
	after := func(d time.Duration, f func()) { time.AfterFunc(d, f) }
	for _, tc := range []struct {
		name  string
		start func(trial)
	}{
		{"canceled", func(w trial) { after(twTick, w.cancel) }},
		{"canceled before", func(w trial) { w.cancel() }},
		{"caller's deadline", func(w trial) {
			ctx, cancel := context.WithTimeout(w.ctx, twTick)
			after(time.Second, cancel)
			*w.req = (*w.req).WithContext(ctx)
		}},
		{"429", func(w trial) { w.base.set(gdStatus(429)) }},
		{"panic", func(w trial) {
			w.base.set(func(*http.Request, int) (*http.Response, error) { panic("base") })
		}},
		{"Goexit", func(w trial) {
			w.base.set(func(*http.Request, int) (*http.Response, error) { runtime.Goexit(); return nil, nil })
		}},
		{"Prepare fails", func(w trial) {
			w.p.Prepare = func(*http.Request, int) error { return errors.New("no key") }
		}},
		{"Prepare panics", func(w trial) { w.p.Prepare = func(*http.Request, int) error { panic("no key") } }},
		{"observer panics", func(w trial) {
			w.p.Observe = func(e roundtripper.Event) {
				if e.State == roundtripper.StateSending {
					panic("full disk")
				}
			}
		}},
		{"Accept panics", func(w trial) {
			w.p.Accept = func(*http.Response) error { panic("nil map") }
			w.base.set(gdStatus(200))
		}},
		{"body read panics", func(w trial) {
			w.base.set(func(req *http.Request, _ int) (*http.Response, error) {
				resp := answer(req, 200, "", twJSON...)
				resp.Body = io.NopCloser(gdPanics{})
				return resp, nil
			})
		}},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := &gdBase{do: gdHang}
			group := breaker.PerHost(breaker.Config{})
			p := roundtripper.Policy{Breaker: group, ReadJSON: 10}
			gdCool(group)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first, req := p, gdGet(ctx, gdURL)
			tc.start(trial{ctx, cancel, &first, base, &req})
			panicked := gdAside(roundtripper.New(base, first), req)
			if want := strings.Contains(tc.name, "panic"); (panicked != nil) != want {
				t.Errorf("panicked with %v, want a panic: %v", panicked, want)
			}
			if s := group.State(gdHost); s == breaker.Closed {
				t.Errorf("it is closed")
			}
			sends := base.sends()
			base.set(gdStatus(200))
			wantEnd(t, gdEnd(t, roundtripper.New(base, p), gdGet(t.Context(), gdURL)), 1, roundtripper.ReasonOK)
			if got := base.sends() - sends; got != 1 {
				t.Errorf("%d sends of the next call, want 1", got)
			}
			gdState(t, group, breaker.Closed)
		})
	}
}

type gdPanics struct{}

func (gdPanics) Read([]byte) (int, error) { panic("read") }

// A trial that never ends blocks nobody: after its lease the next caller is let
// through, and what the first one says at last counts for nothing
// (OmniRoute#13836: six days; resilience4j#935).
func TestBreakerTrialThatHangs(t *testing.T) {
	for _, late := range []int{200, 503} {
		twRun(t, fmt.Sprint(late), func(t *testing.T) {
			release := make(chan struct{})
			base := &gdBase{do: func(req *http.Request, _ int) (*http.Response, error) {
				<-release // and no notice of any context
				return answer(req, late, ""), nil
			}}
			p := roundtripper.Policy{Breaker: breaker.PerHost(breaker.Config{})}
			rt := roundtripper.New(base, p)
			gdCool(p.Breaker)
			var wg sync.WaitGroup
			wg.Go(func() { gdEnd(t, rt, gdGet(t.Context(), gdURL)) })
			time.Sleep(30*time.Second - 1)
			resp, err := rt.RoundTrip(gdGet(t.Context(), gdURL))
			if open := gdRefused(t, resp, err); open.RetryIn != time.Nanosecond {
				t.Errorf("RetryIn %v, want the rest of the lease", open.RetryIn)
			}
			time.Sleep(time.Nanosecond)
			base.set(gdStatus(503))
			if r := gdEnd(t, rt, gdGet(t.Context(), gdURL)); len(r.Attempts) != 1 {
				t.Errorf("%+v: want one attempt", r)
			}
			gdState(t, p.Breaker, breaker.Open)
			before := gdStatusOf(t, p.Breaker)
			close(release)
			wg.Wait()
			if got := gdStatusOf(t, p.Breaker); !reflect.DeepEqual(got, before) {
				t.Errorf("a late answer made %+v of %+v", got, before)
			}
		})
	}
}

// A slow answer from before the opening says nothing about a service that has
// recovered since, nor about a trial.
func TestBreakerStaleAnswer(t *testing.T) {
	for _, status := range []int{200, 503} {
		for _, when := range []breaker.State{breaker.Open, breaker.HalfOpen, breaker.Closed} {
			twRun(t, fmt.Sprintf("%d/%v", status, when), func(t *testing.T) {
				release := make(chan struct{})
				base := &gdBase{do: func(req *http.Request, _ int) (*http.Response, error) {
					<-release
					return answer(req, status, ""), nil
				}}
				p := roundtripper.Policy{Breaker: breaker.PerHost(breaker.Config{})}
				rt := roundtripper.New(base, p)
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() { gdEnd(t, rt, gdGet(t.Context(), gdURL)) })
				}
				synctest.Wait()
				gdOpen(p.Breaker, errReset)
				if when != breaker.Open {
					time.Sleep(45*time.Second + 1)
					permit, err := p.Breaker.Allow(gdHost)
					if err != nil {
						t.Fatal(err)
					}
					if when == breaker.Closed {
						permit.Done(breaker.Success, nil)
					}
				}
				gdState(t, p.Breaker, when)
				before := gdStatusOf(t, p.Breaker)
				close(release)
				wg.Wait()
				if got := gdStatusOf(t, p.Breaker); !reflect.DeepEqual(got, before) {
					t.Errorf("stale answers made %+v of %+v", got, before)
				}
			})
		}
	}
}

// Neither cancellations nor refusals are outcomes (sony/gobreaker#105, flow-go#4910;
// go-zero#5551: the breaker's own rejections kept it open).
func TestBreakerIgnores(t *testing.T) {
	twRun(t, "20 cancellations", func(t *testing.T) {
		p := roundtripper.Policy{Breaker: breaker.PerHost(breaker.Config{})}
		rt := roundtripper.New(&gdBase{do: gdHang}, p)
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			wantEnd(t, gdEnd(t, rt, gdGet(ctx, gdURL)), 1, roundtripper.ReasonCanceled)
		}
		if s := gdStatusOf(t, p.Breaker); s.State != breaker.Closed || s.Known != 0 || s.Consecutive != 0 {
			t.Errorf("%+v: want closed and nothing known", s)
		}
	})
	twRun(t, "1,000 refusals", func(t *testing.T) {
		base := &gdBase{do: gdStatus(200)}
		p := gdPolicy()
		p.Breaker = breaker.PerHost(breaker.Config{})
		rt := roundtripper.New(base, p)
		gdOpen(p.Breaker, errReset)
		before := gdStatusOf(t, p.Breaker)
		for range 1000 {
			time.Sleep(twTick)
			gdRefused(t, nil, gdErrorOf(rt, gdGet(t.Context(), gdURL)))
		}
		if got := gdStatusOf(t, p.Breaker); base.sends() != 0 || !reflect.DeepEqual(got, before) {
			t.Errorf("%d sends; %+v became %+v", base.sends(), before, got)
		}
		time.Sleep(45 * time.Second)
		wantEnd(t, gdEnd(t, rt, gdGet(t.Context(), gdURL)), 1, roundtripper.ReasonOK)
	})
}

// gdErrorOf makes a call that fails.
func gdErrorOf(rt http.RoundTripper, req *http.Request) error {
	resp, err := rt.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

// Each failed trial doubles the cooldown up to five minutes, a success sets it
// back (envoy#26758, #6016); callers see that as RetryAfter.
func TestBreakerCooldownGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &gdBase{do: gdError(errReset)}
		p := roundtripper.Policy{Breaker: breaker.PerHost(breaker.Config{Consecutive: 1})}
		rt := roundtripper.New(base, p)
		for range 2 {
			base.set(gdError(errReset))
			for i, want := range []time.Duration{30, 60, 120, 240, 300, 300} {
				sends := base.sends()
				gdEnd(t, rt, gdGet(t.Context(), gdURL))
				if base.sends() != sends+1 {
					t.Fatalf("trial %d was refused", i)
				}
				left := gdRefused(t, nil, gdErrorOf(rt, gdGet(t.Context(), gdURL))).RetryIn
				if want *= time.Second; left < want || left > want*3/2 {
					t.Errorf("cooldown %d is %v, want %v to %v", i+1, left, want, want*3/2)
				}
				time.Sleep(left)
			}
			base.set(gdStatus(200))
			gdEnd(t, rt, gdGet(t.Context(), gdURL))
			gdState(t, p.Breaker, breaker.Closed)
		}
	})
}

// Failures add up however far apart they are (solace-broker-mcp#296), and a
// harmless share of them at a high rate does not (unkey#6568).
func TestBreakerOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &gdBase{do: func(req *http.Request, n int) (*http.Response, error) {
			if n%100 < 4 && n < 10_000 { // runs of four, or 4 %
				return nil, errReset
			}
			return answer(req, 200, ""), nil
		}}
		p := roundtripper.Policy{Breaker: breaker.PerHost(breaker.Config{})}
		rt := roundtripper.New(base, p)
		for range 10_000 {
			gdEnd(t, rt, gdGet(t.Context(), gdURL))
		}
		if got := base.sends(); got != 10_000 {
			t.Errorf("%d of 10,000 calls got through", got)
		}
		base.set(gdError(errReset))
		for range 5 {
			gdState(t, p.Breaker, breaker.Closed)
			time.Sleep(time.Minute)
			gdEnd(t, rt, gdGet(t.Context(), gdURL))
		}
		gdState(t, p.Breaker, breaker.Open)
	})
}

// A dead host does not stop calls to others; what names the same service has
// the same breaker; memory is bounded and an open breaker is not forgotten
// (fedify#916, lagom#3304).
func TestBreakerPerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &gdBase{do: gdError(errReset)}
		p := roundtripper.Policy{Breaker: breaker.PerHost(breaker.Config{MaxHosts: 32})}
		rt := roundtripper.New(base, p)
		for range 5 {
			gdEnd(t, rt, gdGet(t.Context(), "http://Example.com:80/a"))
		}
		base.set(gdStatus(200))
		for range 5000 {
			gdEnd(t, rt, gdGet(t.Context(), "http://"+strings.ToLower(roundtripper.NewKey())+".test/"))
		}
		if got := len(p.Breaker.Snapshot()); got > 32 {
			t.Errorf("%d hosts are remembered, want 32 at most", got)
		}
		sends := base.sends()
		for _, url := range []string{gdURL, "http://EXAMPLE.com/", "http://example.com:80", "http://user:pw@example.com/x?q"} {
			gdRefused(t, nil, gdErrorOf(rt, gdGet(t.Context(), url)))
		}
		for _, url := range []string{"https://example.com/", "http://example.com:8080/", "http://www.example.com/"} {
			wantEnd(t, gdEnd(t, rt, gdGet(t.Context(), url)), 1, roundtripper.ReasonOK)
		}
		if got := base.sends() - sends; got != 3 {
			t.Errorf("%d sends, want 3", got)
		}
	})
}

// OnChange may use everything: the breaker, another host's, the transport
// itself (sony/gobreaker#37, gascity#4839: deadlock).
func TestBreakerCallbackCallsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group *breaker.Group
		var rt *roundtripper.Transport
		var seen []string
		group = breaker.PerHost(breaker.Config{OnChange: func(c breaker.Change) {
			seen = append(seen, fmt.Sprintf("%v>%v", c.From, c.To))
			if got := group.State(c.Key); got != c.To {
				t.Errorf("it reads as %v in the change to %v", got, c.To)
			}
			gdEnd(t, rt, gdGet(t.Context(), "http://alerts.test/"))
			if c.To == breaker.Open {
				gdRefused(t, nil, gdErrorOf(rt, gdGet(t.Context(), gdURL)))
			}
		}})
		base := &gdBase{do: func(req *http.Request, _ int) (*http.Response, error) {
			if req.URL.Host == "alerts.test" || len(seen) > 1 {
				return answer(req, 200, ""), nil
			}
			return nil, errReset
		}}
		p := gdPolicy()
		p.MaxRetries, p.Breaker = 9, group
		rt = roundtripper.New(base, p)
		gdEnd(t, rt, gdGet(t.Context(), gdURL))
		time.Sleep(time.Minute)
		gdEnd(t, rt, gdGet(t.Context(), gdURL))
		want := []string{"closed>open", "open>half-open", "half-open>closed"}
		if !reflect.DeepEqual(seen, want) {
			t.Errorf("changes %v, want %v", seen, want)
		}
	})
}
