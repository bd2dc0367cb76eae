package offline

// The pass: leave for one attempt, which is settled once however often it is
// copied.

import (
	"sync"
	"sync/atomic"
)

// A Pass is leave to make one attempt, and must be settled with [Pass.Done].
// One that never is costs a probe its lease and nothing else. The zero Pass
// has nothing to settle.
type Pass struct {
	ticket *ticket
	serial uint64
}

// A ticket says what its pass is for and makes it count once: the pass that
// holds the serial number which the ticket shows is the one that may still be
// settled, and settling it moves the number on. Tickets are used again, so to
// enter allocates nothing; a number is not, so a copy that is settled late
// finds another one. A lost ticket is garbage.
type ticket struct {
	serial atomic.Uint64
	// The rest is for whoever moved serial on, or is about to show it.
	gate       *Gate
	host       string
	generation uint64
	turn       int // of the probe; 0: no probe

	_ [16]byte // fills a cache line, so that tickets don't share one
}

var tickets = sync.Pool{New: func() any { return new(ticket) }}

func newPass(g *Gate, host string, generation uint64, turn int) Pass {
	t := tickets.Get().(*ticket)
	t.gate, t.host, t.generation, t.turn = g, host, generation, turn
	return Pass{t, t.serial.Load()}
}

// Done reports what became of the attempt, before anything else is told about
// it. It reports whether the attempt is to be charged: false means that it
// found no path and the gate is offline, so that it should use up no retry and
// count against no service.
//
// The first Done of a pass and all its copies counts; the others do nothing and
// report true, and so does that of a zero Pass. So defer a Done with [Unknown],
// for panics, and report the real verdict before that.
//
// Done may run OnChange. It may be called from any goroutine.
func (p Pass) Done(v Verdict) (charge bool) {
	t := p.ticket
	if t == nil || !t.serial.CompareAndSwap(p.serial, p.serial+1) {
		return true
	}
	g := t.gate
	charge, changed := g.settle(t, v)
	tickets.Put(t)
	if changed {
		g.changes.deliver()
	}
	return charge
}
