package webhookmw

// A delivery that has been verified, and how a handler comes by it.

import (
	"context"
	"time"
)

// Delivery is one delivery of one event, verified. It is the handler's to keep, together with Body, which nobody else
// writes to; r.Body reads the same bytes, so that whoever changes them changes both.
type Delivery struct {
	EventID         string    // the event; the same in every delivery of it
	DeliveryID      string    // the delivery; the same in every attempt at it; empty in a scheme without one
	Type            string    // the event's type; empty where the contract finds none
	Timestamp       time.Time // when this attempt was signed, in whole seconds; zero in a scheme without a timestamp
	Body            []byte    // the exact bytes that were signed
	Duplicate       bool      // this delivery of this event was received and finished before
	EventSeen       bool      // this event was finished before, under any delivery
	SignatureReused bool      // the same signed bytes came before under another delivery ID
}

// FromContext returns the delivery that the handler of [Verifier.Handler] was called for. ctx is the request's context or
// one made from it.
func FromContext(ctx context.Context) (d *Delivery, ok bool) {
	d, ok = ctx.Value(deliveryKey{}).(*Delivery)
	return d, ok
}

type deliveryKey struct{}
