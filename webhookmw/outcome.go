package webhookmw

// What became of a request, for those who watch.

import (
	"net/http"
	"time"
)

// Event is what became of one request.
type Event struct {
	Request  *http.Request // as it came; its body may have been read
	Delivery *Delivery     // nil if the request was refused before it was known to be one
	Reason   Reason
	Status   int           // the status it was answered with; 0: none, since the handler panicked or took the connection
	Err      error         // more about Reason, where there is more
	Elapsed  time.Duration // from its arrival here until it was settled, the store included
}

// Reason says what became of a delivery, for logs and metrics. Its text is stable.
type Reason string

// The reasons of deliveries.
const (
	// What became of a delivery that was taken.

	ReasonAccepted    Reason = "accepted"         // the handler took it, and that is on record
	ReasonDuplicate   Reason = "duplicate"        // it was taken before
	ReasonFailed      Reason = "handler-failed"   // the handler answered something other than 2xx, or nothing once its context had ended: Err says why
	ReasonPanicked    Reason = "handler-panicked" // or ended its goroutine
	ReasonHijacked    Reason = "handler-hijacked" // took the connection, so that nobody knows what it answered
	ReasonNotRecorded Reason = "not-recorded"     // the handler is done, but the store could not be told: Err says why, and Status is 503 where a Committer took its work back

	// Refused by the request line and the headers, without a look at the body.

	ReasonMethod       Reason = "method"                // 405: not POST
	ReasonEncoding     Reason = "content-encoding"      // 415
	ReasonTooLarge     Reason = "too-large"             // 413, also where the body turns out to be so
	ReasonNoSignature  Reason = "no-signature"          // 401, as all that follow
	ReasonNoTimestamp  Reason = "no-timestamp"          //
	ReasonRepeated     Reason = "header-repeated"       // a header or an entry that may stand once stands twice
	ReasonSignatures   Reason = "too-many-signatures"   // over 8 of them, or over 2 KiB
	ReasonSyntax       Reason = "malformed-signature"   // no signature of a form that could ever match
	ReasonTimestamp    Reason = "malformed-timestamp"   // not the canonical digits of a number above zero
	ReasonMilliseconds Reason = "timestamp-in-ms"       // looks like milliseconds where seconds belong
	ReasonStale        Reason = "timestamp-stale"       // before the window
	ReasonFuture       Reason = "timestamp-in-future"   // after the window
	ReasonDeliveryID   Reason = "malformed-delivery-id" // or none

	// Refused by the body.

	ReasonBodyConsumed Reason = "body-consumed"      // 400: something before this middleware has read it
	ReasonBodyBroken   Reason = "body-broken"        // 400: shorter or longer than declared, or the connection failed
	ReasonSignature    Reason = "signature-mismatch" // 401: no secret made any of the signatures over this body
	ReasonNotUTF8      Reason = "not-utf-8"          // 400
	ReasonBOM          Reason = "byte-order-mark"    // 422: the contract failed, and the body begins with one
	ReasonContract     Reason = "contract"           // 422

	// Refused by what is known of the delivery.

	ReasonInFlight  Reason = "in-flight"    // 409: its twin is in work
	ReasonMismatch  Reason = "mismatch"     // 422: the same delivery of the same event came with another body
	ReasonStoreFull Reason = "store-full"   // 503
	ReasonStore     Reason = "store-failed" // 503
)
