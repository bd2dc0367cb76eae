package main

// Circuit breakers in virtual time.

import "time"

// guard is what a simulation asks of a circuit breaker: leave for an attempt, or how long to wait for it; and to be told
// the result. A permit says when it was given, so that a late result can be told from a timely one.
type guard interface {
	allow(now time.Duration) (permit uint64, wait time.Duration, ok bool)
	done(now time.Duration, permit uint64, failed bool)
}

// circuit is the rule of package breaker where failures in a row open it. It is not the package itself, which reads the
// clock and can't be told the time; a test holds the two against each other in a synctest bubble, where there is a clock
// that jumps. What the package does beyond that rule, to count the failures among the latest calls, is left out.
type circuit struct {
	row         int           // failures in a row that open it
	cooldown    time.Duration // from opening to the first trial
	maxCooldown time.Duration // each failed trial doubles it, up to here; 0: it stays as it is
	spread      bool          // lengthen each cooldown by a random half at most, as the package does
	lease       time.Duration // how long a trial that says nothing keeps others waiting

	state      circuitState
	generation uint64        // goes up when the permits given so far stop counting
	until      time.Duration // when a trial may begin
	current    time.Duration // the cooldown, as doubled
	failures   int           // in a row
	opened     int           // how often
}

type circuitState int

const (
	closed circuitState = iota
	open
	halfOpen
)

func (c *circuit) allow(now time.Duration) (permit uint64, wait time.Duration, ok bool) {
	if c.state != closed {
		if c.refuses(now) {
			return 0, c.until - now, false
		}
		c.until = now + c.lease
		c.move(halfOpen)
	}
	return c.generation, 0, true
}

// refuses reports whether an attempt would be refused at now.
func (c *circuit) refuses(now time.Duration) bool { return c.state != closed && now < c.until }

func (c *circuit) done(now time.Duration, permit uint64, failed bool) {
	if permit != c.generation || c.state == halfOpen && now >= c.until {
		return
	}
	switch {
	case !failed && c.state == halfOpen:
		c.failures = 0
		c.move(closed)
	case !failed:
		c.failures = 0
	case c.state == halfOpen:
		c.failures++
		c.open(now, max(c.current, min(2*c.current, c.maxCooldown)))
	default:
		c.failures++
		if c.failures >= c.row {
			c.open(now, c.cooldown)
		}
	}
}

func (c *circuit) open(now, cooldown time.Duration) {
	c.current = cooldown
	c.until = now + cooldown
	if c.spread {
		c.until += upTo(cooldown / 2)
	}
	c.opened++
	c.move(open)
}

func (c *circuit) move(to circuitState) {
	c.state = to
	c.generation++
}
