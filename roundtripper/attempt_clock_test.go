package roundtripper_test

// This file tests when the clock of an attempt begins to run: at the moment at
// which it is sent, whatever comes before.

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// deadlineIn is how far the deadline of ctx is away.
func deadlineIn(t *testing.T, ctx context.Context) time.Duration {
	t.Helper()
	at, ok := ctx.Deadline()
	if !ok {
		t.Fatal("no deadline")
	}
	return time.Until(at)
}

// Prepare may take longer than an attempt may, in a retry too: it has the time
// of the call.
func TestPrepareHasTheTimeOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		policy := roundtripper.Policy{
			AttemptTimeout: 2 * time.Second,
			TotalTimeout:   20 * time.Second,
			MaxRetries:     1,
			Methods:        []string{"GET"},
			Statuses:       []int{503},
		}
		policy.Prepare = func(req *http.Request, _ int) error {
			time.Sleep(3 * time.Second)
			if got, want := deadlineIn(t, req.Context()), time.Until(start.Add(policy.TotalTimeout)); got != want {
				t.Errorf("in Prepare the deadline is %v away, want %v", got, want)
			}
			return req.Context().Err()
		}
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			if got := deadlineIn(t, req.Context()); got != policy.AttemptTimeout {
				t.Errorf("in the base the deadline is %v away, want %v", got, policy.AttemptTimeout)
			}
			if n, _ := roundtripper.AttemptNumber(req.Context()); n == 1 {
				time.Sleep(time.Second)
				return answer(req, 503, ""), nil
			}
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		_, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
		if got, want := time.Since(start), 9*time.Second; got != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended after %v with %v, want the second attempt to time out after %v", got, err, want)
		}
	})
}

// A context that Prepare kept ends when the attempt does, although it has been
// watched since before the attempt's clock ran.
func TestContextWatchedSincePrepare(t *testing.T) {
	for _, total := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			var done <-chan struct{}
			start := time.Now()
			policy := roundtripper.Policy{AttemptTimeout: 2 * time.Second, TotalTimeout: total}
			policy.Prepare = func(req *http.Request, _ int) error {
				done = req.Context().Done()
				time.Sleep(3 * time.Second)
				return nil
			}
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				select {
				case <-done:
				case <-time.After(time.Hour):
				}
				return nil, errReset
			})
			roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
			if got, want := time.Since(start), 5*time.Second; got != want {
				t.Errorf("total timeout %v: ended after %v, want %v", total, got, want)
			}
		})
	}
}

// A call that was held back has its whole attempt timeout left.
func TestHeldBackAttemptHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := roundtripper.Policy{AttemptTimeout: 2 * time.Second, MaxDelay: time.Minute, ShareRetryAfter: true}
		calls := 0
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			if calls++; calls == 1 {
				return answer(req, 503, "", "Retry-After", "5"), nil
			}
			if got := deadlineIn(t, req.Context()); got != policy.AttemptTimeout {
				t.Errorf("the deadline is %v away, want %v", got, policy.AttemptTimeout)
			}
			return answer(req, 200, ""), nil
		})
		tr := roundtripper.New(base, policy)
		start := time.Now()
		for _, want := range []int{503, 200} {
			resp, err := tr.RoundTrip(newRequest(t, "GET", anyURL, nil))
			if err != nil || resp.StatusCode != want {
				t.Fatalf("%v, %v, want %d", resp, err, want)
			}
			resp.Body.Close()
		}
		if got := time.Since(start); got < 5*time.Second {
			t.Errorf("done after %v: nothing was held back", got)
		}
	})
}

// A connection that Prepare had for something of its own is none of the
// attempt's: that one may still be known not to have left.
func TestConnectionOfPrepareIsNotTheAttempts(t *testing.T) {
	policy := quick(roundtripper.Standard())
	policy.Prepare = func(req *http.Request, _ int) error {
		trace := httptrace.ContextClientTrace(req.Context())
		trace.GetConn("token.example:443")
		trace.GotConn(httptrace.GotConnInfo{})
		return nil
	}
	calls := 0
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(req.Context()).GetConn("example.com:443")
		if calls++; calls == 1 {
			return nil, errReset
		}
		return answer(req, 200, ""), nil
	})
	resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "POST", anyURL, nil))
	wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
}

// The time that an observer takes is not the attempt's, in a retry neither, and
// the report does not count it as such.
func TestObserverHasTimeOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := roundtripper.Policy{
			AttemptTimeout: 2 * time.Second,
			MaxRetries:     1,
			Methods:        []string{"GET"},
			Statuses:       []int{503},
		}
		policy.Observe = func(roundtripper.Event) { time.Sleep(3 * time.Second) }
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			if got := deadlineIn(t, req.Context()); got != policy.AttemptTimeout {
				t.Errorf("in the base the deadline is %v away, want %v", got, policy.AttemptTimeout)
			}
			time.Sleep(time.Second)
			n, _ := roundtripper.AttemptNumber(req.Context())
			return answer(req, []int{503, 200}[n-1], ""), nil
		})
		start := time.Now()
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		report, _ := roundtripper.ReportFrom(resp)
		for i, began := range []time.Duration{3 * time.Second, 10 * time.Second} {
			if a := report.Attempts[i]; a.Elapsed != time.Second || a.Start.Sub(start) != began {
				t.Errorf("attempt %d began after %v and took %v, want %v and 1s", i+1, a.Start.Sub(start), a.Elapsed, began)
			}
		}
	})
}
