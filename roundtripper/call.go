package roundtripper

// This file holds a call: its loop, from the first attempt to the last.

import (
	"context"
	"math"
	"net/http"
	"slices"
	"time"
)

// call is one RoundTrip and everything that it needs, in one value. Its first
// attempt is part of it, and the report is made when somebody wants it: a call
// that succeeds at once allocates little else.
//
// Its states are those of [State]: sending, then classified, then waiting and
// sending again, until it is done or has failed.
type call struct {
	t      *Transport
	policy *Policy
	orig   *http.Request // the caller's own; never written to
	start  time.Time

	requestID [1]string  // as the value of its header
	key       *[1]string // likewise; nil: none

	maxRetries int32
	charged    int32 // attempts that count
	nested     bool  // it would repeat, but a call around it does
	sole       bool  // it, or a call around it, repeats: calls inside of it must not
	unsure     bool  // an earlier attempt was sent and never answered
	bodyFree   bool  // no attempt has the caller's body, and nothing was read of it
	over       bool

	current *attempt
	report  *Report       // nil: nobody has asked yet
	slow    *slowWatch    // nil: nobody wants to know
	guards  *guards       // nil: the policy has none
	elapsed time.Duration // at the end
	first   attempt
}

func (c *call) ctx() context.Context { return c.orig.Context() }

func (c *call) elapsedNow() time.Duration { return time.Since(c.start) }

// open reads what the context and the request say about the call. Its error is
// why nothing may be sent.
func (c *call) open() error {
	c.bodyFree = hasBody(c.orig)
	s := scopeOf(c.ctx())
	invalid := c.t.invalid
	if s.policy != nil {
		c.policy, invalid = s.policy, s.invalid
	}
	c.maxRetries = int32(min(c.policy.MaxRetries, math.MaxInt32))
	c.sole = c.maxRetries > 0 || s.noRetry
	if s.noRetry {
		c.maxRetries = 0
	}
	if s.outer != nil && s.outer.call.sole {
		c.nested, c.sole = c.maxRetries > 0, true
		c.maxRetries = 0
	}
	if invalid != nil {
		return invalid
	}
	if err := validateURL(c.orig); err != nil {
		return err
	}
	if err := c.identify(s.key); err != nil {
		return err
	}
	c.guard(s.outer)
	c.watchSlow()
	return nil
}

// run is the loop.
func (c *call) run() (*http.Response, error) {
	defer c.abandon()
	for a := &c.first; ; a = new(attempt) {
		if reason, err := c.begin(a); err != nil {
			return c.fail(reason, err)
		}
		resp, err := c.send(a)
		if c.quick(resp, err) {
			c.settle(a, resp.StatusCode, nil, Verdict{Reason: ReasonOK})
			return c.handOver(resp), nil
		}
		rec := c.judge(a, resp, err)
		wait, stop := c.plan(a, rec)
		if stop != "" {
			return c.finish(rec, resp, stop)
		}
		rec.Wait = wait
		c.letGo(a, resp, wait)
		c.emit(StateWaiting, rec)
		rec.Response = nil
		if reason, err := c.sleep(wait); err != nil {
			return c.fail(reason, c.endedBy(err))
		}
	}
}

// begin makes a ready to be sent. Its error ends the call, for the reason that
// comes with it.
func (c *call) begin(a *attempt) (Reason, error) {
	a.call = c
	if reason, err := c.enter(); err != nil {
		return reason, err
	}
	before := c.current
	c.current = a
	c.charged++
	a.number = int32(c.attempts() + 1)
	a.silence.Store(notWaiting)
	a.req = *c.orig.WithContext(a)
	if err := c.giveBody(a, before); err != nil {
		return c.blame(a, ReasonNotReplayable, err)
	}
	c.giveHeaders(a)
	if c.policy.Prepare != nil {
		if err := c.prepare(a); err != nil {
			return c.blame(a, ReasonPermanent, err)
		}
	}
	return "", nil
}

// enter waits until an attempt may be made at all.
func (c *call) enter() (Reason, error) {
	if err := c.gaveUp(); err != nil {
		return c.stopReason(), c.endedBy(err)
	}
	if total := c.policy.TotalTimeout; total > 0 && c.attempts() > 0 && c.elapsedNow() >= total {
		return ReasonDeadline, c.endedBy(&timeoutError{"total timeout", total, nil})
	}
	if c.policy.ShareRetryAfter {
		if reason, err := c.holdBack(); err != nil {
			return reason, err
		}
	}
	if c.guards != nil {
		return c.admit()
	}
	return "", nil
}

// attempts is how many have been made and judged.
func (c *call) attempts() int {
	if c.report == nil {
		return 0
	}
	return len(c.report.Attempts)
}

// send hands the attempt to the base transport. It returns an error with a
// response where there is something wrong with its form.
func (c *call) send(a *attempt) (*http.Response, error) {
	p := c.policy
	if a != &c.first || p.Prepare != nil || p.ShareRetryAfter || c.guards != nil {
		a.begun = c.elapsedNow() // else it is the start of the call
	}
	if p.Observe != nil {
		rec := c.record(a)
		c.emit(StateSending, rec)
		a.begun = c.elapsedNow() // the observer's time is not the attempt's
		rec.Start = c.start.Add(a.begun)
	}
	c.guards.spend()
	a.startClock()
	resp, err := c.t.base.RoundTrip(&a.req)
	a.hush()
	return c.receive(a, resp, err)
}

// receive takes what the base transport returned, and reads and checks what
// the policy wants read and checked inside the attempt.
func (c *call) receive(a *attempt, resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		if resp != nil && resp.Body != nil {
			resp.Body.Close() // a base that breaks its contract, survived
		}
		return nil, err
	}
	if resp == nil {
		return nil, errNoResponse
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	a.resp = resp.Body
	if r := resp.Request; r != &a.req && (r == nil || scopeOf(r.Context()).outer != a) {
		resp.Request = &a.req // for ReportFrom, and for Accept
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// The connection is the caller's now, whole and under no timeout.
		a.release()
		return resp, nil
	}
	if resp.Body != http.NoBody {
		if e := a.ended(); e == byAttempt || e == byIdle || e == byTotal {
			resp.Body.Close() // nobody could read it any more
			return nil, errTooLate
		}
		resp.Body = (*responseBody)(a)
	}
	return resp, c.inspect(a, resp)
}

// quick reports whether the call has succeeded at once and nobody is to be
// told: then the end costs a look at the clock.
func (c *call) quick(resp *http.Response, err error) bool {
	return err == nil && c.report == nil && c.policy.Decide == nil &&
		isDone(resp.StatusCode) && !slices.Contains(c.policy.Statuses, resp.StatusCode)
}

func isDone(status int) bool { return status >= 200 && status <= 399 }

// letGo gives up an attempt for which there will be another one after wait, and
// its response. That takes no time which the wait needs.
func (c *call) letGo(a *attempt, resp *http.Response, wait time.Duration) {
	if resp == nil {
		a.finish()
		return
	}
	left, _ := c.remaining()
	a.discard(resp, left-wait)
}

// sleep waits, and is cut short by the end of the caller's context. It does not
// begin if it would outlast the deadline. Its error ends the call.
func (c *call) sleep(d time.Duration) (Reason, error) {
	if err := c.gaveUp(); err != nil {
		return c.stopReason(), err
	}
	if left, bounded := c.remaining(); bounded && d >= left {
		return ReasonDeadline, errWouldPass
	}
	if d <= 0 {
		return "", nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return "", nil
	case <-c.ctx().Done():
	case <-legacyCancel(c.orig):
	}
	return c.stopReason(), c.gaveUp()
}

// gaveUp is the error with which the caller ended the call; nil: it has not. A
// deadline that has passed counts, although a context may take a moment to say
// so: whoever failed because of it may be quicker.
func (c *call) gaveUp() error {
	ctx := c.ctx()
	if err := ctx.Err(); err != nil {
		return err
	}
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	select {
	case <-legacyCancel(c.orig):
		return context.Canceled
	default:
		return nil
	}
}

// legacyCancel is the way to cancel a request from before there were contexts;
// [http.Client.Timeout] still goes it too.
func legacyCancel(req *http.Request) <-chan struct{} {
	//lint:ignore SA1019 a caller who uses it must be heard
	return req.Cancel
}
