// Package roundtripper bounds what happens when an HTTP request fails.
//
// A [Transport] is an [http.RoundTripper] that slots into any [http.Client]:
//
//	client := &http.Client{Transport: roundtripper.New(nil, roundtripper.Standard())}
//
// It answers four questions for every request: how long do I wait, should I
// try again, is it safe to try again, and when, and when do I stop. The answers
// are the fields of a [Policy].
//
// # Which preset
//
//   - [Headless] is for a program that reads: GET only, two retries, fixed short
//     waits, a request ID on each call, and JSON that must be whole and
//     well-formed. It can't take longer than 34 s.
//   - [Standard] is for one client in front of reads and writes alike: three
//     retries with full jitter within 20 s, never sooner than Retry-After, and
//     a write is repeated only where that can't double it.
//   - [Transfer] is Standard for uploads, exports and streams: no limit on the
//     whole, but none may be silent for 30 s.
//
// The first two are for requests whose whole answer is meant to arrive within
// seconds: their timeouts cover the response body. Under them a download that
// takes longer than an attempt may is cut off.
//
// [Policy.Explain] writes what a policy comes to, as a table for people.
//
// # What comes back
//
// RoundTrip gives either a response, whatever its status, or an [*Error]. A 503
// after the last attempt is a response, with its body unread, as it would be
// from any other transport; [CheckStatus] turns it into an error if you like.
// [ReportFrom] tells from a response, and [Error.Report] from an error, which
// attempts were made and why the call stopped.
//
// When the caller's context ends, the call ends at once, also in the middle of
// a wait; many clients sleep on. A wait that would outlast the deadline is not
// begun: the last result comes back while there is still time to use it.
//
// # Is it safe to repeat?
//
// Sending a request twice is safe if its method is idempotent (RFC 9110,
// section 9.2.2), if it carries an idempotency key by which the server knows a
// repeat, or if it is certain that nothing of it left: no connection was made.
// Everything else is sent once, and its failure is yours to judge.
//
// That no connection was made is seen by the base transport's own trace
// (net/http/httptrace), and by the type of its error where it has none. A base
// that is a chain of several hops of its own, has no trace, and fails with the
// dial error of a later hop can't be seen through: turn RetryUnsent off for it.
//
// Make a key with [NewKey] when the user's action begins, set it as
// Idempotency-Key or with [WithKey], and keep it for that action, for as long
// as it may be tried again.
//
// One more thing decides: the body. It can be sent again if the request has a
// GetBody, as [http.NewRequest] gives it to those with a [bytes.Reader],
// [bytes.Buffer] or [strings.Reader], if nothing of it was read yet, or if it
// fits in [Policy.ReplayBuffer]. It is never rewound by Seek: the transport may
// still be reading it.
//
// Attempts are counted here; requests on the wire are not quite the same.
// [http.Transport] repeats a request by itself when a kept-alive connection
// turns out to be dead before the first byte of an answer, and takes an
// Idempotency-Key header, too, as leave to do so.
//
// # Time
//
// Three clocks run, and each has a field. AttemptTimeout is for one attempt
// with its body; IdleTimeout for the longest silence in it; TotalTimeout for
// everything, waits included. Prefer TotalTimeout to [http.Client.Timeout],
// which bounds the same: all attempts together. It starts a goroutine for each
// request through a custom transport, and where its own timer is the first to
// fire, its error stands in the place of an [*Error] and there is no report. A
// client whose Timeout was meant for one attempt needs an AttemptTimeout.
//
// The context of an attempt ends when the response body has been read to its
// end or closed; it is also that of the response's Request, so derive nothing
// longer from it. Close the body, as always: one that is neither read nor closed
// holds a connection and, with IdleTimeout, a timer.
//
// A base transport that takes no notice of its request's context can outlive
// every timeout, and so can one whose bodies block in Close: nobody can stop it.
// [http.Transport] does take notice.
//
// # Knowing when to stop
//
// Backoff and jitter shape the load of retries; they do not make it less. Three
// shared objects do, each off unless it is set, each useful without HTTP, and
// each one object that serves many Transports:
//
//   - [Policy.Budget] bounds all retries taken together. A success earns a tenth
//     of a token, a retry costs one, ten can be saved. So in an outage 10,000
//     calls send 10,010 requests and not 40,000, and at any time retries are at
//     most 10 plus a tenth of the successes. An empty budget returns the failure
//     at once.
//   - [Policy.Breaker] fails calls at once to a host that keeps failing, so that
//     they do not each wait for the same timeout. After a cooldown one call goes
//     through as a trial.
//   - [Policy.Offline] notices that there is no network at all. Calls then wait
//     instead of failing; the wait uses up no retry, no token, and counts against
//     no host. One of them at a time tries whether the network is back.
//
// They are asked in this order for each attempt: the gate, the breaker, then the
// request is sent. They are told in the same order: the gate first, since a
// failure for want of a network is nobody's fault. The budget is asked when a
// retry is decided on, before the wait, and gets its token back if the retry is
// never sent.
//
// What is a failure: no answer, an attempt timeout, 502, 503, 504. What says
// nothing: the caller's own cancel or deadline, 429, a panic, and an error that
// no server could have mended, such as a certificate that does not verify.
// Everything else, a 404 or a 500 too, is a service that works.
//
// Scope decides whether they help:
//
//   - A breaker belongs to a host, in one [breaker.Group] for the process. One
//     for each client sees too few calls; one for all hosts takes the healthy
//     ones down with the dead one.
//   - A budget belongs to a process and, with PerHost, a host. One for each of
//     many clients that make few calls bounds nothing: each brings its ten
//     tokens. On a device, start with Initial 1 or 2.
//   - A gate belongs to the machine.
//
// What they do not do: a breaker makes a crowd's wait longer, not shorter, if
// its members would have got through on their own within seconds of the service
// coming back; a budget stops no first attempt; a gate can't tell a captive
// portal from an answer. None limits concurrency.
//
//	hosts := breaker.PerHost(breaker.Config{})
//	retries := budget.New(budget.Config{PerHost: true})
//
//	p := roundtripper.Standard()
//	p.Breaker, p.Budget = hosts, retries
//	client := &http.Client{Transport: roundtripper.New(nil, p)}
//
// # Which numbers
//
// Take them from what the endpoint does, not from what sounds safe. With p99
// the time that 99 of 100 requests beat:
//
//	small reads          AttemptTimeout 3 to 5 times p99, 5 to 10 s at most;
//	                     TotalTimeout what a person will wait, 10 to 20 s
//	search as you type   AttemptTimeout 3 to 5 s, MaxRetries 1: the next
//	                     keystroke replaces it anyway
//	uploads, exports     AttemptTimeout 0, IdleTimeout 30 s, and a way to cancel
//	charges, orders      a generous AttemptTimeout, 30 s or more, and a key: a
//	                     timeout does not undo a write, it only leaves its
//	                     outcome unknown
//
// AttemptTimeout times attempts, plus the waits, should fit in TotalTimeout, or
// the last attempts are never made; [Policy.WorstCase] does the sum where
// TotalTimeout is 0. Those of Standard do not: with a host that never answers
// the third attempt is cut short after 20 s in all, and there is no fourth.
//
// Retries multiply across layers: three layers that try three times make 27
// requests of one. Retry in one layer. Transports of this package that are
// stacked in one program see each other through the context, and only the
// outermost repeats; nothing can do that for the ones in other processes, but
// [Policy.AttemptHeader] can tell them.
//
// What others do if nothing is set, by their documentation and source:
//
//	                              retries      first wait    longest  timeout
//	net/http                      none         -             -        none
//	go-retryablehttp v0.7         4            1 s           30 s     none
//	cenkalti/backoff v5           for 15 min   500 ms ± 50 % 60 s     none
//	aws-sdk-go-v2 v1.48           2            up to 1 s     20 s     none
//	azcore v1.24                  3            about 800 ms  60 s     none
//	stripe-go v82                 2            500 ms        5 s      80 s
//	Headless                      2            100 ms        5 s      8 s each
//	Standard                      3            up to 500 ms  30 s     8 s each, 20 s in all
//
// # Pitfalls
//
//   - One Transport for one request throws the connections away: make it once.
//   - A request with a body and no GetBody is sent once, unless ReplayBuffer
//     holds it.
//   - A Prepare that signs must sign what each attempt carries: it runs after
//     the request ID, the key and the attempt header are set.
//   - Under [http.Client], each hop of a redirect is a call of its own.
//   - A base that does more than send, as one of oauth2 that fetches tokens, has
//     failures of its own, which look like the network's: they are repeated, and
//     count against the host in its breaker. Put it around the Transport, give
//     its own requests another one, or let Decide end the repeats.
package roundtripper
