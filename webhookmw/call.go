package webhookmw

// One delivery on its way through the middleware: claimed, handled, settled.

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// settleTimeout is how long a store may take over the end of a claim, which nobody waits for but the next attempt.
const settleTimeout = 5 * time.Second

// A twin asks for the first time after firstPause, and then after twice as long each time, up to lastPause.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// call is what one delivery needs beyond the check, in one piece. Handlers may keep parts of it, so it is not pooled.
type call struct {
	v        *Verifier
	request  *http.Request
	delivery *Delivery    // not in this piece: a handler may keep it for long
	seen     http.Request // by the handler
	response response
	ctx      deliveryContext // the handler's
	body     replay          // the handler's
	settling deadlineContext // the store's, at the end
	detached detachedContext // its parent
}

// take claims the delivery, and waits for a twin that has it. A Completed status is no refusal.
func (c *call) take(claim *Claim, idSigned bool) (Status, *Rejection) {
	ctx := c.request.Context()
	var end time.Time
	waiting := false
	defer func() {
		if waiting {
			c.v.waiters.Add(-1)
		}
	}()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		now := time.Now()
		status, err := c.v.config.Store.Claim(ctx, *claim)
		if err != nil {
			return status, c.storeFailed(claim, err)
		}
		c.delivery.EventSeen = status.EventSeen
		c.delivery.SignatureReused = status.SignatureReused && !idSigned
		switch status.State {
		case Claimed:
			c.ctx.deadline, c.ctx.cause = now.Add(c.v.config.Lease), errLease // Counted from before the claim, it comes first.
			return status, c.begin(ctx, claim)
		case Completed:
			c.delivery.Duplicate, c.delivery.EventSeen = true, true
			return status, nil
		case Mismatch:
			return status, &Rejection{Status: http.StatusUnprocessableEntity, Reason: ReasonMismatch, Err: errMismatch}
		}
		if end.IsZero() {
			end = now.Add(c.v.config.Wait)
		}
		left := end.Sub(now)
		if left <= 0 {
			return status, inFlight(errTwin)
		}
		if !waiting {
			if c.v.waiters.Add(1) > int64(c.v.config.MaxWaiters) {
				c.v.waiters.Add(-1)
				return status, inFlight(errWaiters)
			}
			waiting = true
		}
		if err := sleep(ctx, min(pause, left)); err != nil {
			return status, inFlight(err)
		}
	}
}

var (
	errTwin     = errors.New("the same delivery is in work")
	errWaiters  = errors.New("the same delivery is in work, and as many are waiting as may")
	errMismatch = errors.New("the same delivery of the same event came before with another body")
)

func inFlight(err error) *Rejection {
	return &Rejection{Status: http.StatusConflict, Reason: ReasonInFlight, Err: err}
}

// storeFailed refuses the delivery for now. Whether the claim was taken is not known where the error was another one than
// ErrFull, so it is given back to be sure; the lease does the rest.
func (c *call) storeFailed(claim *Claim, err error) *Rejection {
	if errors.Is(err, ErrFull) {
		return &Rejection{Status: http.StatusServiceUnavailable, Reason: ReasonStoreFull, Err: err}
	}
	return c.giveBack(claim, err)
}

// giveBack refuses the delivery for now and releases its claim.
func (c *call) giveBack(claim *Claim, err error) *Rejection {
	c.v.config.Store.Release(c.settleContext(), *claim)
	c.settling.end()
	return &Rejection{Status: http.StatusServiceUnavailable, Reason: ReasonStore, Err: err}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// handle runs the handler for a delivery that is claimed, and settles the claim however the handler ends. A panic, also
// that of http.ErrAbortHandler, goes on as if nobody had been here.
func (c *call) handle(next http.Handler, claim *Claim, start time.Time) {
	if c.delivery.EventSeen {
		c.response.Header().Set("Webhook-Event-Seen", "true")
	}
	returned := false
	defer func() { c.settle(claim, returned, start) }()
	next.ServeHTTP(&c.response, c.handlerRequest())
	returned = true
}

// repeat answers a delivery that was finished before.
func (c *call) repeat(next http.Handler, start time.Time) {
	c.response.Header().Set("Webhook-Duplicate", "true")
	if !c.v.config.RunDuplicates {
		c.response.WriteHeader(http.StatusOK)
		c.observe(ReasonDuplicate, nil, start)
		return
	}
	reason := ReasonPanicked
	defer func() { c.observe(reason, nil, start) }()
	next.ServeHTTP(&c.response, c.handlerRequest())
	reason = ReasonDuplicate
}

// handlerRequest is the request as the handler sees it.
func (c *call) handlerRequest() *http.Request {
	c.ctx.parent, c.ctx.delivery = c.request.Context(), c.delivery
	c.seen = *c.request.WithContext(&c.ctx)
	c.body.Reset(c.delivery.Body)
	c.seen.Body, c.seen.ContentLength, c.seen.TransferEncoding = &c.body, int64(len(c.delivery.Body)), nil
	return &c.seen
}

// settle completes the claim if the handler took the delivery, and releases it otherwise, so that the sender's next
// attempt runs.
func (c *call) settle(claim *Claim, returned bool, start time.Time) {
	reason, err := c.verdict(returned)
	c.ctx.end()
	store, ctx := c.v.config.Store, c.settleContext()
	defer c.settling.end()
	if reason == ReasonAccepted {
		if err = store.Complete(ctx, *claim); err != nil {
			reason = ReasonNotRecorded
			if c.response.withheld != nil {
				store.Release(ctx, *claim) // Where it was recorded all the same, this changes nothing.
				c.response.takeBack()
			}
		}
	} else if failed := store.Release(ctx, *claim); failed != nil {
		err = failed
	}
	if returned {
		c.response.send()
	}
	c.observe(reason, err, start)
}

// verdict says how the handler ended. It is to be asked before its context is ended from here.
//
// A handler that returns without a word has taken the delivery, unless its context has ended by then: in
// "case <-ctx.Done(): return" nobody meant to say that all is done. That one has failed, at the price of a second run where
// it was done after all. net/http would turn its silence into a 200, which nobody could take back, so it is answered here.
func (c *call) verdict(returned bool) (reason Reason, err error) {
	switch {
	case !returned:
		return ReasonPanicked, nil
	case c.response.hijacked:
		return ReasonHijacked, nil
	case c.response.status == 0 && c.ctx.Err() != nil:
		err = context.Cause(&c.ctx)
		c.response.unavailable()
		return ReasonFailed, err
	case !c.response.took():
		return ReasonFailed, nil
	}
	return ReasonAccepted, nil
}

// settleContext is not the request's: the claim is settled also when the client has hung up.
func (c *call) settleContext() context.Context {
	c.detached.Context = c.request.Context()
	c.settling.parent, c.settling.deadline, c.settling.cause = &c.detached, time.Now().Add(settleTimeout), errSettle
	return &c.settling
}

func (c *call) observe(reason Reason, err error, start time.Time) {
	if c.v.config.Observe == nil {
		return
	}
	status := c.response.status
	if status == 0 && reason != ReasonPanicked && reason != ReasonHijacked {
		status = http.StatusOK
	}
	c.v.observe(Event{Request: c.request, Delivery: c.delivery, Reason: reason, Status: status, Err: err}, start)
}
