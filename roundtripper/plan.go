package roundtripper

// This file holds the decision after a failure that may heal: whether there is
// another attempt, and when.

import (
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// plan says how long to wait before the next attempt, or else why there is
// none. The order of its questions is the order of their reasons: what is
// certain about the request comes before what is a matter of time.
func (c *call) plan(a *attempt, rec *Attempt) (wait time.Duration, stop Reason) {
	switch {
	case !rec.Verdict.Retry:
		return 0, rec.Verdict.Reason
	case c.gaveUp() != nil:
		return 0, c.stopReason()
	case c.nested && rec.Charged:
		return 0, ReasonNested
	case c.charged > c.maxRetries:
		return 0, ReasonRetriesSpent
	case !c.repeatable(rec):
		return 0, ReasonNotRepeatable
	case !c.claimBody(a):
		return 0, ReasonNotReplayable
	}
	if rec.Charged {
		var ok bool
		if wait, ok = c.delay(rec); !ok {
			return 0, ReasonRetryAfterTooLong
		}
	} // else the gate does the waiting
	if left, bounded := c.remaining(); bounded && wait >= left {
		return 0, ReasonDeadline // no sleep into a deadline
	}
	return wait, c.afford(rec)
}

// repeatable reports whether sending the request again can do no harm.
func (c *call) repeatable(rec *Attempt) bool {
	return c.key != nil ||
		slices.Contains(c.policy.Methods, methodOf(c.orig)) ||
		c.policy.RetryUnsent && !rec.Sent
}

// claimBody makes sure that the body can be sent again: because it can be had
// anew, because all of it was kept, or because the base never touched it, which
// it can't do any more from here on.
func (c *call) claimBody(a *attempt) bool {
	switch {
	case a.out == nil || c.orig.GetBody != nil || a.out.keeper() != nil:
		return true
	}
	c.bodyFree = a.out.takeBack()
	return c.bodyFree
}

// delay is the wait before the next attempt. ok is false if the server asked
// for more than the policy has patience for.
func (c *call) delay(rec *Attempt) (wait time.Duration, ok bool) {
	p := c.policy
	var d time.Duration
	if p.Backoff != nil {
		d = max(0, p.Backoff(int(c.charged)-1, c.report.waited()))
	}
	asked, has := c.report.RetryAfter()
	if !has || rec.Response == nil || p.RetryAfter == IgnoreRetryAfter {
		return min(d, p.MaxDelay), true
	}
	if p.RetryAfter == ClampRetryAfter {
		return asked, true // clamped when it was read
	}
	if asked > p.MaxDelay {
		return 0, false
	}
	if p.MaxDelay == 0 {
		return 0, true
	}
	return after(asked, d), true
}

// remaining is the time left until the call's own deadline or its context's.
func (c *call) remaining() (left time.Duration, bounded bool) {
	left = math.MaxInt64
	if d := c.policy.TotalTimeout; d > 0 {
		left, bounded = d-c.elapsedNow(), true
	}
	if at, ok := c.ctx().Deadline(); ok {
		left, bounded = min(left, time.Until(at)), true
	}
	return left, bounded
}

// giveBody gives the attempt, which comes after another one or is the first, a
// body of its own.
func (c *call) giveBody(a, before *attempt) error {
	if !hasBody(c.orig) {
		return nil
	}
	var src io.ReadCloser
	var kept *requestBody
	if before != nil {
		kept = before.out.keeper()
	}
	keep := int64(-1)
	switch {
	case c.bodyFree:
		src, c.bodyFree = c.orig.Body, false
		if c.orig.GetBody == nil && c.policy.ReplayBuffer >= max(c.orig.ContentLength, 1) && c.maxRetries > 0 {
			keep = c.policy.ReplayBuffer
		}
	case kept != nil:
		a.req.GetBody = kept.copy
		src, _ = kept.copy()
	case c.orig.GetBody == nil:
		return errBodyLength // found out since it was kept
	default:
		var err error
		if src, err = c.orig.GetBody(); err == nil && src == nil {
			err = errNoBody
		}
		if err != nil {
			return err
		}
	}
	if kept == nil && c.passesBody(src) {
		a.req.Body = src
		return nil
	}
	a.out = &requestBody{attempt: a, src: src, size: c.orig.ContentLength, keep: keep, kept: kept}
	a.req.Body = a.out
	return nil
}

// giveHeaders gives the attempt headers of its own, if it needs any that the
// caller did not set. Prepare may change all of them, and the URL.
func (c *call) giveHeaders(a *attempt) {
	p := c.policy
	h := a.req.Header
	newID := c.requestID[0] != "" && len(h[p.RequestIDHeader]) == 0
	newKey := c.key != nil && (len(h[p.KeyHeader]) == 0 || h[p.KeyHeader][0] == "")
	switch {
	case a != &c.first && p.Prepare == nil && p.AttemptHeader == "":
		a.req.Header = c.first.req.Header // nothing in it would be different
		return
	case p.Prepare != nil:
		if h = h.Clone(); h == nil {
			h = make(http.Header)
		}
		u := *a.req.URL
		a.req.URL = &u
	case newID, newKey, p.AttemptHeader != "":
		own := make(http.Header, len(h)+3)
		for name, values := range h {
			own[name] = values
		}
		h = own
	default:
		return
	}
	c.name(h)
	if p.AttemptHeader != "" && !(c.nested && h.Get(p.AttemptHeader) != "") {
		// A call around this one has told the server already, and counts for it.
		h[p.AttemptHeader] = []string{strconv.Itoa(int(a.number))}
	}
	a.req.Header = h
}

// prepare calls the policy's Prepare. The call's names are the same in every
// attempt whatever it does to them: a write under two keys is two writes.
func (c *call) prepare(a *attempt) error {
	if err := c.policy.Prepare(&a.req, int(a.number)); err != nil {
		return err
	}
	if a.req.Header == nil {
		a.req.Header = make(http.Header)
	}
	c.name(a.req.Header)
	return nil
}
