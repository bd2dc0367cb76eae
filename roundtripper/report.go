package roundtripper

// This file holds what a call tells about itself: its attempts and why it
// stopped.

import (
	"net/http"
	"time"

	"github.com/rebound-go/rebound/retryafter"
)

// Attempt is one attempt of a call.
//
// Request and Response are there for [Policy.Decide] and [Policy.Observe] to
// look at while the attempt is being judged; a [Report] keeps neither.
type Attempt struct {
	Number     int // from 1
	Request    *http.Request
	Response   *http.Response
	StatusCode int           // 0: no response
	Err        error         // nil: there was a response, and nothing wrong with its form
	Start      time.Time     // when it was handed to the base transport
	Elapsed    time.Duration // until the response, with what was read of it inside the attempt, or the failure
	Sent       bool          // false: it is certain that nothing of the request left
	Charged    bool          // false: the network was away, so it used no retry
	Verdict    Verdict
	Wait       time.Duration // the wait that followed; 0: none did
}

// Verdict says whether the failure of an attempt may heal, and why.
type Verdict struct {
	Retry  bool
	Reason Reason
}

// Reason says why an attempt got its [Verdict] and why a call stopped. Its text
// is stable and fit for logs and metrics.
type Reason string

// The reasons of attempts and calls.
const (
	ReasonOK                Reason = "ok"                   // 2xx or 3xx
	ReasonStatus            Reason = "status"               // another status: final, or may heal
	ReasonNetwork           Reason = "network"              // no response, or not all of it; may heal
	ReasonAttemptTimeout    Reason = "attempt-timeout"      // AttemptTimeout or IdleTimeout; may heal
	ReasonPermanent         Reason = "permanent"            // no response, and none to come: certificate, scheme, the caller's own body, Prepare
	ReasonEnvelope          Reason = "envelope"             // the server said not to retry
	ReasonContract          Reason = "contract"             // malformed success body, request-ID mismatch, Accept said no
	ReasonConflict          Reason = "conflict"             // 409 while an earlier attempt with this key may still be running
	ReasonNotRepeatable     Reason = "not-repeatable"       // a write without a key
	ReasonNotReplayable     Reason = "not-replayable"       // a body that can't be sent again
	ReasonRetriesSpent      Reason = "retries-spent"        // MaxRetries is used up
	ReasonBudgetSpent       Reason = "budget-spent"         // the retry budget is empty
	ReasonBreakerOpen       Reason = "breaker-open"         // the host's breaker is open
	ReasonRetryAfterTooLong Reason = "retry-after-too-long" // Retry-After is above MaxDelay
	ReasonDeadline          Reason = "deadline"             // TotalTimeout or the context's deadline, reached or certain to be
	ReasonCanceled          Reason = "canceled"             // the caller gave up
	ReasonOffline           Reason = "offline"              // no network, for as long as the gate has patience
	ReasonNested            Reason = "nested"               // an outer call of ours is already retrying
	ReasonInvalid           Reason = "invalid"              // policy, URL, request ID or key, before anything was sent
)

// Report is what became of one call. [ReportFrom] gives that of a response,
// [Error] carries that of a failure.
//
// It is the call's own while the call runs: a [Policy.Observe], a
// [Policy.Decide] or a [Policy.Fallback] may read it until it returns. Once the
// call is over nothing writes to it, and many goroutines may read it.
type Report struct {
	RequestID string    // empty: the policy has no RequestIDHeader
	Key       string    // the idempotency key; empty: none
	Attempts  []Attempt // in order; empty: nothing was sent
	Stop      Reason    // why the call ended; empty while it runs
	Elapsed   time.Duration
	Fallback  bool // the response is what Policy.Fallback served

	retryAfter    time.Duration // of the last response
	hasRetryAfter bool
	answered      time.Time // when the last response came
}

// RetryAfter is what the last response asked for, as the call read it: the
// server's own figure, cut off at MaxDelay under [ClampRetryAfter]. Where an open
// breaker refused the call it is the time until its next trial. ok is false if
// nothing was asked for, nor is it of a nil Report.
func (r *Report) RetryAfter() (d time.Duration, ok bool) {
	if r == nil {
		return 0, false
	}
	return r.retryAfter, r.hasRetryAfter
}

// RetryAt is the time before which there is no use in another call:
// [Report.RetryAfter], counted from the response or the refusal that asked for
// it. ok is false if none did.
func (r *Report) RetryAt() (at time.Time, ok bool) {
	if !r.hasRetryAfter {
		return time.Time{}, false
	}
	return r.answered.Add(r.retryAfter), true
}

// last is the last attempt; nil: there was none.
func (r *Report) last() *Attempt {
	if r == nil || len(r.Attempts) == 0 {
		return nil
	}
	return &r.Attempts[len(r.Attempts)-1]
}

// waited is the wait before the last attempt.
func (r *Report) waited() time.Duration {
	if len(r.Attempts) < 2 {
		return 0
	}
	return r.Attempts[len(r.Attempts)-2].Wait
}

// note keeps what a response, which came at the given time, asked for.
func (r *Report) note(resp *http.Response, p *Policy, at time.Time) {
	d, ok := retryafter.FromResponse(resp, at)
	if p.RetryAfter == ClampRetryAfter {
		d = min(d, p.MaxDelay)
	}
	r.retryAfter, r.hasRetryAfter, r.answered = d, ok, at
}

// openReport makes the report if there is none.
func (c *call) openReport() *Report {
	if c.report == nil {
		c.report = &Report{RequestID: c.requestID[0], Key: c.keyText()}
	}
	return c.report
}

// record is what the report says of a; it is made if it is not there.
func (c *call) record(a *attempt) *Attempt {
	r := c.openReport()
	if len(r.Attempts) < int(a.number) {
		if last := c.report.last(); last != nil {
			last.strip()
		}
		if r.Attempts == nil {
			r.Attempts = make([]Attempt, 0, min(int(c.maxRetries), 1)+1)
		}
		r.Attempts = append(r.Attempts, Attempt{
			Number:  int(a.number),
			Request: &a.req,
			Start:   c.start.Add(a.begun),
			Sent:    true,
			Charged: true,
		})
	}
	return &r.Attempts[len(r.Attempts)-1]
}

// reportOf is the report behind resp. A call that succeeded at once has made
// none: what it would say is still there.
func (c *call) reportOf(resp *http.Response) *Report {
	if c.report != nil {
		return c.report
	}
	r := &Report{
		RequestID: c.requestID[0],
		Key:       c.keyText(),
		Attempts: []Attempt{{
			Number:     1,
			StatusCode: resp.StatusCode,
			Start:      c.start.Add(c.first.begun),
			Elapsed:    c.elapsed - c.first.begun,
			Sent:       true,
			Charged:    true,
			Verdict:    Verdict{Reason: ReasonOK},
		}},
		Stop:    ReasonOK,
		Elapsed: c.elapsed,
	}
	r.note(resp, c.policy, c.start.Add(c.elapsed))
	return r
}

// strip takes out of a record what only its judges and the observer may see.
func (rec *Attempt) strip() { rec.Request, rec.Response = nil, nil }

// ReportFrom gives the report of the call that resp came from; ok is false where
// it came from no [Transport] of ours. It finds the report through
// resp.Request, so it works behind an [http.Client] and any wrapper of the body.
// Only the zero [Policy], which leaves the request as it is, has its mark on the
// body instead, and measures no time: [Report.RetryAt] then counts from the call
// of ReportFrom. It may be called at any time after the call, by many goroutines.
func ReportFrom(resp *http.Response) (r *Report, ok bool) {
	if resp == nil {
		return nil, false
	}
	if hasPassed(resp) {
		return passedReport(resp), true
	}
	if resp.Request == nil {
		return nil, false
	}
	a := scopeOf(resp.Request.Context()).outer
	if a == nil {
		return nil, false
	}
	return a.call.reportOf(resp), true
}
