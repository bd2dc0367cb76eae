// Package backoff says how long to wait before a retry, and waits.
//
// A [Strategy] is a function from the number of the retry to a delay. Build one
// from the parts here, or write your own:
//
//	delay := backoff.FullJitter(backoff.Exponential(500*time.Millisecond, 8*time.Second))
//
//	var prev time.Duration
//	for retry := 0; ; retry++ {
//		if err := attempt(ctx); err == nil || retry == 3 {
//			return err
//		}
//		prev = delay(retry, prev)
//		if err := backoff.Sleep(ctx, prev); err != nil {
//			return err
//		}
//	}
//
// # Which strategy do I want?
//
// [FullJitter] over [Exponential], unless you know better. Each wait is drawn
// between nothing and a bound that doubles, so that clients which failed at the
// same moment come back at different ones. Without jitter they come back in
// waves, and each wave may bring the server down again.
//
// [EqualJitter] keeps half of the delay and draws the other half: for when coming
// back almost at once would be of no use. [Decorrelated] draws from a range that
// grows with the wait before, and needs no second strategy. Their order in a
// comparison changes with the load; that each of them beats no jitter does not.
//
// Module backoff/lab simulates 1,000 clients that fail together while their
// server is down for 3 s and can take 1,000 requests per second from then on.
// The most retries in 100 ms, and the last client's success: no jitter 1,000 and
// 72 s, equal 410 and 7 s, decorrelated 130 and 9 s, full 276 and 11 s.
//
// [Constant], [Schedule] and [None] say the same for every call: for tests, for
// one client that is alone with its server, and as input to jitter.
//
// # Pitfalls
//
// Shift by the retry's number, or raise two to it, and the delay overflows: a
// base of 500 ms is negative at the 35th doubling and zero from the 56th on, and
// the loop runs hot. Every strategy here takes any retry number and any duration,
// and returns neither less than zero nor more than its maximum.
//
// Jitter comes last. Drawn first and cut down to the maximum afterwards, a good
// part of the delays would be the maximum exactly, and the clients in step again.
// FullJitter(Exponential(base, max)) has the order right.
//
// Jitter spreads retries over time and makes none of them unnecessary. Bound
// their number as well.
//
// # Use
//
// Strategies hold no state, take no lock and allocate nothing. One value serves
// any number of goroutines.
package backoff
