package roundtripper_test

// This file tests Standard(): what may heal, what is safe to repeat, and its
// clocks and waits.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// Only what heals by itself: 500, 401 and 404 do not, a 421 wants another
// connection and a 425 follows early data, which net/http does not send
// (httpcomponents-client#708, hashicorp/go-retryablehttp#175).
func TestStandardStatuses(t *testing.T) {
	heal := []int{408, 429, 502, 503, 504}
	for _, status := range append(heal, 200, 202, 204, 301, 304, 400, 401, 403, 404, 405, 409, 410, 421, 422, 425, 500, 501, 505, 506, 508, 510, 511, 599) {
		twRun(t, fmt.Sprint(status), func(t *testing.T) {
			want, stop := 1, roundtripper.ReasonStatus
			switch {
			case slices.Contains(heal, status):
				want, stop = 4, roundtripper.ReasonRetriesSpent
			case status < 400:
				stop = roundtripper.ReasonOK
			}
			base := twScript(twStep{status: status, body: "the body"})
			resp, err := twDo(t, base, roundtripper.Standard(), twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			base.wantAttempts(t, want)
			if r := twReport(t, resp, err); r.Stop != stop {
				t.Errorf("stop %q, want %q", r.Stop, stop)
			}
			if got := twRead(t, resp); got != "the body" {
				t.Errorf("body %q", got)
			}
		})
	}
}

// What is no failure that heals by default may be made one.
func TestStatusesAreAddable(t *testing.T) {
	for _, status := range []int{421, 425, 500, 404} {
		p := roundtripper.Standard()
		p.Statuses, p.MaxDelay = append(p.Statuses, status), 0
		base := twScript(twStep{status: status})
		twDo(t, base, p, twRequest("GET", ""))
		base.wantAttempts(t, 4)
	}
}

// An unsafe write is never repeated on its own (go-resty/resty#777): not after
// a status, not after a broken connection, not after a timeout.
func TestStandardMethods(t *testing.T) {
	failures := map[string]twStep{
		"503":     {status: 503},
		"EOF":     {err: io.EOF},
		"timeout": {hang: true},
	}
	methods := map[string]bool{
		"": true, "GET": true, "HEAD": true, "OPTIONS": true, "TRACE": true, "PUT": true, "DELETE": true,
		"POST": false, "PATCH": false, "CONNECT": false, "PROPFIND": false, "put": false,
	}
	for name, step := range failures {
		twRun(t, name, func(t *testing.T) {
			p := roundtripper.Standard()
			p.TotalTimeout = 0
			for method, safe := range methods {
				for _, key := range []string{"", "8e03978e"} {
					req := twRequest("GET", "")
					req.Method = method
					if key != "" {
						req.Header.Set("Idempotency-Key", key)
					}
					resp, err := twDo(t, twScript(step), p, req)
					want, stop := 4, roundtripper.ReasonRetriesSpent
					if !safe && key == "" {
						want, stop = 1, roundtripper.ReasonNotRepeatable
					}
					if r := twReport(t, resp, err); len(r.Attempts) != want || r.Stop != stop {
						t.Errorf("method %q, key %q: %d attempts, stop %q, want %d, %q", method, key, len(r.Attempts), r.Stop, want, stop)
					}
				}
			}
		})
	}
}

// Full jitter: each wait is anywhere from nothing to min(8 s, 500 ms x 2^n),
// and not always the same.
func TestStandardJitter(t *testing.T) {
	limits := []time.Duration{500, 1000, 2000, 4000, 8000, 8000, 8000}
	twRun(t, "", func(t *testing.T) {
		p := roundtripper.Standard()
		p.MaxRetries, p.TotalTimeout = len(limits), 0
		lowest, highest := make([]time.Duration, len(limits)), make([]time.Duration, len(limits))
		for i := range lowest {
			lowest[i] = time.Hour
		}
		tr := roundtripper.New(twScript(twStep{status: 503}), p)
		for range 200 {
			resp, err := twCall(t, tr, twRequest("GET", ""))
			for i, a := range twReport(t, resp, err).Attempts[:len(limits)] {
				if a.Wait < 0 || a.Wait > limits[i]*twTick {
					t.Fatalf("wait %d was %v, want at most %v", i+1, a.Wait, limits[i]*twTick)
				}
				lowest[i], highest[i] = min(lowest[i], a.Wait), max(highest[i], a.Wait)
			}
		}
		for i, limit := range limits {
			// 200 draws miss a fifth of the range with probability 4e-20.
			if lowest[i] > limit*twTick/5 || highest[i] < limit*twTick*4/5 {
				t.Errorf("wait %d went from %v to %v of %v", i+1, lowest[i], highest[i], limit*twTick)
			}
		}
	})
}

// Retry-After is the minimum; jitter goes upward only (the ±33 % of
// justinrixx/retryhttp came too soon).
func TestStandardNeverSoonerThanAsked(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		tr := roundtripper.New(twScript(twStep{status: 429, header: []string{"Retry-After", "2"}}), roundtripper.Standard())
		var waits []time.Duration
		for range 50 {
			resp, err := twCall(t, tr, twRequest("GET", ""))
			for i, a := range twReport(t, resp, err).Attempts[:3] {
				if most := 2*time.Second + 500*twTick<<i; a.Wait < 2*time.Second || a.Wait > most {
					t.Fatalf("wait %v, want from 2 s to %v", a.Wait, most)
				}
				waits = append(waits, a.Wait)
			}
		}
		slices.Sort(waits)
		if n := len(slices.Compact(waits)); n < 100 {
			t.Errorf("%d different waits of 150: a crowd would come back together", n)
		}
	})
}

// A Retry-After that nobody would sit out ends the call with the response in
// hand, and says when to try again (hashicorp/go-retryablehttp#247).
func TestStandardRetryAfterTooLong(t *testing.T) {
	for _, tc := range []struct {
		name, value string
		want        time.Duration
		stop        roundtripper.Reason
	}{
		{"above MaxDelay", "31", 31 * time.Second, roundtripper.ReasonRetryAfterTooLong},
		{"a date above MaxDelay", "Sat, 01 Jan 2000 00:02:00 GMT", 2 * time.Minute, roundtripper.ReasonRetryAfterTooLong},
		{"the year 2100", "Fri, 01 Jan 2100 00:00:00 GMT", time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), roundtripper.ReasonRetryAfterTooLong},
		{"beyond the total timeout", "25", 25 * time.Second, roundtripper.ReasonDeadline},
		{"both: too long is judged first", "3600", time.Hour, roundtripper.ReasonRetryAfterTooLong},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(twStep{status: 503, header: []string{"Retry-After", tc.value}, body: "later"})
			resp, err := twDo(t, base, roundtripper.Standard(), twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			base.wantAttempts(t, 1)
			base.wantNow(t, 0)
			r := twReport(t, resp, err)
			if r.Stop != tc.stop {
				t.Errorf("stop %q, want %q", r.Stop, tc.stop)
			}
			if d, ok := r.RetryAfter(); d != tc.want || !ok {
				t.Errorf("RetryAfter %v %v, want %v", d, ok, tc.want)
			}
			if at, ok := r.RetryAt(); !ok || !at.Equal(base.start.Add(tc.want)) {
				t.Errorf("RetryAt %v %v", at, ok)
			}
			if got := twRead(t, resp); got != "later" {
				t.Errorf("body %q", got)
			}
		})
	}
	twRun(t, "MaxDelay itself is waited for", func(t *testing.T) {
		p := roundtripper.Standard()
		p.TotalTimeout = 0
		base := twScript(twStep{status: 503, header: []string{"Retry-After", "30"}}, twStep{status: 200})
		twDo(t, base, p, twRequest("GET", ""))
		base.wantAttempts(t, 2)
	})
}

// Three clocks: 8 s an attempt, 20 s in all.
func TestStandardClocks(t *testing.T) {
	twRun(t, "hanging", func(t *testing.T) {
		base := twScript(twStep{hang: true})
		resp, err := twDo(t, base, roundtripper.Standard(), twRequest("GET", ""))
		base.wantNow(t, 20*time.Second)
		base.wantAttempts(t, 3)
		if r := twReport(t, resp, err); r.Stop != roundtripper.ReasonDeadline {
			t.Errorf("stop %q", r.Stop)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !twIsTimeout(err) {
			t.Errorf("%v is no timeout", err)
		}
	})
	twRun(t, "the body counts in the total", func(t *testing.T) {
		p := roundtripper.Standard()
		p.AttemptTimeout = 0
		base := twScript(twStep{after: 12 * time.Second, status: 503}, twStep{status: 200, body: "abc", stall: true})
		resp, err := twDo(t, base, p, twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		base.wantNow(t, 20*time.Second)
		if string(got) != "abc" || !errors.Is(err, context.DeadlineExceeded) || !twIsTimeout(err) {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

// A JSON answer that breaks off is a failed attempt.
func TestStandardReadsJSONInsideTheAttempt(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{status: 200, header: twJSON, body: `{"a":`, cut: io.ErrUnexpectedEOF},
			twStep{status: 200, header: twJSON, body: `{"a":1}`})
		resp, err := twDo(t, base, roundtripper.Standard(), twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		base.wantAttempts(t, 2)
		if got := twRead(t, resp); got != `{"a":1}` {
			t.Errorf("body %q", got)
		}
	})
}

// What is Headless() alone: request IDs, envelopes, refusing malformed JSON.
func TestStandardLeavesTheRestAlone(t *testing.T) {
	twRun(t, "no request ID", func(t *testing.T) {
		base := twScript(twStep{status: 200, header: []string{"X-Request-Id", "theirs"}})
		req := twRequest("GET", "")
		resp, err := twDo(t, base, roundtripper.Standard(), req)
		if err != nil {
			t.Fatal(err)
		}
		if len(base.headers[0]) != 0 || twReport(t, resp, err).RequestID != "" {
			t.Errorf("headers %v", base.headers[0])
		}
	})
	twRun(t, "an envelope is not looked at", func(t *testing.T) {
		base := twScript(twStep{status: 503, header: twJSON, body: `{"retryable":false}`})
		twDo(t, base, roundtripper.Standard(), twRequest("GET", ""))
		base.wantAttempts(t, 4)
	})
	twRun(t, "whole but malformed JSON is the caller's business", func(t *testing.T) {
		base := twScript(twStep{status: 200, header: twJSON, body: `{"a":`})
		resp, err := twDo(t, base, roundtripper.Standard(), twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := twRead(t, resp); got != `{"a":` {
			t.Errorf("body %q", got)
		}
	})
	// justinrixx/retryhttp waits on any status.
	twRun(t, "202 with Retry-After", func(t *testing.T) {
		base := twScript(twStep{status: 202, header: []string{"Retry-After", "1"}})
		twDo(t, base, roundtripper.Standard(), twRequest("POST", "job"))
		base.wantAttempts(t, 1)
		base.wantNow(t, 0)
	})
}

// A preset is a value of one's own: changing one changes no other.
func TestPresetsShareNothing(t *testing.T) {
	for name, preset := range map[string]func() roundtripper.Policy{
		"Headless": roundtripper.Headless, "Standard": roundtripper.Standard, "Transfer": roundtripper.Transfer,
	} {
		mine := preset()
		clear(mine.Statuses)
		clear(mine.Methods)
		if p := preset(); slices.Contains(p.Statuses, 0) || slices.Contains(p.Methods, "") {
			t.Errorf("%s changed: %v %v", name, p.Statuses, p.Methods)
		}
	}
}

// What is given to New is copied: a later change to the slices means nothing.
func TestPolicyIsCopied(t *testing.T) {
	p := roundtripper.Policy{MaxRetries: 1, Statuses: []int{503}, Methods: []string{"GET"}}
	base := twScript(twStep{status: 503})
	tr := roundtripper.New(base, p)
	p.Statuses[0], p.Methods[0] = 404, "PUT"
	twCall(t, tr, twRequest("GET", ""))
	base.wantAttempts(t, 2)
}
