// Package budget limits retries to a share of the calls that succeed.
//
// A limit on the retries of one call doesn't limit what many calls do
// together: when a service goes down, every call fails, every call retries,
// and a service that could have come back under its normal load is met by
// several times that load. A [Budget] is shared by many calls and bounds
// their sum. Each success earns a fraction of a token, each retry costs a
// whole one, and when there is none the call ends with the failure it already
// has. With the defaults an outage costs the normal load and ten requests:
//
//	retries <= Max + Ratio x successes
//
// That holds after every step, however the calls interleave.
//
// # Use
//
//	b := budget.New(budget.Config{})
//
//	// after each answer that shows the service at work (a 404 is one)
//	b.Success(host)
//
//	// after a failure that may heal, before the wait
//	if !b.Withdraw(host) {
//		return originalFailure
//	}
//
//	// if that retry is never sent after all
//	b.Refund(host)
//
// Ask before the wait, not after it: a call that waits first and is refused
// then has made its caller wait for nothing.
//
// # Scope
//
// A budget bounds the calls that share it and no others, so its scope is the
// whole decision. One budget for a process and each service it calls is right
// for servers: set PerHost, or make one Budget per service, so that a dead
// service doesn't use up the retries of a healthy one. One budget for each of
// a million clients that make a call a minute bounds nothing: every one of
// them starts with Max tokens and no outage is long enough to spend them.
// There, start with one token or two (Initial), and let them be earned.
//
// Max is how large a burst of failures is retried in full. About ten seconds'
// worth of Ratio is a fair figure, which is as many tokens as there are calls
// in a second at the default Ratio.
//
// # What it doesn't do
//
// It knows nothing of time: tokens neither expire nor drip in. It doesn't
// spread retries out; that is what jitter is for. It doesn't stop first
// attempts; that is what a circuit breaker is for.
package budget
