package backoff

// What a strategy is.

import "time"

// A Strategy returns the delay before a retry. retry counts the retries of one
// call from 0, so it is the number of attempts made so far, less one. prev is the
// delay that the same call waited last, and 0 before the first; of the strategies
// here only [Decorrelated] looks at it.
//
// The strategies of this package hold no state, so that one value serves any
// number of calls and goroutines at once, and they never return a negative delay.
// For a retry below 0 they return what they return for 0. A strategy of your own
// should keep to the same rules. A nil Strategy can't be called, but [FullJitter]
// and [EqualJitter] take it for [None].
type Strategy func(retry int, prev time.Duration) time.Duration
