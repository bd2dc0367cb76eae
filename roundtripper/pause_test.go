package roundtripper_test

// This file tests ShareRetryAfter: when a host says "not now" to one call, the
// other calls of the Transport hold back from it too.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// twShared repeats nothing, so that each call is one attempt, and shares pauses
// of up to a minute.
func twShared() roundtripper.Policy {
	return roundtripper.Policy{MaxDelay: time.Minute, ShareRetryAfter: true, Statuses: []int{429, 503}, Methods: []string{"GET"}}
}

// twGet makes a call to url and says how long it took.
func twGet(t *testing.T, tr *roundtripper.Transport, ctx context.Context, url string) (took time.Duration, resp *http.Response, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		panic(err)
	}
	start := time.Now()
	resp, err = twCall(t, tr, req)
	return time.Since(start), resp, err
}

func TestPauseIsShared(t *testing.T) {
	const here = "http://example.com/a"
	ra := func(v string) []string { return []string{"Retry-After", v} }
	for _, tc := range []struct {
		name   string
		change func(*roundtripper.Policy)
		first  twStep
		url    string // of the second call
		want   time.Duration
	}{
		{"429", nil, twStep{status: 429, header: ra("10")}, here, 10 * time.Second},
		{"503", nil, twStep{status: 503, header: ra("10")}, here, 10 * time.Second},
		{"a date", nil, twStep{status: 503, header: ra("Sat, 01 Jan 2000 00:00:10 GMT")}, here, 10 * time.Second},
		{"another path", nil, twStep{status: 429, header: ra("10")}, "http://example.com/b?c", 10 * time.Second},
		{"the same host in other words", nil, twStep{status: 429, header: ra("10")}, "http://EXAMPLE.com:80/", 10 * time.Second},
		{"MaxDelay bounds it", nil, twStep{status: 429, header: ra("3600")}, here, time.Minute},
		{"a status that is final", func(p *roundtripper.Policy) { p.Statuses = nil }, twStep{status: 429, header: ra("10")}, here, 10 * time.Second},

		{"off by default", func(p *roundtripper.Policy) { p.ShareRetryAfter = false }, twStep{status: 429, header: ra("10")}, here, 0},
		{"another host", nil, twStep{status: 429, header: ra("10")}, "http://www.example.com/a", 0},
		{"another port", nil, twStep{status: 429, header: ra("10")}, "http://example.com:8080/a", 0},
		{"no header", nil, twStep{status: 429}, here, 0},
		{"an invalid header", nil, twStep{status: 429, header: ra("soon")}, here, 0},
		{"zero", nil, twStep{status: 429, header: ra("0")}, here, 0},
		{"502", nil, twStep{status: 502, header: ra("10")}, here, 0},
		{"202", nil, twStep{status: 202, header: ra("10")}, here, 0},
		{"MaxDelay 0", func(p *roundtripper.Policy) { p.MaxDelay = 0 }, twStep{status: 429, header: ra("10")}, here, 0},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p := twShared()
			if tc.change != nil {
				tc.change(&p)
			}
			tr := roundtripper.New(twScript(tc.first, twStep{status: 200}), p)
			twGet(t, tr, t.Context(), here)
			took, resp, err := twGet(t, tr, t.Context(), tc.url)
			if err != nil {
				t.Fatal(err)
			}
			// They leave a little spread: later, never sooner.
			if took < tc.want || took > tc.want+tc.want/5 {
				t.Errorf("the second call took %v, want %v and a little", took, tc.want)
			}
			r := twReport(t, resp, err)
			if len(r.Attempts) != 1 || r.Attempts[0].Elapsed != 0 || r.Elapsed != took {
				t.Errorf("holding back is no attempt: %+v", r)
			}
			if took, _, _ = twGet(t, tr, t.Context(), tc.url); took != 0 {
				t.Errorf("a call after the pause took %v", took)
			}
		})
	}
	twRun(t, "another Transport knows of nothing", func(t *testing.T) {
		base := twScript(twStep{status: 429, header: ra("10")}, twStep{status: 200})
		twGet(t, roundtripper.New(base, twShared()), t.Context(), here)
		if took, _, _ := twGet(t, roundtripper.New(base, twShared()), t.Context(), here); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
	twRun(t, "what is left of it", func(t *testing.T) {
		tr := roundtripper.New(twScript(twStep{status: 429, header: ra("10")}, twStep{status: 200}), twShared())
		twGet(t, tr, t.Context(), here)
		time.Sleep(8 * time.Second)
		if took, _, _ := twGet(t, tr, t.Context(), here); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("it took %v, want 2 s and a little", took)
		}
	})
}

// A crowd that held back does not leave at one instant, and not too soon.
func TestPauseSpreadsACrowd(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{status: 429, header: []string{"Retry-After", "10"}}, twStep{status: 200})
		tr := roundtripper.New(base, twShared())
		twGet(t, tr, t.Context(), "http://example.com/")
		for range 100 {
			go func() {
				if _, err := tr.RoundTrip(twRequest("GET", "")); err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(9999 * twTick)
		synctest.Wait()
		base.wantAttempts(t, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		base.wantAttempts(t, 101)
		at := slices.Clone(base.at[1:])
		slices.Sort(at)
		if at[0] < 10*time.Second || at[99] > 12*time.Second {
			t.Errorf("they left from %v to %v", at[0], at[99])
		}
		if n := len(slices.Compact(at)); n < 90 {
			t.Errorf("100 calls left at %d instants", n)
		}
	})
}

// Holding back is bounded by the call's own deadline, which is not slept into,
// and ends with the context.
func TestPauseIsBounded(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*roundtripper.Policy)
		ctx    func(context.Context) (context.Context, func())
		took   time.Duration
		stop   roundtripper.Reason
		is     error
	}{
		{"deadline", nil, func(ctx context.Context) (context.Context, func()) {
			return context.WithTimeout(ctx, 5*time.Second)
		}, 0, roundtripper.ReasonDeadline, context.DeadlineExceeded},
		{"total timeout", func(p *roundtripper.Policy) { p.TotalTimeout = 5 * time.Second }, func(ctx context.Context) (context.Context, func()) {
			return ctx, func() {}
		}, 0, roundtripper.ReasonDeadline, context.DeadlineExceeded},
		{"cancellation", nil, func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(3*time.Second, cancel)
			return ctx, cancel
		}, 3 * time.Second, roundtripper.ReasonCanceled, context.Canceled},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p := twShared()
			if tc.change != nil {
				tc.change(&p)
			}
			waits := 0
			p.Observe = func(e roundtripper.Event) {
				if e.State == roundtripper.StateWaiting {
					waits++
				}
			}
			base := twScript(twStep{status: 429, header: []string{"Retry-After", "10"}}, twStep{status: 200})
			tr := roundtripper.New(base, p)
			twGet(t, tr, t.Context(), "http://example.com/")
			waits = 0
			ctx, cancel := tc.ctx(t.Context())
			defer cancel()
			body := &twClosed{Reader: strings.NewReader("x")}
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://example.com/", body)
			start := time.Now()
			resp, err := twCall(t, tr, req)
			if took := time.Since(start); took != tc.took {
				t.Errorf("it took %v, want %v", took, tc.took)
			}
			base.wantAttempts(t, 1)
			if told := waits > 0; told != (tc.took > 0) {
				t.Errorf("%d waits were told, and it waited for %v", waits, tc.took)
			}
			if r := twReport(t, resp, err); r.Stop != tc.stop || len(r.Attempts) != 0 || !errors.Is(err, tc.is) {
				t.Errorf("%v, %+v", err, r)
			}
			if body.n != 1 {
				t.Errorf("body closed %d times", body.n)
			}
		})
	}
}

// A pause for ever is long, not over: nothing overflows.
func TestPauseSaturates(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		p := twShared()
		p.MaxDelay = math.MaxInt64
		base := twScript(twStep{status: 429, header: []string{"Retry-After", "99999999999999999999"}}, twStep{status: 200})
		tr := roundtripper.New(base, p)
		twGet(t, tr, t.Context(), "http://example.com/")
		ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Hour)
		defer cancel()
		if took, _, err := twGet(t, tr, ctx, "http://example.com/"); took != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %v", err, took)
		}
		base.wantAttempts(t, 1)
	})
}

// A call that is between two attempts holds back as well, and the attempt
// timeout does not run meanwhile; the call that was told comes back no sooner.
func TestPauseBetweenAttempts(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		p := twShared()
		p.MaxRetries, p.AttemptTimeout, p.Backoff = 2, 2*time.Second, twBackoff(time.Second)
		starts := make(map[string][]time.Duration)
		began := time.Now()
		var mu sync.Mutex
		base := twFunc(func(req *http.Request) (*http.Response, error) {
			who := req.URL.Path
			mu.Lock()
			starts[who] = append(starts[who], time.Since(began))
			n := len(starts[who])
			mu.Unlock()
			if n > 1 {
				if err := twSleep(req.Context(), 1500*twTick); err != nil {
					return nil, err
				}
				return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
			}
			if who == "/told" {
				return &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {"10"}}, Body: http.NoBody, Request: req}, nil
			}
			return nil, io.EOF
		})
		tr := roundtripper.New(base, p)
		done := make(chan struct{})
		go func() {
			defer close(done)
			req, _ := http.NewRequest("GET", "http://example.com/other", nil)
			if _, err := tr.RoundTrip(req); err != nil {
				t.Errorf("the other: %v", err)
			}
		}()
		synctest.Wait() // it has failed, and waits for 1 s
		if _, _, err := twGet(t, tr, t.Context(), "http://example.com/told"); err != nil {
			t.Errorf("the told: %v", err)
		}
		<-done
		for who, at := range starts {
			if len(at) != 2 || at[1] < 10*time.Second || at[1] > 13*time.Second {
				t.Errorf("%s was sent at %v", who, at)
			}
		}
	})
}

// Memory is bounded, however many hosts say "not now": the oldest pauses go,
// the newest hold.
func TestPausesOfManyHosts(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{after: twTick, status: 429, header: []string{"Retry-After", "10"}})
		tr := roundtripper.New(base, twShared())
		const hosts = 1500
		for i := range hosts {
			twGet(t, tr, t.Context(), fmt.Sprintf("http://host%d.example.com/", i))
		}
		if took, _, _ := twGet(t, tr, t.Context(), fmt.Sprintf("http://host%d.example.com/", hosts-1)); took < 10*time.Second {
			t.Errorf("the newest pause was forgotten: %v", took)
		}
	})
}
