package roundtripper_test

// This file tests StateSlow: one event, once a call has lasted longer than
// SlowAfter, for a caller who wants to say "still loading".

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

func TestSlow(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script []twStep
		want   []string
	}{
		{"in an attempt", []twStep{{after: 3 * time.Second, status: 200}}, []string{
			"sending 1 at 0s", "slow 1 at 2s", "done 1 200 stop ok at 3s"}},
		{"in a wait", []twStep{{after: 1950 * twTick, status: 503}, {status: 200}}, []string{
			"sending 1 at 0s", "waiting 1 503 wait 100ms at 1.95s", "slow 1 503 wait 100ms at 2s",
			"sending 2 at 2.05s", "done 2 200 stop ok at 2.05s"}},
		{"once", []twStep{{hang: true}, {hang: true}, {status: 200}}, []string{
			"sending 1 at 0s", "slow 1 at 2s", "waiting 1 error wait 100ms at 8s",
			"sending 2 at 8.1s", "waiting 2 error wait 200ms at 16.1s", "sending 3 at 16.3s", "done 3 200 stop ok at 16.3s"}},
		{"before a failure", []twStep{{after: 5 * time.Second, status: 404}}, []string{
			"sending 1 at 0s", "slow 1 at 2s", "failed 1 404 stop status at 5s"}},
		{"not before its time", []twStep{{after: 2*time.Second - 1, status: 200}}, []string{
			"sending 1 at 0s", "done 1 200 stop ok at 1.999999999s"}},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			w := &twWatch{start: time.Now()}
			p := roundtripper.Headless()
			p.Observe, p.SlowAfter = w.observe, 2*time.Second
			twDo(t, twScript(tc.script...), p, twRequest("GET", ""))
			time.Sleep(time.Minute) // nothing comes after the end
			w.mu.Lock()
			defer w.mu.Unlock()
			w.want(t, tc.want...)
		})
	}
}

// Zero is never, and nobody to tell is no harm; nor is a call that fails before
// it begins.
func TestSlowIsNotTold(t *testing.T) {
	slow := 0
	count := func(e roundtripper.Event) {
		if e.State == roundtripper.StateSlow {
			slow++
		}
	}
	for name, change := range map[string]func(*roundtripper.Policy, *http.Request) *http.Request{
		"SlowAfter 0": func(p *roundtripper.Policy, r *http.Request) *http.Request { p.SlowAfter = 0; return r },
		"no observer": func(p *roundtripper.Policy, r *http.Request) *http.Request { p.Observe = nil; return r },
		"invalid":     func(p *roundtripper.Policy, r *http.Request) *http.Request { p.MaxDelay = -1; return r },
		"invalid ID": func(p *roundtripper.Policy, r *http.Request) *http.Request {
			r.Header.Set("X-Request-Id", " ")
			return r
		},
		"context over": func(p *roundtripper.Policy, r *http.Request) *http.Request {
			ctx, cancel := context.WithCancel(r.Context())
			cancel()
			return r.WithContext(ctx)
		},
	} {
		twRun(t, name, func(t *testing.T) {
			p := roundtripper.Headless()
			p.Observe, p.SlowAfter = count, 2*time.Second
			req := change(&p, twRequest("GET", ""))
			twDo(t, twScript(twStep{after: 5 * time.Second, status: 200}), p, req)
			time.Sleep(time.Minute)
			if slow != 0 {
				t.Errorf("told %d times", slow)
			}
		})
	}
}

// The event may come from another goroutine while the call goes on: all that it
// carries may be read, and kept, without a race; and its report is of the call.
func TestSlowMayBeReadAndKept(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 20 {
			p := roundtripper.Headless()
			p.SlowAfter, p.MaxRetries = 150*twTick, 5
			p.Observe = func(e roundtripper.Event) {
				if e.State != roundtripper.StateSlow {
					return
				}
				if e.Report.RequestID == "" || e.Report.Stop != "" || e.Report.Elapsed != 150*twTick || len(e.Report.Attempts) != 2 || e.Attempt == nil || e.Attempt.Number != 2 {
					t.Errorf("event %+v of %+v", e, e.Report)
				}
				wg.Go(func() { // long after the call has gone on
					for range 100 {
						time.Sleep(50 * twTick)
						for _, a := range e.Report.Attempts {
							_ = a.StatusCode + a.Number
							_ = a.Wait
						}
						_, _ = e.Report.RetryAfter()
					}
				})
			}
			step := twStep{status: 503, after: time.Duration(i) * twTick / 2}
			wg.Go(func() {
				resp, err := roundtripper.New(twScript(step), p).RoundTrip(twRequest("GET", ""))
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
			})
		}
		wg.Wait()
	})
}

// An observer that panics at another state leaves no timer that would call it
// after the call.
func TestSlowAfterAPanic(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		slow := 0
		p := roundtripper.Headless()
		p.SlowAfter = 2 * time.Second
		p.Observe = func(e roundtripper.Event) {
			if e.State == roundtripper.StateSlow {
				slow++
			}
		}
		base := twFunc(func(*http.Request) (*http.Response, error) { panic("mine") })
		func() {
			defer func() { recover() }()
			roundtripper.New(base, p).RoundTrip(twRequest("GET", ""))
		}()
		time.Sleep(time.Minute)
		if slow != 0 {
			t.Errorf("told %d times", slow)
		}
	})
}

// Log has a line for each retry and each failure, and none for slowness.
func TestSlowAndLog(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		p := roundtripper.Headless()
		p.SlowAfter = time.Second
		lines, text := twLogged(t, twScript(twStep{after: 3 * time.Second, status: 200}), p, twRequest("GET", ""))
		if len(lines) != 0 {
			t.Errorf("%s", text)
		}
	})
}
