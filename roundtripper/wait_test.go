package roundtripper_test

// This file tests how long a call waits between two attempts: Backoff,
// MaxDelay, Retry-After and the three rules for it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

const (
	twHonor  = roundtripper.HonorRetryAfter
	twClamp  = roundtripper.ClampRetryAfter
	twIgnore = roundtripper.IgnoreRetryAfter
)

// The three rules, with a backoff of 1 s and a MaxDelay of 30 s. Under Honor
// MaxDelay is held against the header alone.
func TestRetryAfterRules(t *testing.T) {
	const s = time.Second
	far := time.Duration(math.MaxInt64)
	for _, tc := range []struct {
		rule     roundtripper.RetryAfterRule
		maxDelay time.Duration
		value    string
		wait     time.Duration // -1: the call stops
		report   time.Duration // what Report.RetryAfter says; -1: nothing
	}{
		{twHonor, 30 * s, "", 1 * s, -1},
		{twHonor, 30 * s, "0", 1 * s, 0},
		{twHonor, 30 * s, "10", 11 * s, 10 * s},
		{twHonor, 30 * s, "1.5", 2500 * twTick, 1500 * twTick},
		{twHonor, 30 * s, "30", 31 * s, 30 * s}, // what lies on top is not clipped
		{twHonor, 30 * s, "30.001", -1, 30001 * twTick},
		{twHonor, 30 * s, "1e300", -1, far},
		{twHonor, 30 * s, "9223372036854775807", -1, far}, // basecamp-sdk#798: a negative wait
		{twHonor, 30 * s, "9223372037", -1, far},
		{twHonor, 30 * s, "-1", 1 * s, -1},
		{twHonor, 30 * s, "-0", 1 * s, 0},
		{twHonor, 30 * s, "+5", 6 * s, 5 * s},
		{twHonor, 30 * s, "Sat, 01 Jan 2000 00:00:07 GMT", 8 * s, 7 * s},
		{twHonor, 30 * s, "Saturday, 01-Jan-00 00:00:07 GMT", 8 * s, 7 * s},
		{twHonor, 30 * s, "Sat Jan  1 00:00:07 2000", 8 * s, 7 * s},
		{twHonor, 30 * s, "Sat, 01 Jan 2000 00:00:07 EST", 1 * s, -1},
		{twHonor, 30 * s, "10, 20", 1 * s, -1},
		{twHonor, 500 * twTick, "", 500 * twTick, -1},
		{twHonor, 500 * twTick, "0", 1 * s, 0}, // on top of a header, the backoff is not clipped
		{twHonor, 0, "", 0, -1},
		{twHonor, 0, "0", 0, 0},
		{twHonor, 0, "0.001", -1, 1 * twTick}, // any positive header stops the call
		{twClamp, 30 * s, "", 1 * s, -1},
		{twClamp, 30 * s, "0", 0, 0},
		{twClamp, 30 * s, "10", 10 * s, 10 * s},
		{twClamp, 30 * s, "31", 30 * s, 30 * s},
		{twClamp, 30 * s, "1e300", 30 * s, 30 * s},
		{twClamp, 30 * s, "later", 1 * s, -1},
		{twClamp, 0, "10", 0, 0},
		{twIgnore, 30 * s, "", 1 * s, -1},
		{twIgnore, 30 * s, "10", 1 * s, 10 * s},
		{twIgnore, 30 * s, "3600", 1 * s, 3600 * s},
		{twIgnore, 500 * twTick, "10", 500 * twTick, 10 * s},
	} {
		twRun(t, fmt.Sprintf("rule=%d max=%v value=%s", tc.rule, tc.maxDelay, tc.value), func(t *testing.T) {
			p := twPlain()
			p.MaxRetries, p.RetryAfter, p.MaxDelay, p.Backoff = 1, tc.rule, tc.maxDelay, twBackoff(s)
			step := twStep{status: 503, body: "no"}
			if tc.value != "" {
				step.header = []string{"Retry-After", tc.value}
			}
			// What the report says of the first response.
			once := roundtripper.WithoutRetry(t.Context())
			resp, err := twDo(t, twScript(step), p, twRequest("GET", "").WithContext(once))
			if d, ok := twReport(t, resp, err).RetryAfter(); ok != (tc.report >= 0) || ok && d != tc.report {
				t.Errorf("RetryAfter %v %v, want %v", d, ok, tc.report)
			}

			base := twScript(step)
			resp, err = twDo(t, base, p, twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			r := twReport(t, resp, err)
			if tc.wait < 0 {
				base.wantStarts(t, 0)
				if r.Stop != roundtripper.ReasonRetryAfterTooLong {
					t.Errorf("stop %q", r.Stop)
				}
			} else {
				base.wantStarts(t, 0, tc.wait)
				if got := r.Attempts[0].Wait; got != tc.wait {
					t.Errorf("the report says a wait of %v", got)
				}
			}
			if got := twRead(t, resp); got != "no" {
				t.Errorf("body %q", got)
			}
		})
	}
}

// A date is measured against the response's own Date, so that a wrong clock
// does no harm, and is not cut to whole seconds (basecamp-sdk#796).
func TestRetryAfterDates(t *testing.T) {
	for _, tc := range []struct {
		name   string
		header []string
		want   time.Duration
	}{
		{"a clock that is an hour off", []string{"Date", "Fri, 31 Dec 1999 23:00:00 GMT", "Retry-After", "Fri, 31 Dec 1999 23:00:05 GMT"}, 5 * time.Second},
		{"an hour off the other way", []string{"Date", "Sat, 01 Jan 2000 01:00:00 GMT", "Retry-After", "Sat, 01 Jan 2000 01:00:05 GMT"}, 5 * time.Second},
		{"no Date", []string{"Retry-After", "Sat, 01 Jan 2000 00:00:02 GMT"}, 1400 * twTick},
		{"the first valid of several", []string{"Retry-After", "soon", "Retry-After", "3", "Retry-After", "4"}, 3 * time.Second},
		{"reset headers mean nothing", []string{"RateLimit-Reset", "20", "X-RateLimit-Reset", "4102444800"}, 0},
		{"and do not outrank", []string{"RateLimit-Reset", "20", "Retry-After", "2"}, 2 * time.Second}, // go-github#3438
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p := twPlain()
			p.MaxDelay = time.Minute
			base := twScript(twStep{after: 600 * twTick, status: 503, header: tc.header}, twStep{status: 200})
			twDo(t, base, p, twRequest("GET", ""))
			base.wantStarts(t, 0, 600*twTick+tc.want)
		})
	}
}

// What one response asked for bends the wait after it and no other.
func TestRetryAfterOfAnEarlierResponse(t *testing.T) {
	for _, rule := range []roundtripper.RetryAfterRule{twHonor, twClamp} {
		twRun(t, fmt.Sprint(rule), func(t *testing.T) {
			p := twPlain()
			p.RetryAfter, p.MaxDelay, p.Backoff = rule, time.Minute, twBackoff(0, 100*twTick)
			base := twScript(twStep{status: 503, header: []string{"Retry-After", "7"}}, twStep{err: io.EOF})
			resp, err := twDo(t, base, p, twRequest("GET", ""))
			base.wantStarts(t, 0, 7*time.Second, 7100*twTick)
			if d, ok := twReport(t, resp, err).RetryAfter(); d != 7*time.Second || !ok {
				t.Errorf("RetryAfter %v %v: want the last response's", d, ok)
			}
			e, _ := errors.AsType[*roundtripper.Error](err)
			if d, ok := e.RetryAfter(); d != 7*time.Second || !ok {
				t.Errorf("Error.RetryAfter %v %v", d, ok)
			}
		})
	}
	twRun(t, "a later response without one", func(t *testing.T) {
		p := twPlain()
		p.MaxDelay = time.Minute
		base := twScript(twStep{status: 503, header: []string{"Retry-After", "7"}}, twStep{status: 503})
		resp, err := twDo(t, base, p, twRequest("GET", ""))
		base.wantStarts(t, 0, 7*time.Second, 7*time.Second)
		if d, ok := twReport(t, resp, err).RetryAfter(); ok {
			t.Errorf("RetryAfter %v", d)
		}
	})
}

// Backoff is asked with the retry's number and the wait before it, its answer
// is cut at MaxDelay, and a negative one is none (azcore: a negative delay
// became the maximum).
func TestBackoffIsAsked(t *testing.T) {
	type asked struct {
		retry int
		prev  time.Duration
	}
	twRun(t, "", func(t *testing.T) {
		var got []asked
		answers := []time.Duration{300 * twTick, -time.Second, time.Hour, math.MinInt64, math.MaxInt64}
		p := twPlain()
		p.MaxRetries, p.MaxDelay = 5, 2*time.Second
		p.Backoff = func(retry int, prev time.Duration) time.Duration {
			got = append(got, asked{retry, prev})
			return answers[retry]
		}
		base := twScript(twStep{status: 503})
		twDo(t, base, p, twRequest("GET", ""))
		base.wantStarts(t, 0, 300*twTick, 300*twTick, 2300*twTick, 2300*twTick, 4300*twTick)
		want := []asked{{0, 0}, {1, 300 * twTick}, {2, 0}, {3, 2 * time.Second}, {4, 0}}
		if !slices.Equal(got, want) {
			t.Errorf("asked %v, want %v", got, want)
		}
	})
	twRun(t, "a nil Backoff waits for nothing but Retry-After", func(t *testing.T) {
		p := twPlain()
		p.MaxDelay = time.Minute
		base := twScript(twStep{status: 503}, twStep{status: 503, header: []string{"Retry-After", "2"}}, twStep{status: 200})
		twDo(t, base, p, twRequest("GET", ""))
		base.wantStarts(t, 0, 0, 2*time.Second)
	})
}

// A header and a backoff that add up to more than time can hold are a long
// wait, not a negative one.
func TestWaitSaturates(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		p := twPlain()
		p.MaxDelay, p.Backoff = math.MaxInt64, twBackoff(time.Hour)
		base := twScript(twStep{status: 503, header: []string{"Retry-After", "99999999999999999999"}})
		resp, err := twDo(t, base, p, twRequest("GET", "").WithContext(ctx))
		base.wantStarts(t, 0)
		if r := twReport(t, resp, err); r.Stop != roundtripper.ReasonDeadline {
			t.Errorf("stop %q", r.Stop)
		}
	})
}

// A wait is deaf to nothing: it ends with the context at once, says why, and
// leaves nothing open (heimdall#145, bifrost#6964, openfga/go-sdk#378).
func TestWaitEndsWithTheContext(t *testing.T) {
	cause := errors.New("the user went away")
	for _, tc := range []struct {
		name string
		ctx  func(context.Context) (context.Context, func())
		step twStep
		stop roundtripper.Reason
		is   []error
	}{
		{"canceled after a response", func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(50*twTick, cancel)
			return ctx, cancel
		}, twStep{status: 503}, roundtripper.ReasonCanceled, []error{context.Canceled}},
		{"canceled after an error, with a cause", func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(50*twTick, func() { cancel(cause) })
			return ctx, func() { cancel(nil) }
		}, twStep{err: io.EOF}, roundtripper.ReasonCanceled, []error{context.Canceled, cause, io.EOF}},
		{"a deadline that nobody could foresee", func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeoutCause(ctx, 50*twTick, cause)
			return twHidden{ctx}, cancel
		}, twStep{err: io.EOF}, roundtripper.ReasonDeadline, []error{context.DeadlineExceeded, io.EOF}},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			ctx, cancel := tc.ctx(t.Context())
			defer cancel()
			p := twPlain()
			p.MaxDelay, p.Backoff = 10*time.Second, twBackoff(10*time.Second)
			base := twScript(tc.step)
			resp, err := twDo(t, base, p, twRequest("GET", "").WithContext(ctx))
			base.wantStarts(t, 0)
			base.wantNow(t, 50*twTick)
			base.wantClosed(t)
			if r := twReport(t, resp, err); r.Stop != tc.stop {
				t.Errorf("stop %q, want %q", r.Stop, tc.stop)
			}
			for _, want := range tc.is {
				if !errors.Is(err, want) {
					t.Errorf("%v is not %v", err, want)
				}
			}
		})
	}
}

// twHidden is a context whose deadline can't be seen in advance.
type twHidden struct{ context.Context }

func (twHidden) Deadline() (time.Time, bool) { return time.Time{}, false }

// The same with the deadline that http.Client makes of its Timeout.
func TestNoSleepIntoTheClientTimeout(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		p := twPlain()
		p.MaxDelay, p.Backoff = 10*time.Second, twBackoff(10*time.Second)
		base := twScript(twStep{status: 503, body: "busy"})
		client := http.Client{Transport: roundtripper.New(base, p), Timeout: time.Second}
		resp, err := client.Do(twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		base.wantNow(t, 0)
		base.wantAttempts(t, 1)
		if got := twRead(t, resp); got != "busy" {
			t.Errorf("body %q", got)
		}
	})
}

// Nobody waits after the last attempt (go-resty/resty#443), nor without need.
func TestNoWaitAfterTheEnd(t *testing.T) {
	for name, step := range map[string]twStep{
		"retries spent": {status: 503}, "final": {status: 404}, "error": {err: io.EOF},
	} {
		twRun(t, name, func(t *testing.T) {
			p := twPlain()
			p.MaxRetries, p.MaxDelay, p.Backoff = 1, time.Hour, twBackoff(time.Hour)
			base := twScript(step)
			twDo(t, base, p, twRequest("GET", ""))
			base.wantNow(t, time.Duration(len(base.at)-1)*time.Hour)
		})
	}
}
