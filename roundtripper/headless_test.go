package roundtripper_test

// This file tests Headless(), promise by promise.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// Two waits, 100 ms and 200 ms, exactly; and none after the last attempt
// (go-resty/resty#443).
func TestHeadlessWaits(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script []twStep
		want   []time.Duration
		end    time.Duration
		status int
		stop   roundtripper.Reason
	}{
		{"success at once", []twStep{{status: 200}}, []time.Duration{0}, 0, 200, roundtripper.ReasonOK},
		{"503 200", []twStep{{status: 503}, {status: 200}}, []time.Duration{0, 100 * twTick}, 100 * twTick, 200, roundtripper.ReasonOK},
		{"503 503 200", []twStep{{status: 503}, {status: 503}, {status: 200}}, []time.Duration{0, 100 * twTick, 300 * twTick}, 300 * twTick, 200, roundtripper.ReasonOK},
		{"503 for ever", []twStep{{status: 503}}, []time.Duration{0, 100 * twTick, 300 * twTick}, 300 * twTick, 503, roundtripper.ReasonRetriesSpent},
		{"the wait begins with the response", []twStep{{after: time.Second, status: 503}, {status: 200}}, []time.Duration{0, 1100 * twTick}, 1100 * twTick, 200, roundtripper.ReasonOK},
		{"another final status at the end", []twStep{{status: 503}, {status: 404}}, []time.Duration{0, 100 * twTick}, 100 * twTick, 404, roundtripper.ReasonStatus},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(tc.script...)
			resp, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			base.wantStarts(t, tc.want...)
			base.wantNow(t, tc.end)
			if resp.StatusCode != tc.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tc.status)
			}
			if r := twReport(t, resp, err); r.Stop != tc.stop || r.Elapsed != tc.end {
				t.Errorf("stop %q after %v, want %q after %v", r.Stop, r.Elapsed, tc.stop, tc.end)
			}
		})
	}
}

func TestHeadlessStatusesThatMayHeal(t *testing.T) {
	for _, status := range []int{429, 500, 502, 503, 504} {
		twRun(t, fmt.Sprint(status), func(t *testing.T) {
			base := twScript(twStep{status: status})
			twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
			base.wantAttempts(t, 3)
		})
	}
}

// Failures that never retry: one request each.
func TestHeadlessNeverRetries(t *testing.T) {
	type row struct {
		name string
		step twStep
		stop roundtripper.Reason
		fail bool // no response comes back
	}
	rows := []row{
		{"envelope", twStep{status: 503, header: twJSON, body: `{"retryable": false}`}, roundtripper.ReasonEnvelope, false},
		{"envelope in error", twStep{status: 500, header: twJSON, body: `{"error": {"code": 7, "retryable": false}}`}, roundtripper.ReasonEnvelope, false},
		{"envelope on 429", twStep{status: 429, header: twJSON, body: `{"retryable":false}`}, roundtripper.ReasonEnvelope, false},
		{"404 with retryable true", twStep{status: 404, header: twJSON, body: `{"retryable": true}`}, roundtripper.ReasonStatus, false},
		{"malformed success", twStep{status: 200, header: twJSON, body: `{"a":`}, roundtripper.ReasonContract, true},
		{"request-ID mismatch", twStep{status: 200, header: []string{"X-Request-Id", "someone else's"}}, roundtripper.ReasonContract, true},
		{"request-ID mismatch on 503", twStep{status: 503, header: []string{"X-Request-Id", "someone else's"}}, roundtripper.ReasonContract, true},
	}
	for _, status := range []int{400, 401, 402, 403, 404, 408, 422, 425, 405, 409, 410, 421, 501, 505, 511} {
		rows = append(rows, row{fmt.Sprint(status), twStep{status: status}, roundtripper.ReasonStatus, false})
	}
	for _, tc := range rows {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(tc.step)
			resp, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
			base.wantAttempts(t, 1)
			base.wantNow(t, 0)
			if r := twReport(t, resp, err); r.Stop != tc.stop {
				t.Errorf("stop %q, want %q", r.Stop, tc.stop)
			}
			if (err != nil) != tc.fail {
				t.Fatalf("error %v, want one: %v", err, tc.fail)
			}
			if err != nil {
				base.wantClosed(t)
			} else if got := twRead(t, resp); got != tc.step.body {
				t.Errorf("body %q, want %q", got, tc.step.body)
			}
		})
	}
}

// A client that only reads repeats GET and nothing else.
func TestHeadlessRepeatsOnlyGET(t *testing.T) {
	for method, want := range map[string]int{"GET": 3, "": 3, "HEAD": 1, "OPTIONS": 1, "POST": 1, "PUT": 1, "DELETE": 1, "get": 1} {
		twRun(t, "method="+method, func(t *testing.T) {
			base := twScript(twStep{status: 503})
			req := twRequest("GET", "")
			req.Method = method
			resp, err := twDo(t, base, roundtripper.Headless(), req)
			base.wantAttempts(t, want)
			if r := twReport(t, resp, err); want == 1 && r.Stop != roundtripper.ReasonNotRepeatable {
				t.Errorf("stop %q", r.Stop)
			}
		})
	}
	t.Run("a key means nothing", func(t *testing.T) {
		base := twScript(twStep{status: 503})
		req := twRequest("POST", "")
		req.Header.Set("Idempotency-Key", "k")
		twDo(t, base, roundtripper.Headless(), req)
		base.wantAttempts(t, 1)
	})
}

// Retry-After replaces the wait, is clamped to MaxDelay, and is ignored where
// it is invalid.
func TestHeadlessRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"0":                             0,
		"1":                             time.Second,
		"1.5":                           1500 * twTick,
		".25":                           250 * twTick,
		" 2 ":                           2 * time.Second,
		"1e-1":                          100 * twTick,
		"0x2":                           2 * time.Second,
		"0.0004":                        0, // rounded to milliseconds
		"0.0005":                        1 * twTick,
		"5":                             5 * time.Second,
		"6":                             5 * time.Second,
		"3600":                          5 * time.Second,
		"9223372036854775807":           5 * time.Second, // hashicorp/go-retryablehttp#247
		"Sat, 01 Jan 2000 00:00:03 GMT": 3 * time.Second,
		"Sat, 01 Jan 2000 01:00:00 GMT": 5 * time.Second,
		"Fri, 31 Dec 1999 23:59:00 GMT": 0, // in the past
		"":                              100 * twTick,
		"soon":                          100 * twTick,
		"-1":                            100 * twTick,
		"Infinity":                      100 * twTick,
		"1e999":                         100 * twTick,
		"NaN":                           100 * twTick,
		"3 s":                           100 * twTick,
	} {
		twRun(t, "value="+value, func(t *testing.T) {
			base := twScript(twStep{status: 503, header: []string{"Retry-After", value}}, twStep{status: 200})
			twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
			base.wantStarts(t, 0, want)
		})
	}
}

// The parsed, bounded value is there after failure.
func TestHeadlessRetryAfterOfTheError(t *testing.T) {
	for _, tc := range []struct {
		name   string
		header []string
		want   time.Duration
		ok     bool
	}{
		{"bounded", []string{"Retry-After", "2"}, 2 * time.Second, true},
		{"clamped", []string{"Retry-After", "120"}, 5 * time.Second, true},
		{"zero", []string{"Retry-After", "0"}, 0, true},
		{"invalid", []string{"Retry-After", "soon"}, 0, false},
		{"none", nil, 0, false},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(twStep{status: 429, header: tc.header})
			resp, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			var failed *roundtripper.StatusError
			if !errors.As(roundtripper.CheckStatus(resp), &failed) {
				t.Fatal("CheckStatus gave no StatusError")
			}
			if d, ok := failed.RetryAfter(); d != tc.want || ok != tc.ok {
				t.Errorf("RetryAfter %v %v, want %v %v", d, ok, tc.want, tc.ok)
			}
			at, ok := failed.Report.RetryAt()
			if ok != tc.ok || ok && !at.Equal(time.Now().Add(tc.want)) {
				t.Errorf("RetryAt %v %v", at, ok)
			}
		})
	}
}

// Zero is literal: no retries, no waits (RTK and cohere-go took it for "the
// default").
func TestHeadlessConfigured(t *testing.T) {
	ra := []string{"Retry-After", "60"}
	for _, tc := range []struct {
		name   string
		change func(*roundtripper.Policy)
		step   twStep
		want   []time.Duration
	}{
		{"MaxRetries 0", func(p *roundtripper.Policy) { p.MaxRetries = 0 }, twStep{status: 503}, []time.Duration{0}},
		{"MaxRetries 1", func(p *roundtripper.Policy) { p.MaxRetries = 1 }, twStep{status: 503}, []time.Duration{0, 100 * twTick}},
		{"MaxDelay 0", func(p *roundtripper.Policy) { p.MaxDelay = 0 }, twStep{status: 503}, []time.Duration{0, 0, 0}},
		{"MaxDelay 0, Retry-After 60", func(p *roundtripper.Policy) { p.MaxDelay = 0 }, twStep{status: 503, header: ra}, []time.Duration{0, 0, 0}},
		{"MaxDelay 150 ms", func(p *roundtripper.Policy) { p.MaxDelay = 150 * twTick }, twStep{status: 503}, []time.Duration{0, 100 * twTick, 250 * twTick}},
		{"5 s, one retry, 2 s", func(p *roundtripper.Policy) {
			p.AttemptTimeout, p.MaxRetries, p.MaxDelay = 5*time.Second, 1, 2*time.Second
		}, twStep{after: time.Hour, status: 503}, []time.Duration{0, 5100 * twTick}},
		{"5 s, one retry, 2 s, Retry-After 60", func(p *roundtripper.Policy) {
			p.AttemptTimeout, p.MaxRetries, p.MaxDelay = 5*time.Second, 1, 2*time.Second
		}, twStep{status: 503, header: ra}, []time.Duration{0, 2 * time.Second}},
		{"eight retries: doubled up to MaxDelay", func(p *roundtripper.Policy) { p.MaxRetries = 8 }, twStep{status: 503},
			[]time.Duration{0, 100 * twTick, 300 * twTick, 700 * twTick, 1500 * twTick, 3100 * twTick, 6300 * twTick, 11300 * twTick, 16300 * twTick}},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p := roundtripper.Headless()
			tc.change(&p)
			base := twScript(tc.step)
			twDo(t, base, p, twRequest("GET", ""))
			base.wantStarts(t, tc.want...)
		})
	}
}

// The attempt timeout is 8 s, each attempt has its own, and it covers the body.
func TestHeadlessAttemptTimeout(t *testing.T) {
	twRun(t, "no headers", func(t *testing.T) {
		base := twScript(twStep{hang: true})
		_, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
		base.wantStarts(t, 0, 8100*twTick, 16300*twTick)
		base.wantNow(t, 24300*twTick)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is no DeadlineExceeded", err)
		}
	})
	twRun(t, "JSON body stalls: repeated", func(t *testing.T) {
		base := twScript(twStep{after: 7 * time.Second, status: 200, header: twJSON, body: `{"a"`, stall: true},
			twStep{status: 200, header: twJSON, body: `{"a":1}`})
		resp, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		base.wantStarts(t, 0, 8100*twTick)
		if got := twRead(t, resp); got != `{"a":1}` {
			t.Errorf("body %q", got)
		}
	})
	twRun(t, "another body stalls in the caller's hands", func(t *testing.T) {
		base := twScript(twStep{after: 7 * time.Second, status: 200, body: "abc", stall: true})
		resp, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		base.wantNow(t, 7*time.Second)
		got, err := io.ReadAll(resp.Body)
		base.wantNow(t, 8*time.Second)
		if string(got) != "abc" || !errors.Is(err, context.DeadlineExceeded) || !twIsTimeout(err) {
			t.Errorf("read %q, %v", got, err)
		}
		resp.Body.Close()
		base.wantAttempts(t, 1)
	})
}

// The worst that can happen takes 3 x 8 s + 2 x 5 s = 34 s.
func TestHeadlessWorstCaseHappens(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		late := twStep{after: 8*time.Second - 1, status: 503, header: []string{"Retry-After", "60"}}
		base := twScript(late, late, twStep{hang: true})
		if _, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", "")); !twIsTimeout(err) {
			t.Errorf("%v is no timeout", err)
		}
		base.wantNow(t, 34*time.Second-2)
	})
}

// A context that is over at an attempt's boundary is terminal, and one that
// ends during a wait ends the wait: a sleep that is deaf to it would go on.
func TestHeadlessCanceled(t *testing.T) {
	twRun(t, "before the call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		base := twScript(twStep{status: 200})
		_, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", "").WithContext(ctx))
		base.wantAttempts(t, 0)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v is no Canceled", err)
		}
	})
	twRun(t, "during the wait", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*twTick, cancel)
		base := twScript(twStep{status: 503})
		resp, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", "").WithContext(ctx))
		base.wantStarts(t, 0)
		base.wantNow(t, 50*twTick)
		base.wantClosed(t)
		if r := twReport(t, resp, err); !errors.Is(err, context.Canceled) || r.Stop != roundtripper.ReasonCanceled {
			t.Errorf("%v, stop %q", err, r.Stop)
		}
	})
}
