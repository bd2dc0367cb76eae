package breaker

// The permit: leave for one call, which is settled once however often it is
// copied.

import (
	"sync"
	"sync/atomic"
)

// A Permit is leave to make one call, and must be settled with [Permit.Done].
// One that never is costs a trial its lease, and makes its host look busy to a
// [Group] that wants to forget it; nothing else. The zero Permit has nothing to
// settle.
type Permit struct {
	ticket *ticket
	serial uint64
}

// A ticket says what its permit is for and makes it count once: the permit that
// holds the serial number which the ticket shows is the one that may still be
// settled, and settling it moves the number on. Tickets are used again, so an
// allowed call allocates nothing; a number is not, so a copy that is settled
// late finds another one. A lost ticket is garbage.
type ticket struct {
	serial atomic.Uint64
	// The rest is for whoever moved serial on, or is about to show it.
	breaker    *Breaker
	generation uint64

	_ [40]byte // fills a cache line, so that tickets don't share one
}

var tickets = sync.Pool{New: func() any { return new(ticket) }}

func newPermit(b *Breaker, generation uint64) Permit {
	t := tickets.Get().(*ticket)
	t.breaker, t.generation = b, generation
	return Permit{t, t.serial.Load()}
}

// Done reports what became of the call, and err, the error of a [Failure], which
// later refusals name as their cause. The first Done of a permit and all its
// copies counts; the others do nothing. So defer a Done with [Neutral], for
// panics, and report the real outcome before that.
//
// Done may run OnChange. It may be called from any goroutine.
func (p Permit) Done(outcome Outcome, err error) {
	t := p.ticket
	if t == nil || !t.serial.CompareAndSwap(p.serial, p.serial+1) {
		return
	}
	b := t.breaker
	changed := b.settle(t.generation, outcome, err)
	b.out.Add(-1)
	tickets.Put(t)
	if changed {
		b.changes.deliver()
	}
}
