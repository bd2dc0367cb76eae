package offline

// The gate: online or not, and what brings it from one to the other.

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrOffline is returned by [Gate.Enter] when a call has waited for MaxWait.
var ErrOffline = errors.New("offline: no network")

// A Gate lets calls through while there is a network and makes them wait while
// there is none. It is made by [New]; the zero Gate is of no use. It may be used
// by any number of goroutines at once and mustn't be copied.
type Gate struct {
	config  Config // defaults applied
	changes changes

	// word is what a call has to know while all is well, written under mu and
	// read without: from the lowest bit away, failing, generation.
	word  atomic.Uint64
	heard atomic.Uint32 // the hint's latest opinion; written under mu

	mu         sync.Mutex
	generation uint64          // goes up at each change
	run        int             // attempts in a row that found no path
	outage     *outage         // nil: online
	spent      <-chan struct{} // the hint's channel that was closed last
}

const (
	away            = 1 << 0
	failing         = 1 << 1 // online, and run isn't 0
	generationShift = 2
)

// New returns a Gate that is online.
func New(c Config) *Gate {
	return &Gate{config: c.withDefaults(), changes: changes{onChange: c.OnChange}}
}

// Offline reports whether the gate takes the network for lost. It is there to
// be shown; whether a call would wait is for [Gate.TryEnter] to say.
func (g *Gate) Offline() bool { return g.word.Load()&away != 0 }

// MaxWait returns Config.MaxWait or its default, for callers that enter more
// than once on behalf of one call and keep account of the waits.
func (g *Gate) MaxWait() time.Duration { return g.config.MaxWait }

// TryEnter lets an attempt to host through if it may go now, as a call or as
// the probe. If it reports false, Enter would wait. The host is a bare name or
// address, without a port.
func (g *Gate) TryEnter(host string) (Pass, bool) {
	if g.config.Hint != nil {
		g.consult(nil)
	}
	if w := g.word.Load(); w&away == 0 {
		return newPass(g, host, w>>generationShift, 0), true
	}
	if local(host) {
		return Pass{}, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p, wait := g.admit(host)
	return p, wait == 0
}

// Enter waits until an attempt to host may be made. While there is a network
// that is at once, and ctx isn't looked at. The host is a bare name or address,
// without a port.
//
// The wait ends with ctx, and then the error is context.Cause(ctx). If ctx has
// no deadline it ends after MaxWait at the latest, with [ErrOffline].
func (g *Gate) Enter(ctx context.Context, host string) (Pass, error) {
	if g.Offline() && ctx.Err() != nil {
		return Pass{}, context.Cause(ctx) // don't waste a probe's turn on it
	}
	if p, ok := g.TryEnter(host); ok {
		return p, nil
	}
	return g.wait(ctx, host)
}

// admit returns a pass, or else how long it is until a probe may start. g.mu
// is held.
func (g *Gate) admit(host string) (Pass, time.Duration) {
	turn := 0
	if g.outage != nil {
		var wait time.Duration
		if turn, wait = g.outage.begin(time.Now(), g.config.Lease); wait > 0 {
			return Pass{}, wait
		}
	}
	return newPass(g, host, g.generation, turn), 0
}

// settle takes the verdict on the attempt that t stands for. It reports
// whether that is to be charged, and whether there may be changes to deliver.
func (g *Gate) settle(t *ticket, v Verdict) (charge, changed bool) {
	switch {
	case v == Reached && g.word.Load()&(away|failing) == 0,
		v != Reached && v != NoPath && t.turn == 0,
		local(t.host):
		return true, false // nothing to learn
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	charge = g.learn(t, v)
	g.publish()
	return charge, true
}

// learn is settle for a verdict that matters. g.mu is held.
func (g *Gate) learn(t *ticket, v Verdict) (charge bool) {
	current := t.generation == g.generation
	probing := current && g.outage != nil && t.turn == g.outage.turn
	switch v {
	case Reached: // however old: it is here now
		g.run = 0
		if g.outage != nil {
			g.open()
		}
	case NoPath:
		switch {
		case probing:
			g.outage.failed(time.Now(), g.config.MaxProbe)
		case current && g.outage == nil:
			if g.run++; g.run >= g.config.Failures {
				g.close()
			}
		}
		return g.outage == nil
	default:
		if probing {
			g.outage.handOn(time.Now())
		}
	}
	return true
}

// close begins an outage. g.mu is held, and whoever holds it delivers the
// change once it doesn't.
func (g *Gate) close() {
	g.outage = newOutage(time.Now(), g.config.MaxProbe)
	g.turnOver()
}

func (g *Gate) open() {
	close(g.outage.over)
	g.outage = nil
	g.turnOver()
}

func (g *Gate) turnOver() {
	g.generation++
	g.changes.add(g.outage != nil)
	g.publish()
}

func (g *Gate) publish() {
	w := g.generation << generationShift
	switch {
	case g.outage != nil:
		w |= away
	case g.run > 0:
		w |= failing
	}
	g.word.Store(w)
}
