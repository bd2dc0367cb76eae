// Package rehearse sends webhooks as a provider does when things go wrong, so that a receiver can be tried against what
// will happen to it: attempts that time out and are repeated, twins, replays.
//
// It is the other half of package webhookmw. This one delivers:
//
//	sender, err := rehearse.New(rehearse.Config{URL: "http://localhost:8080/hook", Secret: secret})
//	...
//	result, err := sender.Send(ctx, rehearse.Event{Body: []byte(`{"id":"evt_1","type":"order.paid"}`)})
//
// and that one receives:
//
//	http.Handle("/hook", webhookmw.Verify(secret)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
//		delivery, _ := webhookmw.FromContext(r.Context())
//		...
//	})))
//
// The command in cmd/rehearse does all of this without a program, and also sends what no honest sender would.
//
// # What a delivery is
//
// An [Event] is its body, byte for byte; its ID is in there. A delivery carries an event to the receiver, under a
// delivery ID of its own, in up to three attempts: see [Policy]. Each attempt is stamped and signed when it leaves, with
// [webhookmw.Sign], over the same bytes and the same delivery ID. So the receiver can tell three things apart:
//
//   - the same delivery again: an attempt that was repeated, or a duplicate made on the way. It has been done, or is
//     being done, and the receiver says so with Webhook-Duplicate: true, or with 409;
//   - the same event in another delivery: somebody sent it again on purpose, with [Sender.Replay]. The handler runs, and
//     finds Delivery.EventSeen if the event was taken before;
//   - another event.
//
// The receiver says whether the event was known, too, by Webhook-Event-Seen: true; [Result.EventSeen] is where that
// arrives.
//
// # How it ends
//
// [Delivered] is certain: the receiver answered 2xx. The answer counts when all of it has arrived within the attempt's
// two seconds (of an answer beyond 64 KiB, that much). A status line alone is not enough: a handler that dies after it
// has not taken the delivery, and package webhookmw has given it back for the next attempt. If the answer got lost all
// the same, the next attempt learns so: it is told that it is a duplicate, and nothing was done twice.
//
// [Rejected], "failed", is as certain as the one who answers: nothing of the delivery left, or there was an answer, and
// not 2xx. What such an answer has in its body does not matter, and is not read. A redirect is one, and is not followed: a
// signed event is for the URL that you gave, and for nobody else. So is 101: nobody asked for another protocol.
//
// [Unknown] is what remains. An attempt left, and nobody answered; or a gateway did, with 502 or 504, which passed it on
// and does not know either: the receiver may have taken it, may be busy with it, or may never have seen it. A later
// attempt can settle that, with a 2xx, a 500, a refusal; it can't with a 409 or a 503 or another one of those that
// somebody gives who has not looked. Send such an event again, with [Sender.Replay]: a handler that heeds
// Delivery.EventSeen does not take it twice.
//
// None of the three is an error: an error says that there is no verdict.
//
// # Replays and keys
//
// A replay needs the exact bytes. [Sender.Send] keeps them in an [EventStore] before it sends: [Memory] for as long as
// the process lives, [Dir] in files, to be replayed tomorrow.
//
// Whoever presses a button twice wants one replay. Give one press one idempotency key, and all replays under it are one
// delivery with one result, at the same time or later, whoever of the callers goes away. The key is between you and the
// [Sender], and never sent: an Idempotency-Key header would let net/http send a request twice on its own.
//
// # Pitfalls
//
//   - The schedule is for trying things out. It gives up after six seconds; a provider goes on for hours.
//   - A handler that ends when its request's context does is cut short when the sender hangs up after two seconds. If it
//     has done half of its work by then, that half is done again by the next attempt. One that goes on to the end has to
//     answer with a status: from a handler that says nothing once the sender is gone, package webhookmw takes nothing.
//   - A URL that others may choose can point into your own network. Give [Config.Transport] a [net.Dialer] whose Control
//     refuses the addresses that are not for them: it sees the address that is dialled, after DNS.
package rehearse
