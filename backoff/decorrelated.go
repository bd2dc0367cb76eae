package backoff

// Delays that grow at random, each from the one before.

import (
	"math"
	"time"
)

// Decorrelated waits for a random time between base and three times the wait
// before, but no longer than max: min(max, U[base, 3*prev]). Before the first
// retry, and whenever prev is less than base, base stands for prev. If base or max
// is 0 or negative there is no wait, and if base is more than max each wait is max.
//
// It is the "Decorrelated Jitter" of Marc Brooker's "Exponential Backoff And
// Jitter" (AWS Architecture Blog, 2015), and as there a draw above max becomes max:
// after a wait of max, at least two draws in three. Where many clients may get as
// far as that, [FullJitter] over [Exponential] spreads them better.
//
// The caller has to pass on prev. If it is always 0, no wait is longer than three
// times base.
func Decorrelated(base, max time.Duration) Strategy {
	if base <= 0 || max <= 0 {
		return None()
	}
	return func(_ int, prev time.Duration) time.Duration {
		if prev < base {
			prev = base
		}
		longest := time.Duration(math.MaxInt64)
		if prev <= longest/3 {
			longest = 3 * prev
		}
		return min(max, base+upTo(longest-base))
	}
}
