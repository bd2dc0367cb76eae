package backoff

// Delays that double.

import "time"

// Exponential waits for base before the first retry and doubles the delay with
// each further one, up to max: min(max, base * 2^retry), exactly, for every retry
// number there is. If base or max is 0 or negative there is no wait.
//
// All clients that failed together come back together; wrap it in [FullJitter] or
// [EqualJitter] unless there is only one.
func Exponential(base, max time.Duration) Strategy {
	if base <= 0 || max <= 0 {
		return None()
	}
	return func(retry int, _ time.Duration) time.Duration {
		if retry < 0 {
			retry = 0
		}
		// base<<retry > max, without the overflow. Comparing base<<retry itself would
		// be right only until the product wraps around.
		if base > max>>retry {
			return max
		}
		return base << retry
	}
}
