package backoff

// Delays that another strategy gives, made random.
//
// The generator is math/rand/v2's own: it takes no lock and no seed.

import (
	"math/bits"
	"math/rand/v2"
	"time"
)

// FullJitter waits for a random time between 0 and the delay that s returns,
// every nanosecond of it, both ends included, being as likely as the next. A nil
// s is [None].
//
// It is the "Full Jitter" of Marc Brooker's "Exponential Backoff And Jitter" (AWS
// Architecture Blog, 2015).
func FullJitter(s Strategy) Strategy {
	if s == nil {
		return None()
	}
	return func(retry int, prev time.Duration) time.Duration {
		return upTo(s(retry, prev))
	}
}

// EqualJitter waits for half of the delay that s returns and for a random part of
// the other half, both ends included. It is never less than the half, nor more
// than the whole. A nil s is [None].
//
// It is the "Equal Jitter" of Marc Brooker's "Exponential Backoff And Jitter" (AWS
// Architecture Blog, 2015).
func EqualJitter(s Strategy) Strategy {
	if s == nil {
		return None()
	}
	return func(retry int, prev time.Duration) time.Duration {
		d := max(0, s(retry, prev))
		half := d / 2
		// d-half and not half: an odd nanosecond belongs to the part that is certain.
		return d - half + upTo(half)
	}
}

// upTo draws a duration from 0 to d, both included. It is 0 if d is negative.
//
// It does what rand.Uint64N does, without the calls and the special cases that
// this one does not need: the upper half of the product of a random 64-bit number
// and the number of choices is the draw (Lemire, "Fast Random Integer Generation
// in an Interval", ACM TOMACS 29, 2019).
func upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	n := uint64(d) + 1 // need not fit into an int64
	draw, rest := bits.Mul64(rand.Uint64(), n)
	// 2^64 need not be a multiple of n. -n%n is what is left over, and as many
	// products are drawn again, so that no choice is likelier than another. It takes
	// a division, which the first comparison nearly always saves.
	for rest < n && rest < -n%n {
		draw, rest = bits.Mul64(rand.Uint64(), n)
	}
	return time.Duration(draw)
}
