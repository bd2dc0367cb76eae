// Package webhookmw receives webhooks: it lets through only deliveries that are signed, fresh, whole, well-formed and new.
//
//	http.Handle("POST /hooks/orders", webhookmw.Verify(secret)(orders))
//
// [Verify] is the whole of it for most receivers. [New] takes a [Config]: another provider's [Scheme], another window or
// limit, a [Contract] for other bodies, a [Store] that several machines share, an observer. [Verifier.Check] verifies one
// request without a store. [FromContext] gives a handler the [Delivery] it was called for. [Sign] and [Scheme.Sign] are
// the sender's half; package webhooktest signs requests for tests.
//
// # What happens to a request
//
// Each step refuses before the next one costs anything:
//
//	method is POST                                      405
//	no Content-Encoding                                 415
//	declared length within MaxBodyBytes                 413, body not read
//	headers: one timestamp, plain digits, in the
//	  window; 1 to 8 signatures in at most 2 KiB;
//	  one delivery ID                                   401, body not read
//	body is whole and within the limit                  400, 413
//	a secret made one of the signatures                 401
//	body is UTF-8                                       400
//	body is the event it should be                      422
//	delivery is new                                     200 with Webhook-Duplicate: true, 409, 422, 503
//	handler                                             its own answer
//
// # What is signed, and what is not
//
// The signature covers the timestamp and the exact bytes of the body. It does not cover the URL, the query, the method or
// any other header: a handler that trusts one of those trusts the network. Read what matters from the body.
//
// The delivery ID is a header. In the default scheme a v2 signature covers it as well, which [Sign] sends and a receiver
// checks where it finds one. That alone keeps nobody out: who has recorded a delivery can strip its v2, and send the v1 again
// and again within the window, each time under a fresh delivery ID. It verifies, and is no duplicate by its ID: the handler
// runs again for the same event, and each ID takes a place in the [Store], until it is full. The receiver notices that the
// same signed bytes came before, and says so in [Delivery.SignatureReused]; once the first delivery is done,
// [Delivery.EventSeen] says so too. Neither helps against two at the same moment. So:
//
//   - Where every sender sends v2, set [Config.RequireV2]: a recording is of no use then under another ID.
//   - Otherwise deduplicate on [Delivery.EventID] in the handler's own transaction, and look at EventSeen before anything
//     that is dear.
//
// [GitHub] signs no time and no ID at all; its documentation says what that means.
//
// # At least once
//
// A sender repeats a delivery until it gets a 2xx. So the receiver acknowledges only what has been handled:
//
//   - A handler that answers 2xx, or returns without a word, has taken the delivery. From then on, for
//     [Config.Retention], the same delivery is answered 200 and the handler does not see it.
//   - One that answers anything else, panics, or takes over the connection has not. The delivery is forgotten, and the
//     sender's next attempt runs.
//   - Nor has one that returns without a word when its context has ended, be it that the sender hung up, that an
//     http.TimeoutHandler further out gave up, or that the lease ran out. It is answered 503. Where it had done its work
//     after all, the work is done once more; a handler that comes to its end late says so with a 2xx.
//   - While a delivery is in work its twin waits for a moment, and is then told to come back, never that it is done.
//   - A process that dies in the middle holds the delivery until its lease ends (or, with a [Memory], no longer than it
//     lives). After that the next attempt runs.
//
// What this asks of a handler: it may run again for work that it had done, when it died or failed between doing it and
// saying so. Do the work in a transaction that also records [Delivery.EventID], or do work that may be done twice. A
// handler that gives up says so with a status of 500 or above. The context ends with the lease, before anybody else may
// begin.
//
// A [Store] that is a [Committer] spares a handler that: it can make the work and the note that it is done one, and the
// answer waits for both. Where they fail the sender is told 503 in its place. Package sqlstore has one.
//
// Answer when the work is done, or when it is safe in a queue of your own; never before.
//
// # Where to put it
//
// Before anything that reads the body: body loggers, form and JSON parsers, decompression. What they leave is not what
// was signed, and usually nothing; such a request is refused with 400 and [ReasonBodyConsumed], except where its length
// was not declared: then what was read before can't be told from what was never sent, and it gets the 401 of a body
// that was changed. Recovery, logging, routing and request IDs may be outside. http.TimeoutHandler belongs outside too:
// inside, a handler that is too slow goes on in the background after its delivery has been given back.
//
// A framework whose handlers return an error, for it to answer further out, belongs inside: returned through this
// middleware, such a handler has said nothing, which counts as taken, and the 500 that follows is followed by a
// duplicate. Wrap the framework's whole handler, or answer where the error is.
//
// The handler reads the exact bytes from r.Body again, or takes them from the [Delivery].
//
// Set http.Server.ReadTimeout: the size of a body is bounded here, the time it takes is not. A refusal whose body was not
// read closes the connection.
//
// One middleware has one memory. Handlers that it wraps share it: a delivery that one of them took is a duplicate for all.
// Give receivers that share a [Store] each a [Config.Scope].
//
// # What each status tells the sender
//
//	2xx       taken; a header Webhook-Duplicate: true says that it was taken before,
//	          Webhook-Event-Seen: true that its event was, in another delivery
//	400       the body broke on the way, or is not UTF-8; repeating it as it was may help
//	401       not verified: wrong secret, changed bytes, stale, malformed; one text for all of these
//	405, 415  not a delivery
//	413       too large; repeating it will not help
//	409       the same delivery is in work; come back, Retry-After says when
//	422       not an event, or this delivery came before with another body; repeating it will not help
//	503       nothing can be remembered just now, or the handler ran out of time, or its
//	          work could not be committed; come back, Retry-After says when
//
// The reason for a refusal goes to [Config.Observe] alone, which may be [Log], and [Verifier.Explain] finds out more about a
// request that was kept. Watch for [ReasonStale] and [ReasonFuture], which are clocks; [ReasonSignature], which is a
// secret or something that rewrites bodies; [ReasonNotRecorded], which is a store that failed after the work was done.
//
// # Secrets
//
// A secret that is empty, blank, shorter than 16 bytes, begins or ends with white space or holds a control character is
// refused when the middleware is made: an empty one would verify what anybody signed with nothing. To change a secret, put
// the new one first and keep the old one after it until the sender has changed over.
package webhookmw
