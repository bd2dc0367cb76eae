package offline

// The wait: what one call does while the gate is closed.

import (
	"container/list"
	"context"
	"math/rand/v2"
	"time"
)

// wait is Enter for a call that can't go at once.
func (g *Gate) wait(ctx context.Context, host string) (Pass, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.config.MaxWait, ErrOffline)
		defer cancel()
	}
	w := &waiter{gate: g, host: host, wake: make(chan struct{}, 1), timer: time.NewTimer(longest)}
	defer w.leave()
	for ctx.Err() == nil {
		if p, ok := w.step(); ok {
			return p, nil
		}
		switch {
		case w.resuming:
			w.rest(ctx)
		case w.watch > 0:
			w.watchOut(ctx)
		default:
			select {
			case <-ctx.Done():
			case <-w.wake:
			case <-w.outage.over:
			}
		}
	}
	return Pass{}, context.Cause(ctx)
}

// A waiter is a call that waits.
type waiter struct {
	gate  *Gate
	host  string
	wake  chan struct{} // of capacity 1
	timer *time.Timer

	outage   *outage       // the one it waits in, or waited in last
	place    *list.Element // in that one's queue
	watch    time.Duration // if it is in front: until a probe may start
	resuming bool          // that outage is over: it has its part of Resume to wait
	rested   bool          // and now it has done that
}

// step lets w go, or finds out what it has to wait for.
func (w *waiter) step() (Pass, bool) {
	g := w.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	w.resuming = g.outage == nil && w.outage != nil && !w.rested
	if w.resuming {
		return Pass{}, false
	}
	p, wait := g.admit(w.host)
	if wait == 0 {
		return p, true
	}
	if w.outage != g.outage {
		w.outage, w.rested = g.outage, false
		w.place = w.outage.queue.PushBack(w)
	}
	w.watch = 0
	if w.outage.queue.Front() == w.place {
		w.watch = wait
	}
	return Pass{}, false
}

// rest waits for a random part of Resume.
func (w *waiter) rest(ctx context.Context) {
	w.timer.Reset(rand.N(w.gate.config.Resume + 1))
	select {
	case <-ctx.Done():
	case <-w.timer.C:
		w.rested = true
	}
}

// poll is how often a hint without a channel is asked.
const poll = time.Second

// watchOut waits, in front of the queue, for anything that may let a probe
// start.
func (w *waiter) watchOut(ctx context.Context) {
	var changed <-chan struct{}
	if w.gate.config.Hint != nil {
		// First the channel, then the question, so that no change is missed.
		changed = w.gate.changed()
		if w.gate.consult(nil) {
			return
		}
		if changed == nil {
			w.watch = min(w.watch, poll)
		}
	}
	w.timer.Reset(w.watch)
	select {
	case <-ctx.Done():
	case <-w.wake:
	case <-w.outage.over:
	case <-w.timer.C:
	case <-changed:
		w.gate.consult(changed)
	}
}

// leave ends the wait. Whoever was behind w may now be in front.
func (w *waiter) leave() {
	w.timer.Stop()
	if w.outage == nil {
		return
	}
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	w.outage.queue.Remove(w.place)
	w.outage.nudge()
}
