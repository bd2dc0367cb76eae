// Package breaker is a circuit breaker: it stops calls to a service that keeps
// failing, and finds out with one call at a time whether it is back.
//
// A dead service costs its callers a full timeout each, and their calls are
// what it has to get through before it can recover. A breaker counts results
// and is in one of three states:
//
//   - [Closed]: every call goes through. Too many failures open it.
//   - [Open]: every call fails at once, with an [*OpenError] that says when to
//     come back. The first call after a cooldown makes it half-open.
//   - [HalfOpen]: that call goes through, the trial, and no other. If it
//     succeeds the breaker closes; if it fails the breaker opens again, for
//     twice as long.
//
// # Use
//
// [New] makes one Breaker for one service; [PerHost] makes a [Group] that keeps
// one for each of many. Ask before each attempt, and report what came of it:
//
//	permit, err := group.Allow(host)
//	if err != nil {
//		return err // nothing was sent; don't retry
//	}
//	defer permit.Done(breaker.Neutral, nil) // a panic says nothing; a second Done does nothing
//	...
//	permit.Done(breaker.Failure, err)
//
// # What counts
//
// The breaker judges a service, so ask of each result what it says about that
// service.
//
//   - [Failure]: it didn't work. No connection, no answer in time, 502, 503, 504.
//   - [Success]: it worked, even if it said no: 404 is a Success.
//   - [Neutral]: nothing was learnt. The caller gave up, or ran out of its own
//     time; the answer was 429; there was no network at all.
//
// Only a Failure opens a breaker and only a Success closes one. A trial that
// ends Neutral hands its place to the next caller at once.
//
// # Late results
//
// A result counts for the time in which its call began. One that began before
// the breaker opened says nothing about a service that has since recovered, so
// it is dropped. A trial has a lease: if it stays silent for that long, the
// next caller is let through in its place, and what the first one says later
// is dropped too. So neither a lost permit nor a hung call keeps a breaker
// from closing.
//
// # Scope
//
// Let one Group serve all clients of a process, and give it the finest key
// that fails as a whole, usually scheme, host and port. Breakers of clients
// that make few calls each hardly ever have anything to count.
//
// # What it doesn't do
//
// It is no gain for a crowd that would get through by itself: where 1,000
// clients with full jitter are through 11 s after an outage began that lasts
// 3 s, they need 33 s and more behind breakers with a cooldown of 30 s (module
// backoff/lab).
//
// It doesn't wait, retry, set timeouts or limit concurrency, and it starts no
// goroutine: a cooldown that is over shows when the next call comes. Cooldowns
// run on the monotonic clock, which on some systems stands still while the
// machine is suspended.
package breaker
