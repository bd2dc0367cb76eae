package breaker

// The group: a bounded set of breakers, one per host, read without a lock.

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Group keeps one [Breaker] per host, so that a dead one doesn't stop calls
// to the others. It is made by [PerHost]; the zero Group is of no use. It may be
// used by any number of goroutines at once and mustn't be copied.
type Group struct {
	config  Config
	changes changes

	index sync.Map     // host to *Breaker
	clock atomic.Int64 // goes up by 2 for each new host; the odd values are for those used again

	mu       sync.Mutex // for whoever adds or removes; taken before a Breaker's
	breakers []*Breaker // those in index
}

// PerHost returns a Group whose breakers all work by c. A host is any string.
func PerHost(c Config) *Group {
	c = c.withDefaults()
	return &Group{config: c, changes: changes{onChange: c.OnChange}}
}

// Allow asks for leave to make a call to host, as [Breaker.Allow] does.
func (g *Group) Allow(host string) (Permit, error) {
	for {
		p, err := g.get(host).Allow()
		if !errors.Is(err, errGone) {
			return p, err
		}
	}
}

// State returns what calls to host meet with at the moment: Closed for a host
// that isn't remembered.
func (g *Group) State(host string) State {
	if b, ok := g.index.Load(host); ok {
		if s := b.(*Breaker).State(); s != gone {
			return s
		}
	}
	return Closed
}

// Snapshot returns what there is to see of every breaker, sorted by host.
func (g *Group) Snapshot() []Status {
	g.mu.Lock()
	all := make([]Status, len(g.breakers))
	for i, b := range g.breakers {
		all[i] = b.Status()
	}
	g.mu.Unlock()
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// get returns host's breaker and makes it if need be.
func (g *Group) get(host string) *Breaker {
	if b, ok := g.index.Load(host); ok {
		b := b.(*Breaker)
		if now := g.clock.Load() + 1; b.used.Load() != now { // so that most calls write nothing
			b.used.Store(now)
		}
		return b
	}
	defer g.changes.deliver() // of one that is forgotten while open
	g.mu.Lock()
	defer g.mu.Unlock()
	if b, ok := g.index.Load(host); ok {
		return b.(*Breaker)
	}
	for len(g.breakers) >= g.config.MaxHosts {
		g.forget()
	}
	b := newBreaker(&g.config, host, &g.changes)
	b.used.Store(g.clock.Add(2))
	g.breakers = append(g.breakers, b)
	g.index.Store(host, b)
	return b
}

// forget drops the breaker that is missed least, or none if just that one is
// used at this very moment. g.mu is held.
func (g *Group) forget() {
	var at int
	var least claim
	for i, b := range g.breakers {
		if c := b.claim(); i == 0 || c.less(least) {
			at, least = i, c
		}
	}
	b := g.breakers[at]
	if !b.retire(least.rank) {
		return
	}
	g.index.Delete(b.key)
	last := len(g.breakers) - 1
	g.breakers[at] = g.breakers[last]
	g.breakers[last] = nil
	g.breakers = g.breakers[:last]
}

// A claim is what a breaker has to say for being kept: its rank, and within
// that its order.
type claim struct {
	rank  rank
	order int64
}

type rank int

const (
	idle rank = iota // closed, and no call in progress: in order of use
	busy             // closed: in order of use
	open             // not closed: in order of the next trial
)

func (c claim) less(d claim) bool {
	return c.rank < d.rank || c.rank == d.rank && c.order < d.order
}

func (b *Breaker) claim() claim {
	switch {
	case b.State() != Closed:
		b.mu.Lock()
		defer b.mu.Unlock()
		return claim{open, b.until.UnixNano()}
	case b.out.Load() > 0:
		return claim{busy, b.used.Load()}
	default:
		return claim{idle, b.used.Load()}
	}
}

// retire ends a breaker for good, whatever permits are out. It reports false,
// and does nothing, if the breaker has meanwhile come to be missed more.
func (b *Breaker) retire(as rank) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if as != open && b.state != Closed {
		return false
	}
	if as == idle {
		// Allow counts itself before it reads word. So either it is seen here,
		// or it sees this and comes for the lock.
		b.word.Store(b.generation<<generationShift | uint64(gone))
		if b.out.Load() > 0 {
			b.publish()
			return false
		}
	}
	if b.state != Closed { // its host will be found closed
		b.changes.add(Change{Key: b.key, From: b.state, To: Closed, At: time.Now()})
	}
	b.state = gone // in one step: no call gets in on the way
	b.generation++
	b.publish()
	return true
}
