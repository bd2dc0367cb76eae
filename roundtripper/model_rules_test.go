package roundtripper_test

// This file holds the model of TestModel: the rules once more, in the plainest
// words, and what must hold whatever the rules come to.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// twJudged is what the rules make of one attempt.
type twJudged struct {
	reason roundtripper.Reason
	heals  bool
	failed bool // there is no response to hand over
	silent bool // there was none at all
	sent   bool
}

// predict says what must become of the call.
func (c *twCase) predict() *twOutcome {
	p, out := c.policy, &twOutcome{}
	retries, total, foreseen := p.MaxRetries, twNever, twNever
	if c.without {
		retries = 0
	}
	if p.TotalTimeout > 0 {
		total = p.TotalTimeout
	}
	if c.deadline && !c.hidden {
		foreseen = c.ctxEnd
	}
	untouched, kept := true, false // the caller's body, and a copy of all of it
	unsure := false                // an attempt was sent and never answered
	for now, n := time.Duration(0), 1; ; n++ {
		if c.ctxEnd <= now {
			out.end, out.stop = now, c.caller()
			return out
		}
		out.starts = append(out.starts, now)
		step := c.steps[n-1]
		if untouched && !step.unread {
			untouched, kept = false, retries > 0 && int64(len(c.body)) <= p.ReplayBuffer
		}
		var a twJudged
		now, a = c.judge(step, now, total, unsure)
		unsure = unsure || a.silent && a.sent
		out.end, out.stop, out.status = now, a.reason, step.status
		if a.failed {
			out.status = 0
		}
		if !a.heals {
			return out
		}
		wait, patient := c.wait(n, a)
		switch {
		case n > retries:
			out.stop = roundtripper.ReasonRetriesSpent
		case !c.hasKey() && !slices.Contains(p.Methods, c.verb()) && !(p.RetryUnsent && !a.sent):
			out.stop = roundtripper.ReasonNotRepeatable
		case c.body != "" && !c.getBody && !untouched && !kept:
			out.stop = roundtripper.ReasonNotReplayable
		case !patient:
			out.stop = roundtripper.ReasonRetryAfterTooLong
		case now+wait >= total || now+wait >= foreseen:
			out.stop = roundtripper.ReasonDeadline
		case now+wait >= c.ctxEnd:
			out.end, out.status, out.stop = c.ctxEnd, 0, c.caller()
		default:
			now += wait
			continue
		}
		return out
	}
}

// judge says how the attempt that starts at now ends, and when.
func (c *twCase) judge(s twModelStep, now, total time.Duration, unsure bool) (end time.Duration, a twJudged) {
	p := c.policy
	mismatch := p.RequestIDHeader != "" && slices.Contains(s.header, "another")
	isJSON := slices.Contains(s.header, "application/json")
	ahead := p.ReadJSON > 0 && isJSON && s.status == 200 && !mismatch
	headers := now + s.after
	if s.hang {
		headers = twNever
	}
	end = headers
	if ahead && s.stall {
		end = twNever
	}

	// The first clock that rings before its end cuts it short.
	cut, a := end, twJudged{}
	ring := func(at time.Duration, by twJudged) {
		if at < cut {
			cut, a = at, by
		}
	}
	ring(c.ctxEnd, twJudged{reason: c.caller()})
	ring(total, twJudged{reason: roundtripper.ReasonDeadline})
	if p.AttemptTimeout > 0 {
		ring(now+p.AttemptTimeout, twJudged{reason: roundtripper.ReasonAttemptTimeout, heals: true})
	}
	if p.IdleTimeout > 0 {
		silence := now
		if headers <= now+p.IdleTimeout {
			silence = headers // that of the body, if it is read
		}
		if end > headers || silence == now {
			ring(silence+p.IdleTimeout, twJudged{reason: roundtripper.ReasonAttemptTimeout, heals: true})
		}
	}
	if cut < end {
		a.failed, a.silent, a.sent = true, headers > cut, true
		return cut, a
	}

	network := twJudged{reason: roundtripper.ReasonNetwork, heals: true, failed: true, sent: true}
	_, dial := s.err.(*net.OpError)
	switch {
	case s.err == http.ErrSchemeMismatch:
		return end, twJudged{reason: roundtripper.ReasonPermanent, failed: true, silent: true, sent: true}
	case s.err != nil:
		network.silent, network.sent = true, !dial
		return end, network
	case mismatch:
		return end, twJudged{reason: roundtripper.ReasonContract, failed: true, sent: true}
	case ahead && s.cut != nil:
		return end, network
	case slices.Contains(p.Statuses, s.status):
		if p.Envelope && isJSON && s.body == twFinal {
			return end, twJudged{reason: roundtripper.ReasonEnvelope, sent: true}
		}
		return end, twJudged{reason: roundtripper.ReasonStatus, heals: true, sent: true}
	case s.status < 400:
		return end, twJudged{reason: roundtripper.ReasonOK, sent: true}
	case s.status == 409 && c.hasKey() && unsure:
		if p.Envelope && isJSON && s.body == twFinal {
			return end, twJudged{reason: roundtripper.ReasonEnvelope, sent: true}
		}
		return end, twJudged{reason: roundtripper.ReasonConflict, heals: true, sent: true}
	}
	return end, twJudged{reason: roundtripper.ReasonStatus, heals: c.decides && s.status == 404, sent: true}
}

// wait is what lies between attempt n and the next; ok is false if the server
// asks for more than MaxDelay.
func (c *twCase) wait(n int, a twJudged) (d time.Duration, ok bool) {
	p, asked := c.policy, c.steps[n-1].asked
	if n <= len(c.draws) {
		d = max(0, c.draws[n-1])
	}
	switch {
	case asked < 0 || a.silent || p.RetryAfter == roundtripper.IgnoreRetryAfter:
		return min(d, p.MaxDelay), true
	case p.RetryAfter == roundtripper.ClampRetryAfter:
		return min(asked, p.MaxDelay), true
	case asked > p.MaxDelay:
		return 0, false
	case p.MaxDelay == 0:
		return 0, true
	}
	return asked + d, true
}

func (c *twCase) caller() roundtripper.Reason {
	if c.deadline {
		return roundtripper.ReasonDeadline
	}
	return roundtripper.ReasonCanceled
}

func (c *twCase) hasKey() bool { return c.key != "" && c.policy.KeyHeader != "" }

func (c *twCase) verb() string {
	if c.method == "" {
		return "GET"
	}
	return c.method
}

// compare holds what happened against the model.
func (c *twCase) compare(want, got *twOutcome) (problems []string) {
	if !slices.Equal(got.starts, want.starts) {
		problems = append(problems, fmt.Sprintf("attempts at %v, want %v", got.starts, want.starts))
	}
	if got.end != want.end || got.status != want.status || got.stop != want.stop {
		problems = append(problems, fmt.Sprintf("ended at %v with %d (%v), stop %q; want %v, %d, %q",
			got.end, got.status, got.err, got.stop, want.end, want.status, want.stop))
	}
	return problems
}

// invariants says what holds for every call, and does not ask the model.
func (c *twCase) invariants(o *twOutcome) (broken []string) {
	must := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, "invariant: "+fmt.Sprintf(format, args...))
		}
	}
	p, n := c.policy, len(o.starts)
	must((o.resp == nil) != (o.err == nil), "exactly one of response %v and error %v", o.resp, o.err)
	must(o.changed == "", "the caller's request became %s", o.changed)
	must(o.misread == "", "the response's body reads %s", o.misread)
	must(c.body == "" || o.closed > 0, "the caller's body is open")
	for i, b := range o.base.bodies {
		must(b.isClosed(), "response body %d is open", i+1)
	}
	if o.report == nil {
		must(false, "no report")
		return broken
	}
	must(n <= p.MaxRetries+1 && (n <= 1 || !c.without), "%d attempts", n)
	must(len(o.report.Attempts) == n && o.report.Elapsed == o.end, "report of %d attempts in %v", len(o.report.Attempts), o.report.Elapsed)
	if o.err != nil {
		must(o.stop != roundtripper.ReasonDeadline || errors.Is(o.err, context.DeadlineExceeded), "%v is no DeadlineExceeded", o.err)
		must(o.stop != roundtripper.ReasonCanceled || errors.Is(o.err, context.Canceled), "%v is no Canceled", o.err)
	}

	// No clock is overrun, and nothing is sent past one.
	until := max(0, c.ctxEnd)
	if p.TotalTimeout > 0 {
		until = min(until, p.TotalTimeout)
	}
	must(o.end <= until && (n == 0 || o.starts[n-1] < until), "ended at %v, last attempt at %v of %v", o.end, o.starts, until)

	for i, sent := range o.base.sent {
		must(sent == c.body, "attempt %d sent body %q", i+1, sent)
	}
	for i, h := range o.base.headers {
		first := o.base.headers[0]
		must(h.Get("X-Caller") == "mine" && h.Get("X-Request-Id") == first.Get("X-Request-Id") && h.Get("Idempotency-Key") == first.Get("Idempotency-Key"),
			"attempt %d has headers %v", i+1, h)
		must(!c.hasKey() || h.Get("Idempotency-Key") == c.key && o.report.Key == c.key, "attempt %d has key %q", i+1, h.Get("Idempotency-Key"))
		must((p.RequestIDHeader != "") == (h.Get("X-Request-Id") != "") && h.Get("X-Request-Id") == o.report.RequestID, "attempt %d has ID %q", i+1, h.Get("X-Request-Id"))
	}
	for i, a := range o.report.Attempts {
		must(a.Number == i+1 && a.Start.Sub(o.base.start) == o.starts[i] && a.Charged && a.Request == nil && a.Response == nil, "attempt %d is %+v", i+1, a)
		if i == n-1 {
			break
		}
		// There was another one.
		s, wait := c.steps[i], o.starts[i+1]-o.starts[i]-a.Elapsed
		must(wait == a.Wait && wait >= 0, "wait %d was %v, the report says %v", i+1, wait, a.Wait)
		most := p.MaxDelay
		if p.RetryAfter == roundtripper.HonorRetryAfter && s.asked >= 0 && a.StatusCode != 0 {
			must(wait >= s.asked && s.asked <= p.MaxDelay, "wait %d was %v, asked were %v, MaxDelay %v", i+1, wait, s.asked, p.MaxDelay)
			if p.MaxDelay > 0 && i < len(c.draws) {
				most = s.asked + max(0, c.draws[i])
			}
		}
		must(wait <= most, "wait %d was %v, more than %v", i+1, wait, most)
		_, dial := a.Err.(*net.OpError)
		must(c.hasKey() || slices.Contains(p.Methods, c.verb()) || p.RetryUnsent && dial, "a write without a key was sent again after %+v", a)
		must(a.Err == nil || a.Err != http.ErrSchemeMismatch, "a permanent error was repeated")
		must(a.Err != io.EOF || a.Sent, "a connection that broke said nothing was sent")
	}
	return broken
}
