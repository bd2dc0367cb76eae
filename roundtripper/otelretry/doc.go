// Package otelretry tells OpenTelemetry what the calls of package roundtripper
// do: which attempts they make, why they repeat them, and what they wait for.
//
//	client := &http.Client{Transport: otelretry.New(nil, roundtripper.Standard(), otelretry.Config{})}
//
// [New] stands in the place of [roundtripper.New], and what it returns behaves as
// that does: [roundtripper.ReportFrom] and [roundtripper.Error] tell of a call as
// ever, and the policy's own Observe is called. It is a module of its own, so
// that nobody who does without telemetry downloads any.
//
// # Spans
//
// A call is a span of kind internal, "GET call", from RoundTrip to the end of the
// response body, or its Close. In it is one span of kind client, "GET", for each
// attempt, with the attributes of the semantic conventions for HTTP clients:
//
//	http.request.method       and http.request.method_original where they know it not
//	http.request.resend_count from the second attempt on
//	http.response.status_code
//	network.protocol.version
//	server.address, server.port
//	url.full                  without user info, query and fragment
//	error.type                a status of 400 or above, "timeout", "canceled", "eof",
//	                          "panic", "no_response", or the type of the error
//
// The propagators' headers are set on the attempt's own copy of the request, and
// name the attempt, so that a server's span is below the attempt that it served.
// Policy.Prepare runs before that: a signature that it makes does not cover them.
//
// A call has the attributes of its request and of the response that it gave, and:
//
//	rebound.attempts     how many there were
//	rebound.stop         the roundtripper.Reason for which it ended
//	rebound.request_id   if the policy has a RequestIDHeader
//	rebound.retry_after  what the last response asked for, in seconds
//	rebound.fallback     true if Policy.Fallback served the response
//	error.type           as above; rebound.stop where there is no response
//
// Its waits are events, "rebound.wait", dated to their beginning, with
// rebound.wait.kind ("retry", "offline", or "held-back" for a pause that a
// response to another call asked for), rebound.wait.duration in seconds, and for
// the attempt before it rebound.attempt, rebound.reason and
// http.response.status_code. "rebound.slow" is [roundtripper.StateSlow].
//
// Neither bodies, headers, keys nor the texts of errors are told: these quote
// URLs. The path of a URL is told; if yours hold secrets, take them out with a
// span processor.
//
// A body that is neither read to its end nor closed keeps its spans open, as it
// keeps its connection. A 101 ends them at once, and its connection is handed
// over untouched.
//
// # Metrics
//
//	rebound.client.attempts       counter, {attempt}: http.response.status_code, rebound.reason
//	rebound.client.retries        counter, {retry}: rebound.reason, of the attempt before
//	rebound.client.call.duration  histogram, s, without the response body: http.response.status_code,
//	                              rebound.stop
//	rebound.client.wait.duration  histogram, s: rebound.wait.kind
//	rebound.client.budget.tokens  gauge, {token}: RegisterBudget
//	rebound.client.breaker.state  up-down counter, {breaker}: rebound.breaker.state, RegisterBreaker
//
// The first four have http.request.method too, and all of them server.address and
// server.port, for at most [Config.MaxHosts] hosts, and [Config.Attributes].
// Attempts are counted when their call is over.
//
// Budgets and breakers are shared by many Transports, so they are registered on
// their own, once each:
//
//	reg, err := otelretry.RegisterBreaker(policy.Breaker, otelretry.Config{})
//	...
//	defer reg.Unregister()
//
// A Transport registers nothing and needs no end. Shutting down the meter
// provider ends the callbacks too.
//
// # Together with otelhttp
//
// otelhttp.NewTransport (go.opentelemetry.io/contrib) makes one client span, and
// one measurement of http.client.request.duration, of each request that goes
// through it. Around a Transport that repeats, it sees one request where there
// were three. Below it, it sees three that have nothing in common but their
// parent: neither their number, nor why they were made, nor the waits.
//
// The usual way is New alone, or for the duration of requests, which is otelhttp's
// to measure, otelhttp as the base, with its spans off:
//
//	base := otelhttp.NewTransport(nil, otelhttp.WithTracerProvider(noop.NewTracerProvider()))
//	client := &http.Client{Transport: otelretry.New(base, policy, otelretry.Config{})}
//
// With its spans on it works as well, and each attempt has a second client span
// inside the first one. otelhttp.NewHandler on the server finds the attempt as its
// parent in any of these ways.
//
// # Pitfalls
//
//   - A policy that comes from [roundtripper.WithPolicy] has an Observe of its
//     own: its calls have spans and metrics, but their waits are told only if
//     that is [Transport.Observe].
//   - A Transport inside another one's attempt makes spans of its own, and its
//     resend count is its own too.
//   - Each hop of a redirect is a call, and http.request.resend_count begins anew.
package otelretry
