// Package statuspage is a page for the people who operate a program that uses rebound: an [http.Handler] that shows, live,
// each host's breaker and tokens, the offline gate, the last calls with their attempts as a time line, and the last webhook
// deliveries with what became of them. The same path gives JSON to programs.
//
//	page := statuspage.New(statuspage.Config{Breaker: hosts, Budget: retries, Offline: network})
//	policy.Observe = page.ObserveCall         // of a roundtripper.Policy
//	receiver.Observe = page.ObserveDelivery   // of a webhookmw.Config
//	admin.Handle("/debug/rebound", page)
//
// Each part is there without the others: what is not plugged in is named on the page, and left empty. Whoever observes calls
// already tells both:
//
//	policy.Observe = func(e roundtripper.Event) { page.ObserveCall(e); mine(e) }
//
// # Where to put it
//
// Behind whatever guards the other pages of the operators, such as those of net/http/pprof and expvar. The page asks nobody
// for a password. It only answers GET and HEAD, changes nothing, is not to be stored by caches or shown in frames, runs no
// script, and loads nothing from elsewhere.
//
// # What it shows, and what not
//
// URLs stand without user info, query and fragment; paths are shown, so keep secrets out of them. There are no headers but
// the request ID, no bodies, idempotency keys or signatures. The text of an error is shown, with its URLs cut in the same
// way, so that an error which a base transport, a Prepare or a Store of yours makes should hold nothing that an operator may
// not see. All text that may come from a peer is escaped, has what can't be printed replaced, and is cut after 255 bytes.
//
// # What it costs
//
// Memory is bounded: [Config] says by how many calls, deliveries and hosts, and a call has at most 24 steps. Nothing of a
// request, a response or a body is kept, only short copies of text. The observers take one lock, for about a microsecond,
// and no reader holds it for longer than it takes to copy what is kept: a page is made and written without it. A call that
// succeeds at once costs two allocations more than with an observer that does nothing.
//
// # Calls
//
// A call is on the page from its first step, while it is in flight, and stays there when it has ended. It ends with what
// RoundTrip returns: a response whose body is never closed has ended all the same. One that ends without a word, since its
// base transport panicked or ended the goroutine, is shown as abandoned once the garbage collector has found it gone. If as
// many calls are in flight as are kept, further ones are shown when they end.
//
// Calls that went well at once are kept apart from all others, and deliveries that were verified from those that were not:
// neither busy hours nor a flood of forgeries drive away what there is to see.
//
// A call whose caller got what Policy.Fallback served counts as done and is shown as trouble, with the status and the reason
// that it was served for.
//
// # JSON
//
// A request that prefers application/json, or has format=json in its query, gets a [Snapshot]. Its names are stable: none is
// renamed, removed or given another meaning; others may be added. Times are in RFC 3339, names that end in _ns are whole
// nanoseconds, and what is not there, a part that is not plugged in or a time that has not come, is null or left out.
package statuspage
