package roundtripper

// This file holds what stands between a call and the network: the offline
// gate, the host's breaker and the retry budget.

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
)

// guards is what a call holds of them. Each thing it is given it gives back
// exactly once, also when the base transport panics.
type guards struct {
	gate   *offline.Gate
	group  *breaker.Group
	budget *budget.Budget
	host   string // scheme, host and port: a service
	pass   offline.Pass
	permit breaker.Permit
	token  bool          // taken from the budget, for a retry that is not sent yet
	paid   bool          // the attempt on its way is a retry that cost a token
	waited time.Duration // for the network
}

// guard makes the call's guards, if its policy has any. Those that a call around
// this one has asked already are not asked again: it holds the only trial, or
// the only probe, that there is.
func (c *call) guard(outer *attempt) {
	p := c.policy
	if p.Offline == nil && p.Breaker == nil && p.Budget == nil {
		return
	}
	g := &guards{gate: p.Offline, group: p.Breaker, budget: p.Budget, host: hostKey(c.orig.URL)}
	for ; outer != nil; outer = scopeOf(outer.call.ctx()).outer {
		o := outer.call.guards
		if o == nil {
			continue
		}
		if o.gate == g.gate {
			g.gate = nil
		}
		if o.host == g.host && o.group == g.group {
			g.group = nil
		}
		if o.host == g.host && o.budget == g.budget {
			g.budget = nil
		}
	}
	c.guards = g
}

// admit waits until the network is there and asks the breaker for leave. Its
// error ends the call, which gives back what it holds: the turn of a probe is not
// lost.
func (c *call) admit() (Reason, error) {
	g := c.guards
	if g.gate != nil {
		pass, ok := g.gate.TryEnter(c.orig.URL.Hostname())
		if !ok {
			var reason Reason
			var err error
			if pass, reason, err = c.awaitNetwork(); err != nil {
				return reason, err
			}
		}
		g.pass = pass
	}
	if g.group != nil {
		permit, err := g.group.Allow(g.host)
		if err != nil {
			if open, ok := errors.AsType[*breaker.OpenError](err); ok {
				r := c.openReport()
				r.retryAfter, r.hasRetryAfter, r.answered = open.RetryIn, true, time.Now()
			}
			return ReasonBreakerOpen, c.endedBy(err)
		}
		g.permit = permit
	}
	return "", nil
}

// awaitNetwork is the wait at the gate: it is no attempt, and ends with the
// call's time or, where that has no end, after the gate's MaxWait in all.
func (c *call) awaitNetwork() (offline.Pass, Reason, error) {
	gate, total := c.guards.gate, c.policy.TotalTimeout
	ctx, stop := c.heedLegacy()
	defer stop()
	if total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, c.start.Add(total), &timeoutError{"total timeout", total, nil})
		defer cancel()
	} else if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, gate.MaxWait()-c.guards.waited, offline.ErrOffline)
		defer cancel()
	}
	c.emit(StateOffline, c.report.last())
	began := time.Now()
	pass, err := gate.Enter(ctx, c.orig.URL.Hostname())
	c.guards.waited += time.Since(began)
	switch ended := c.gaveUp(); {
	case err == nil:
		return pass, "", nil
	case ended != nil:
		return pass, c.stopReason(), c.endedBy(ended)
	case errors.Is(err, offline.ErrOffline):
		return pass, ReasonOffline, c.endedBy(err)
	default:
		return pass, ReasonDeadline, c.endedBy(err)
	}
}

// heedLegacy is the caller's context, ended by Request.Cancel too. stop ends it
// and what it takes.
func (c *call) heedLegacy() (ctx context.Context, stop func()) {
	legacy := legacyCancel(c.orig)
	if legacy == nil {
		return c.ctx(), func() {}
	}
	ctx, cancel := context.WithCancel(c.ctx())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-legacy:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		<-gone
	}
}

// settle tells the guards what came of an attempt, the gate first: if the
// network is away, nobody is to blame and nothing is charged.
func (c *call) settle(a *attempt, status int, err error, v Verdict) (charged bool) {
	g := c.guards
	if g == nil {
		return true
	}
	if inner, ok := errors.AsType[*Error](err); ok && status == 0 {
		// What a Transport further inside met, and not why it stopped.
		if last := inner.Report.last(); last != nil {
			v, status = last.Verdict, last.StatusCode
		}
	}
	outcome := outcomeOf(status, v)
	if charged = g.pass.Done(a.path(status, err, v)); !charged {
		outcome = breaker.Neutral
		g.token, g.paid = g.paid, false // it pays for the next one
	}
	if err == nil && outcome == breaker.Failure {
		err = statusOnly(status) // what a refusal will name as its cause
	}
	g.permit.Done(outcome, err)
	// An answer that the policy repeats earns nothing: else a service that
	// fails with 500 would pay for the retries of its failures.
	if outcome == breaker.Success && !v.Retry && g.budget != nil {
		g.budget.Success(g.host)
	}
	return charged
}

// path says what the attempt proves about the network.
func (a *attempt) path(status int, err error, v Verdict) offline.Verdict {
	switch {
	case status != 0:
		return offline.Reached
	case v.Reason == ReasonNetwork, v.Reason == ReasonPermanent:
		return offline.Classify(err)
	case v.Reason == ReasonAttemptTimeout && a.dialling():
		return offline.NoPath // our clock was only quicker than the dialler's
	}
	return offline.Unknown
}

// outcomeOf says what an attempt proves about the service.
func outcomeOf(status int, v Verdict) breaker.Outcome {
	switch v.Reason {
	case ReasonNetwork, ReasonAttemptTimeout:
		return breaker.Failure
	case ReasonCanceled, ReasonDeadline, ReasonPermanent:
		return breaker.Neutral
	}
	switch status {
	case 0, http.StatusTooManyRequests: // 0: a Transport further inside did not ask it
		return breaker.Neutral
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return breaker.Failure
	}
	return breaker.Success
}

// afford asks whether another attempt makes sense for its host, and pays for
// it. One that was not charged, since the network was away, costs nothing.
func (c *call) afford(rec *Attempt) Reason {
	g := c.guards
	if g == nil || !rec.Charged {
		return ""
	}
	if g.group != nil && g.group.State(g.host) == breaker.Open {
		return ReasonBreakerOpen
	}
	if g.budget != nil && !g.token {
		if !g.budget.Withdraw(g.host) {
			return ReasonBudgetSpent
		}
		g.token = true
	}
	return ""
}

// giveBack settles what is held for an attempt that came to nothing; what was
// settled before stays as it is.
func (c *call) giveBack() {
	g := c.guards
	if g == nil {
		return
	}
	g.pass.Done(offline.Unknown)
	g.permit.Done(breaker.Neutral, nil)
	if g.token {
		g.token = false
		g.budget.Refund(g.host)
	}
}

// spend is the moment at which the retry is sent: its token is gone.
func (g *guards) spend() {
	if g != nil {
		g.paid, g.token = g.token, false
	}
}
