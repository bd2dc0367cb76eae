package backoff

// Delays that are the same for every call.

import (
	"slices"
	"time"
)

// None does not wait.
func None() Strategy {
	return Constant(0)
}

// Constant waits for d each time, and not at all if d is negative.
func Constant(d time.Duration) Strategy {
	d = max(0, d)
	return func(int, time.Duration) time.Duration { return d }
}

// Schedule waits for each of the delays in turn, and then for the last of them
// again and again. A negative delay is 0, and without any delay there is no wait.
// Schedule keeps a copy of delays.
func Schedule(delays ...time.Duration) Strategy {
	if len(delays) == 0 {
		return None()
	}
	delays = slices.Clone(delays)
	for i, d := range delays {
		delays[i] = max(0, d)
	}
	return func(retry int, _ time.Duration) time.Duration {
		return delays[min(max(0, retry), len(delays)-1)]
	}
}
