package offline

// The outage: when the next probe may start, whose turn it is, and who waits.
// All of it is guarded by the gate's lock.

import (
	"container/list"
	"math/rand/v2"
	"time"
)

// An outage is the time from one closing of the gate to its opening.
//
// The calls that wait stand in a queue, and only the first of them watches the
// clock: ten thousand timers for the same moment would wake ten thousand
// goroutines for one to be let through. Whoever leaves the front wakes the one
// behind, so there is always one that watches.
type outage struct {
	next  time.Time     // no probe before that
	step  time.Duration // the longest time from the last one to next
	turn  int           // number of the latest probe, from 1
	lease time.Time     // the probe in progress may stay silent until then
	queue list.List     // of *waiter
	over  chan struct{} // closed when the network is back
}

const firstStep = time.Second

func newOutage(now time.Time, maxProbe time.Duration) *outage {
	o := &outage{step: min(firstStep, maxProbe), over: make(chan struct{})}
	o.next = now.Add(o.spread())
	return o
}

// spread draws from the upper half of step.
func (o *outage) spread() time.Duration { return o.step - rand.N(o.step/2+1) }

// begin starts a probe, or says how long it is until one may start.
func (o *outage) begin(now time.Time, lease time.Duration) (turn int, wait time.Duration) {
	wait = max(o.next.Sub(now), o.lease.Sub(now))
	if wait > 0 {
		return 0, wait
	}
	o.turn++
	o.lease = now.Add(lease)
	return o.turn, 0
}

// failed puts the next probe off, since the latest found no path.
func (o *outage) failed(now time.Time, maxProbe time.Duration) {
	o.step = min(2*o.step, maxProbe)
	o.lease = now
	o.next = now.Add(o.spread())
	o.nudge()
}

// handOn lets the next probe start at once, since the latest taught nothing.
func (o *outage) handOn(now time.Time) {
	o.lease = now
	o.next = now
	o.nudge()
}

// hurry lets the next probe start as soon as there is none in progress, and
// begins the schedule again, since things may have changed.
func (o *outage) hurry(now time.Time, maxProbe time.Duration) {
	o.step = min(firstStep, maxProbe)
	o.next = now
	o.nudge()
}

// nudge makes the first in the queue look again.
func (o *outage) nudge() {
	if first := o.queue.Front(); first != nil {
		select {
		case first.Value.(*waiter).wake <- struct{}{}:
		default: // it is about to
		}
	}
}
