package roundtripper

// This file holds the ends of a call: handing over, failing, giving up.

import (
	"context"
	"errors"
	"net/http"
)

// finish is the end by an attempt: its response if there is a sound one.
func (c *call) finish(rec *Attempt, resp *http.Response, stop Reason) (*http.Response, error) {
	if rec.Err != nil {
		err := rec.Err
		if stop == ReasonDeadline && !errors.Is(err, context.DeadlineExceeded) {
			err = &endedError{ended: errWouldPass, last: err}
		}
		if resp != nil {
			c.current.discard(resp, drainTime)
		}
		return c.fail(stop, err)
	}
	c.report.Stop = stop
	if resp.StatusCode >= 400 && stop != ReasonCanceled {
		failure := &StatusError{StatusCode: resp.StatusCode, Report: c.report}
		if served, _ := c.fallback(failure); served != nil {
			c.current.discard(resp, drainTime)
			resp = served
		}
	}
	return c.serve(resp), nil
}

// fail is the end without a response, unless there is something to fall back
// on.
func (c *call) fail(reason Reason, err error) (*http.Response, error) {
	if c.current != nil {
		c.current.finish()
	}
	c.release()
	c.openReport().Stop = reason
	failure := &Error{Reason: reason, Report: c.report, Err: err}
	if reason != ReasonCanceled && reason != ReasonInvalid {
		served, ferr := c.fallback(failure)
		if served != nil {
			return c.serve(served), nil
		}
		if ferr != nil {
			failure.Err = errors.Join(err, ferr)
		}
	}
	c.close(StateFailed)
	return nil, failure
}

// fallback asks for something to serve instead of a failure.
func (c *call) fallback(failure error) (*http.Response, error) {
	if c.policy.Fallback == nil {
		return nil, nil
	}
	c.report.Elapsed = c.elapsedNow()
	resp, err := c.policy.Fallback(c.orig, c.report, failure)
	if resp == nil {
		return nil, err
	}
	served := *resp // the caller's, who may serve one to many
	if served.Body == nil {
		served.Body = http.NoBody
	}
	if served.Header == nil {
		served.Header = make(http.Header)
	}
	c.report.Fallback = true
	return &served, nil
}

// serve is the end with a response.
func (c *call) serve(resp *http.Response) *http.Response {
	state := StateFailed
	if isDone(resp.StatusCode) || resp.StatusCode < 200 {
		state = StateDone
	}
	c.release()
	c.close(state)
	return c.handOver(resp)
}

// handOver makes resp the caller's. From here on its body keeps the attempt
// alive, if it needs to live at all.
func (c *call) handOver(resp *http.Response) *http.Response {
	a := c.current
	if a == nil { // served by Fallback, and nothing was sent
		a = &c.first
		a.call = c
		a.req = *c.orig.WithContext(a)
	}
	c.elapsed = c.elapsedNow()
	c.over = true
	if c.report != nil && c.report.Fallback {
		resp.Request = &a.req
	}
	a.handed = true
	if resp.Body == http.NoBody || ending(a.state.Load()) == finished {
		a.end(finished)
		a.out.leave(true)
	}
	return resp
}

// refuse is the end of a call that can't be made.
func (c *call) refuse(err error) (*http.Response, error) {
	return c.fail(ReasonInvalid, err)
}

// close tells the end, and closes the report.
func (c *call) close(state State) {
	c.report.Elapsed = c.elapsedNow()
	last := c.report.last()
	c.emit(state, last)
	c.over = true
	if last != nil {
		last.strip()
	}
}

// abandon cleans up after a panic or a Goexit from the base transport or from
// one of the policy's functions.
func (c *call) abandon() {
	if c.over {
		return
	}
	c.over = true
	c.slow.stop()
	if a := c.current; a != nil {
		if a.resp != nil {
			a.resp.Close()
		}
		a.finish()
	}
	c.release()
}

// release gives back what is held for an attempt that is not made, or came to
// nothing: the caller's body, and what the guards gave.
func (c *call) release() {
	if c.bodyFree {
		c.bodyFree = false
		c.orig.Body.Close()
	}
	c.giveBack()
}

// stopReason says which way the caller ended the call.
func (c *call) stopReason() Reason {
	if errors.Is(c.gaveUp(), context.DeadlineExceeded) {
		return ReasonDeadline
	}
	return ReasonCanceled
}

// blame is the end of a call by something that went wrong before an attempt was
// sent, unless the caller or the total timeout is behind it.
func (c *call) blame(a *attempt, reason Reason, err error) (Reason, error) {
	if ended := c.gaveUp(); ended != nil {
		return c.stopReason(), &endedError{ended, context.Cause(c.ctx()), err}
	}
	if a.ended() == byTotal {
		return ReasonDeadline, a.timedOut(err)
	}
	return reason, err
}

// endedBy is the error of a call that its caller ended: why, and what had gone
// wrong before.
func (c *call) endedBy(err error) error {
	ended := &endedError{ended: err, cause: context.Cause(c.ctx())}
	if last := c.report.last(); last != nil {
		ended.last = last.Err
		if ended.last == nil {
			ended.last = statusOnly(last.StatusCode)
		}
	}
	return ended
}
