package webhookmw

// Contexts that end at a time, and cost nothing until somebody waits for that.

import (
	"context"
	"sync"
	"time"
)

// deadlineContext is context.WithDeadlineCause, put off: most handlers and stores never ask for Done, and then there is
// no timer and nothing to allocate. Once somebody does, the real one takes over. A zero deadline is none.
type deadlineContext struct {
	parent   context.Context
	deadline time.Time
	cause    error // why it ends at the deadline

	mu     sync.Mutex
	real   context.Context
	cancel context.CancelFunc
	ended  bool
}

// context returns the real context.
func (c *deadlineContext) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deadline.IsZero() {
		return c.parent
	}
	if c.real == nil {
		c.real, c.cancel = context.WithDeadlineCause(c.parent, c.deadline, c.cause)
		if c.ended {
			c.cancel()
		}
	}
	return c.real
}

// started returns the real context if there is one already, and the parent until then.
func (c *deadlineContext) started() (ctx context.Context, real bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real == nil {
		return c.parent, false
	}
	return c.real, true
}

// end cancels the context and lets go of its timer.
func (c *deadlineContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}

func (c *deadlineContext) Deadline() (time.Time, bool) {
	theirs, ok := c.parent.Deadline()
	if c.deadline.IsZero() || ok && theirs.Before(c.deadline) {
		return theirs, ok
	}
	return c.deadline, true
}

func (c *deadlineContext) Done() <-chan struct{} { return c.context().Done() }

func (c *deadlineContext) Err() error {
	ctx, real := c.started()
	if !real && c.over() {
		ctx = c.context()
	}
	return ctx.Err()
}

// over reports whether the context has ended, whatever its parent has.
func (c *deadlineContext) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.deadline.IsZero() && (c.ended || time.Until(c.deadline) <= 0)
}

// Value asks the real context once there is one: that is how package context finds a parent to hang a child on.
func (c *deadlineContext) Value(key any) any {
	ctx, _ := c.started()
	return ctx.Value(key)
}

// detachedContext is context.WithoutCancel as a part of something larger: the values of a context, and no end.
type detachedContext struct{ context.Context }

func (*detachedContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (*detachedContext) Done() <-chan struct{}                   { return nil }
func (*detachedContext) Err() error                              { return nil }

// lateError is the cause with which a context ends at its deadline.
type lateError string

// A handler's context ends with its lease, and a store's at the end of what it may take.
var (
	errLease  error = lateError("webhookmw: lease has run out")
	errSettle error = lateError("webhookmw: store took too long over the end of the claim")
)

func (e lateError) Error() string { return string(e) }
func (lateError) Timeout() bool   { return true }
func (lateError) Unwrap() error   { return context.DeadlineExceeded }

// deliveryContext is a handler's context: it knows the delivery and ends with the lease.
type deliveryContext struct {
	deadlineContext
	delivery *Delivery
}

func (c *deliveryContext) Value(key any) any {
	if key == (deliveryKey{}) {
		return c.delivery
	}
	return c.deadlineContext.Value(key)
}
