package breaker

// The figures a breaker works by.

import (
	"math"
	"time"
)

// Config says when a breaker opens and how it closes again. A field that is
// zero, negative or NaN has its default.
type Config struct {
	// Consecutive is how many failures in a row open the breaker, however far
	// apart they are. 0 means 5.
	Consecutive int

	// Window is how many of the latest results are watched for Ratio. 0 means
	// 20. A host's window takes one bit for each.
	Window int

	// Ratio is the share of failures in the window, from 0 to 1, that opens the
	// breaker. It is looked at when a failure comes in and the window is full.
	// 0 means 0.5; above 1 it is never reached, and Consecutive alone counts.
	Ratio float64

	// Cooldown is how long an open breaker refuses all calls before it lets a
	// trial through. 0 means 30 seconds. Each failed trial doubles it, up to
	// MaxCooldown, and closing sets it back. Each time it is then lengthened by
	// a random half at most, so that many clients don't come back as one; that
	// may exceed MaxCooldown.
	Cooldown time.Duration

	// MaxCooldown ends the doubling. 0 means 5 minutes. Below Cooldown it is
	// read as Cooldown.
	MaxCooldown time.Duration

	// TrialLease is how long a trial may stay silent. After that the next
	// caller is let through instead of it, and its result doesn't count. 0
	// means 30 seconds. It should exceed the longest attempt.
	TrialLease time.Duration

	// MaxHosts is how many hosts a [Group] keeps a breaker for. 0 means 1024.
	// [New] ignores it.
	//
	// To make room for another, a closed breaker with no call in progress is
	// forgotten, the one used longest ago, as counted in hosts that came since.
	// If there is none, a closed one with calls in progress goes. Only if all
	// are open does an open one go: the one that is nearest to its next trial.
	// What is forgotten starts afresh, closed, when its host is next seen.
	// Choosing takes a look at every host, so it costs time in proportion to
	// MaxHosts.
	MaxHosts int

	// OnChange, if not nil, is told of each change of state: once, in the
	// order in which they happened, one at a time even in a Group. It runs
	// without any lock, on the goroutine of a call to Allow or Done, so it may
	// call any method of this package, and it may be the call of another host
	// that delivers a change. A call that finds a delivery under way leaves its
	// change to that one and doesn't wait. A panic reaches the caller that was
	// delivering; the breaker isn't harmed by it.
	OnChange func(Change)
}

// longest bounds durations, so that doubled or spread they don't overflow.
const longest = time.Duration(math.MaxInt64 / 4)

func (c Config) withDefaults() Config {
	c.Consecutive = positive(c.Consecutive, 5)
	c.Window = positive(c.Window, 20)
	c.Ratio = positive(c.Ratio, 0.5)
	c.Cooldown = min(positive(c.Cooldown, 30*time.Second), longest)
	c.MaxCooldown = min(max(positive(c.MaxCooldown, 5*time.Minute), c.Cooldown), longest)
	c.TrialLease = min(positive(c.TrialLease, 30*time.Second), longest)
	c.MaxHosts = positive(c.MaxHosts, 1024)
	return c
}

func positive[T int | float64 | time.Duration](value, standard T) T {
	if value > 0 {
		return value
	}
	return standard // for NaN as well
}
