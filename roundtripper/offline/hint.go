package offline

// The hint's part in the gate: what was heard, and what is made of it.

import "time"

// An opinion is what a hint says, as far as the gate cares.
type opinion uint32

const (
	unknown opinion = iota
	up
	down
)

func ask(h Hint) opinion {
	switch isUp, known := h.Online(); {
	case !known:
		return unknown
	case isUp:
		return up
	default:
		return down
	}
}

// changed returns the channel that the hint closes at its next change, or nil
// if that is the one that it closed at the latest: a channel that stays closed
// would otherwise make probe follow upon probe.
func (g *Gate) changed() <-chan struct{} {
	c := g.config.Hint.Changed()
	g.mu.Lock()
	defer g.mu.Unlock()
	if c == g.spent {
		return nil
	}
	return c
}

// consult asks the hint, and does something about it if its opinion is new, or
// if it closed a channel to say so. So an opinion counts once: if it says down
// and an attempt gets through, that is that until it says something else.
// consult reports whether the next probe was hurried.
func (g *Gate) consult(closed <-chan struct{}) (hurried bool) {
	said := ask(g.config.Hint) // without the lock: it isn't our code
	if closed == nil && said == opinion(g.heard.Load()) {
		return false
	}
	g.mu.Lock()
	if closed != nil || said != opinion(g.heard.Load()) {
		if closed != nil {
			g.spent = closed
		}
		g.heard.Store(uint32(said))
		switch {
		case g.outage == nil && said == down:
			g.close()
		case g.outage != nil && said != down:
			g.outage.hurry(time.Now(), g.config.MaxProbe)
			hurried = true
		}
	}
	g.mu.Unlock()
	g.changes.deliver()
	return hurried
}
