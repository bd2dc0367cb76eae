package offline

// The figures a gate works by, and what it may be told.

import "time"

// Config says when a [Gate] takes the network for lost and how it looks for
// it. A number or duration that is zero or negative has its default.
type Config struct {
	// Failures is how many attempts in a row, to any hosts, must find no path
	// for the gate to be offline. 0 means 3. All but the last are charged.
	Failures int

	// Resume is the span over which the calls that waited leave once the
	// network is back, each at a random time. 0 means 2 seconds.
	Resume time.Duration

	// MaxProbe is the longest time between two probes. 0 means 30 seconds.
	MaxProbe time.Duration

	// Lease is how long a probe may stay silent before another is let through.
	// 0 means 10 seconds. It should exceed the timeout of an attempt.
	Lease time.Duration

	// MaxWait is how long one call may wait in all when no deadline ends it. 0
	// means 10 minutes. See [Gate.Enter] and [Gate.MaxWait].
	MaxWait time.Duration

	// Hint, if not nil, is asked for the system's opinion.
	Hint Hint

	// OnChange, if not nil, is told of each change: once, in the order in
	// which they happened, one at a time. It runs without any lock, on the
	// goroutine of a call to Enter, TryEnter or Done, so it may call any
	// method of this package. A call that finds a delivery under way leaves
	// its change to that one and doesn't wait. A panic reaches the caller that
	// was delivering; the gate isn't harmed by it.
	OnChange func(offline bool)
}

// A Hint is an opinion about the network, which may be wrong either way.
//
// Down and known closes the gate without waiting for failures. If a probe gets
// through all the same, that opinion doesn't count until it changes. Any other
// answer, if it is a change, makes the next probe come at once. An answer
// never opens the gate.
//
// Its methods are called by many goroutines at once, without any lock.
type Hint interface {
	// Online says whether the network is up, and whether that is known at all.
	// It is asked at every Enter, so it must return at once.
	Online() (up, known bool)

	// Changed returns a channel that is closed at the next change. If it is
	// nil, Online is asked once a second while calls are waiting.
	Changed() <-chan struct{}
}

// longest bounds durations, so that sums of times don't overflow.
const longest = 100 * 365 * 24 * time.Hour

func (c Config) withDefaults() Config {
	if c.Failures <= 0 {
		c.Failures = 3
	}
	c.Resume = positive(c.Resume, 2*time.Second)
	c.MaxProbe = positive(c.MaxProbe, 30*time.Second)
	c.Lease = positive(c.Lease, 10*time.Second)
	c.MaxWait = positive(c.MaxWait, 10*time.Minute)
	return c
}

func positive(d, standard time.Duration) time.Duration {
	if d <= 0 {
		d = standard
	}
	return min(d, longest)
}
