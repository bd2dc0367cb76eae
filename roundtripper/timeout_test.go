package roundtripper_test

// This file tests the clocks of a call: of an attempt, of silence, of the
// whole, and the caller's own.

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// The attempt timeout is not the caller's cancellation (turbopuffer-go#138).
func TestAttemptTimeoutIsNotTheCallers(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := twPlain()
		p.AttemptTimeout = 50 * twTick
		base := twScript(twStep{hang: true})
		resp, err := twDo(t, base, p, twRequest("GET", "").WithContext(ctx))
		base.wantStarts(t, 0, 50*twTick, 100*twTick)
		base.wantNow(t, 150*twTick)
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			t.Errorf("%v, parent %v", err, ctx.Err())
		}
		if errors.Is(err, context.Canceled) {
			t.Errorf("%v is Canceled", err)
		}
		if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() {
			t.Errorf("%v is no net.Error with Timeout", err)
		}
		for _, a := range twReport(t, resp, err).Attempts {
			want := roundtripper.Verdict{Retry: true, Reason: roundtripper.ReasonAttemptTimeout}
			if a.Verdict != want || a.Elapsed != 50*twTick || !a.Sent || !errors.Is(a.Err, context.DeadlineExceeded) {
				t.Errorf("attempt %d: %+v", a.Number, a)
			}
		}
	})
}

// http.Client passes it on, so that a caller who asks as ever finds a timeout.
func TestAttemptTimeoutThroughClient(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		p := twPlain()
		p.AttemptTimeout = 50 * twTick
		client := http.Client{Transport: roundtripper.New(twScript(twStep{hang: true}), p)}
		_, err := client.Do(twRequest("GET", ""))
		if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is no timeout", err)
		}
	})
}

// A base that ends with Canceled or DeadlineExceeded of its own, while nobody
// gave up, has failed like any network (stripe-go#1184).
func TestContextErrorsOfTheBaseAlone(t *testing.T) {
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		twRun(t, cause.Error(), func(t *testing.T) {
			base := twScript(twStep{err: cause}, twStep{status: 200})
			resp, err := twDo(t, base, twPlain(), twRequest("GET", ""))
			base.wantAttempts(t, 2)
			if a := twReport(t, resp, err).Attempts[0]; a.Verdict.Reason != roundtripper.ReasonNetwork {
				t.Errorf("verdict %+v", a.Verdict)
			}
		})
	}
}

// No attempt under a context that is over (pace/bricks#63), and no wait that
// it would cut short (hashicorp/go-retryablehttp#272, vimeo/go-retry#7).
func TestCallersDeadline(t *testing.T) {
	slowRetry := twPlain()
	slowRetry.MaxDelay, slowRetry.Backoff = time.Minute, twBackoff(5*time.Second)
	for _, tc := range []struct {
		name     string
		deadline time.Duration
		step     twStep
		policy   roundtripper.Policy
		end      time.Duration
		attempts int
		status   int // 0: an error
	}{
		{"during the first attempt", 30 * twTick, twStep{hang: true}, twPlain(), 30 * twTick, 1, 0},
		{"the wait would outlast it: the response", time.Second, twStep{status: 503, body: "b"}, slowRetry, 0, 1, 503},
		{"the wait would outlast it: the error", time.Second, twStep{err: io.EOF}, slowRetry, 0, 1, 0},
		{"during the third", 12 * time.Second, twStep{after: 900 * twTick, status: 503, body: "b"}, slowRetry, 12 * time.Second, 3, 0},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tc.deadline)
			defer cancel()
			base := twScript(tc.step)
			resp, err := twDo(t, base, tc.policy, twRequest("GET", "").WithContext(ctx))
			base.wantAttempts(t, tc.attempts)
			base.wantNow(t, tc.end)
			if r := twReport(t, resp, err); r.Stop != roundtripper.ReasonDeadline {
				t.Errorf("stop %q", r.Stop)
			}
			if tc.status != 0 {
				if err != nil {
					t.Fatal(err)
				}
				if got := twRead(t, resp); resp.StatusCode != tc.status || got != "b" {
					t.Errorf("%d %q", resp.StatusCode, got)
				}
				return
			}
			if !errors.Is(err, context.DeadlineExceeded) || !twIsTimeout(err) {
				t.Errorf("%v is no DeadlineExceeded", err)
			}
			if tc.step.err != nil && !errors.Is(err, tc.step.err) {
				t.Errorf("%v has lost %v", err, tc.step.err)
			}
			base.wantClosed(t)
		})
	}
}

// The total timeout bounds attempts, waits and body, and is no attempt timeout.
func TestTotalTimeout(t *testing.T) {
	for _, tc := range []struct {
		name   string
		steps  []twStep
		change func(*roundtripper.Policy)
		starts []time.Duration
		end    time.Duration
	}{
		{"cuts the first attempt", []twStep{{hang: true}}, func(p *roundtripper.Policy) {}, []time.Duration{0}, time.Second},
		{"cuts a later one", []twStep{{after: 600 * twTick, err: io.EOF}}, func(p *roundtripper.Policy) {}, []time.Duration{0, 600 * twTick}, time.Second},
		{"below the attempt timeout", []twStep{{hang: true}}, func(p *roundtripper.Policy) { p.AttemptTimeout = 8 * time.Second }, []time.Duration{0}, time.Second},
		{"after an attempt timeout", []twStep{{hang: true}}, func(p *roundtripper.Policy) { p.AttemptTimeout = 600 * twTick }, []time.Duration{0, 600 * twTick}, time.Second},
		{"a wait that reaches it exactly", []twStep{{after: 400 * twTick, err: io.EOF}}, func(p *roundtripper.Policy) {
			p.MaxDelay, p.Backoff = 600*twTick, twBackoff(600*twTick)
		}, []time.Duration{0}, 400 * twTick},
		{"a wait that ends just before", []twStep{{after: 400 * twTick, err: io.EOF}}, func(p *roundtripper.Policy) {
			p.MaxDelay, p.Backoff = time.Second, twBackoff(600*twTick-1)
		}, []time.Duration{0, time.Second - 1}, time.Second},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p := twPlain()
			p.TotalTimeout = time.Second
			tc.change(&p)
			base := twScript(tc.steps...)
			resp, err := twDo(t, base, p, twRequest("GET", ""))
			base.wantStarts(t, tc.starts...)
			base.wantNow(t, tc.end)
			if r := twReport(t, resp, err); r.Stop != roundtripper.ReasonDeadline {
				t.Errorf("stop %q", r.Stop)
			}
			if !errors.Is(err, context.DeadlineExceeded) || !twIsTimeout(err) {
				t.Errorf("%v is no timeout", err)
			}
		})
	}
}

// The longest times there are never ring: nothing overflows.
func TestTimeoutsSaturate(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		const ever = time.Duration(math.MaxInt64)
		p := twPlain()
		p.AttemptTimeout, p.IdleTimeout, p.TotalTimeout, p.SlowAfter = ever, ever, ever, ever
		p.Observe = func(e roundtripper.Event) {
			if e.State == roundtripper.StateSlow {
				t.Error("slow")
			}
		}
		base := twScript(twStep{after: time.Hour, status: 503}, twStep{after: time.Hour, status: 200, body: "abc", pace: time.Hour})
		resp, err := twDo(t, base, p, twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := twRead(t, resp); got != "abc" {
			t.Errorf("body %q", got)
		}
		base.wantStarts(t, 0, time.Hour)
	})
}

// Request.Cancel, which net/http still heeds, ends a call as a context does.
func TestRequestCancelChannel(t *testing.T) {
	for name, step := range map[string]twStep{"in a wait": {status: 503}, "before": {status: 200}} {
		twRun(t, name, func(t *testing.T) {
			p := twPlain()
			p.MaxDelay, p.Backoff = time.Minute, twBackoff(time.Minute)
			gone := make(chan struct{})
			req := twRequest("GET", "")
			req.Cancel = gone //lint:ignore SA1019 old callers use it
			want, after := 0, time.Duration(0)
			if name == "before" {
				close(gone)
			} else {
				time.AfterFunc(time.Second, func() { close(gone) })
				want, after = 1, time.Second
			}
			base := twScript(step)
			resp, err := twDo(t, base, p, req)
			base.wantAttempts(t, want)
			base.wantNow(t, after)
			if r := twReport(t, resp, err); !errors.Is(err, context.Canceled) || r.Stop != roundtripper.ReasonCanceled {
				t.Errorf("%v, stop %q", err, r.Stop)
			}
		})
	}
}

// What ends a body that is being read says so, whoever ended it.
func TestBodyIsCutWithAReason(t *testing.T) {
	cause := errors.New("the user went away")
	for _, tc := range []struct {
		name   string
		change func(*roundtripper.Policy)
		ctx    func(context.Context) (context.Context, func())
		end    time.Duration
		is     []error
	}{
		{"attempt timeout", func(p *roundtripper.Policy) { p.AttemptTimeout = time.Second }, nil, time.Second, []error{context.DeadlineExceeded}},
		{"total timeout", func(p *roundtripper.Policy) { p.TotalTimeout = time.Second }, nil, time.Second, []error{context.DeadlineExceeded}},
		{"idle timeout", func(p *roundtripper.Policy) { p.IdleTimeout = time.Second }, nil, time.Second, []error{context.DeadlineExceeded}},
		{"the caller's deadline", nil, func(ctx context.Context) (context.Context, func()) {
			return context.WithTimeout(ctx, time.Second)
		}, time.Second, []error{context.DeadlineExceeded}},
		{"the caller's cancellation", nil, func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(cause) })
			return ctx, func() { cancel(nil) }
		}, time.Second, []error{context.Canceled, cause}},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p := twPlain()
			req := twRequest("GET", "")
			if tc.change != nil {
				tc.change(&p)
			}
			if tc.ctx != nil {
				ctx, cancel := tc.ctx(t.Context())
				defer cancel()
				req = req.WithContext(ctx)
			}
			base := twScript(twStep{status: 200, body: "abc", stall: true})
			resp, err := twDo(t, base, p, req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			base.wantNow(t, tc.end)
			if string(got) != "abc" {
				t.Errorf("read %q", got)
			}
			for _, want := range tc.is {
				if !errors.Is(err, want) {
					t.Errorf("%v is not %v", err, want)
				}
			}
			if want := tc.is[0] == context.DeadlineExceeded; twIsTimeout(err) != want {
				t.Errorf("%v: Timeout() is not %v", err, want)
			}
		})
	}
}

// A base that is deaf to its context does not lift the limit: what is read past
// it is an error all the same.
func TestBodyOfADeafBase(t *testing.T) {
	for name, change := range map[string]func(*roundtripper.Policy){
		"attempt": func(p *roundtripper.Policy) { p.AttemptTimeout = time.Second },
		"total":   func(p *roundtripper.Policy) { p.TotalTimeout = time.Second },
	} {
		twRun(t, name, func(t *testing.T) {
			p := twPlain()
			change(&p)
			base := twFunc(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("abcdef")), ContentLength: 6, Request: req}, nil
			})
			resp, err := twDo(t, base, p, twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			piece := make([]byte, 3)
			if _, err := io.ReadFull(resp.Body, piece); err != nil || string(piece) != "abc" {
				t.Fatalf("read %q, %v", piece, err)
			}
			time.Sleep(2 * time.Second)
			if n, err := resp.Body.Read(piece); n != 0 || !errors.Is(err, context.DeadlineExceeded) || !twIsTimeout(err) {
				t.Errorf("read %d bytes, %v", n, err)
			}
		})
	}
}

// A call that is over holds nothing: a timer of an hour would keep its request
// (anthropic-sdk-go#407, projectdiscovery/retryablehttp-go#554).
func TestNoTimerOutlivesACall(t *testing.T) {
	const calls = 50
	p := twPlain()
	p.AttemptTimeout, p.IdleTimeout, p.TotalTimeout, p.SlowAfter = time.Hour, time.Hour, time.Hour, time.Hour
	p.Observe = func(roundtripper.Event) {}
	var freed atomic.Int32
	base := twFunc(func(req *http.Request) (*http.Response, error) {
		req.Context().Done() // as net/http does: now there is a timer
		return nil, io.EOF
	})
	tr := roundtripper.New(base, p)
	for range calls {
		req := twRequest("GET", "")
		runtime.AddCleanup(req, func(int) { freed.Add(1) }, 0)
		if _, err := tr.RoundTrip(req); err == nil {
			t.Fatal("no error")
		}
	}
	// The last request may still be in a register of this goroutine.
	for range 200 {
		if runtime.GC(); freed.Load() >= calls-1 {
			return
		}
		time.Sleep(twTick)
	}
	t.Errorf("%d of %d requests are held", calls-freed.Load(), calls)
}

// A base that takes no notice of the attempt's end may answer after it. Nobody
// could read that body any more: it is closed, and the attempt has timed out.
func TestAnswerBehindItsTime(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		late := &tracked{Reader: strings.NewReader("late")}
		n := 0
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			resp := answer(req, 200, "in time")
			if n++; n == 1 {
				time.Sleep(2 * time.Second)
				resp.Body = late
			}
			return resp, nil
		})
		p := quick(roundtripper.Standard())
		p.AttemptTimeout = time.Second
		resp, err := roundtripper.New(base, p).RoundTrip(newRequest(t, "GET", anyURL, nil))
		r := outcome(t, resp, err)
		wantEnd(t, r, 2, roundtripper.ReasonOK)
		if first := r.Attempts[0]; first.Verdict.Reason != roundtripper.ReasonAttemptTimeout || first.StatusCode != 0 {
			t.Errorf("the first attempt: %+v", first)
		}
		if late.closes.Load() == 0 {
			t.Error("the late answer's body is open")
		}
		if got := drink(t, resp); got != "in time" {
			t.Errorf("body %q", got)
		}
	})
}
