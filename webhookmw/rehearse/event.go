package rehearse

// Events: what one is, and what keeps them.

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/rebound-go/rebound/webhookmw"
)

// Event is what a delivery carries. Its body is the event: a JSON object that says its own ID and type, as
// [webhookmw.StrictEvent] wants it, and the bytes that are signed and sent are exactly these. ID and Type may be left
// empty; where they are set they must be what the body says.
type Event struct {
	ID, Type string
	Body     []byte
}

// EventStore keeps events, so that they can be replayed. It is safe for use by many goroutines at once. [Memory] and
// [Dir] are two.
type EventStore interface {
	// Put keeps e, whose ID is 1 to 255 printable ASCII characters, and makes its own copy of the body. An ID stands for
	// the same bytes for ever: where it is known with the same ones Put does nothing, and with others it keeps the ones
	// that are there and returns a *ConflictError.
	Put(ctx context.Context, e Event) error

	// Get returns the event with that ID. Its body is the caller's own. The error is ErrNoEvent if there is none.
	Get(ctx context.Context, id string) (Event, error)
}

var (
	// ErrNoEvent is the error of an [EventStore] that does not have the event.
	ErrNoEvent = errors.New("rehearse: no such event")

	// ErrBadEvent is the error for an [Event] whose body is not one, or says something else than its fields do.
	ErrBadEvent = errors.New("rehearse: bad event")
)

// checked returns e with every field filled in and a body of its own.
func (e Event) checked() (Event, error) {
	id, typ, err := webhookmw.StrictEvent(e.Body)
	switch {
	case err != nil:
		return Event{}, fmt.Errorf("%w: %w", ErrBadEvent, err)
	case e.ID != "" && e.ID != id:
		return Event{}, fmt.Errorf("%w: the body says ID %q, not %q", ErrBadEvent, id, e.ID)
	case e.Type != "" && e.Type != typ:
		return Event{}, fmt.Errorf("%w: the body says type %q, not %q", ErrBadEvent, typ, e.Type)
	}
	return Event{ID: id, Type: typ, Body: bytes.Clone(e.Body)}, nil
}

// ConflictError is a name that stands for something else already: an event's ID for other bytes, or a replay's
// idempotency key for another event, other bytes or another URL. Nothing was sent.
type ConflictError struct {
	EventID string // the event that was to be kept or replayed
	Key     string // the idempotency key; empty: the event's ID is known with other bytes
	Held    string // the event that Key stands for; the same as EventID: with other bytes, or delivered to another URL
}

func (e *ConflictError) Error() string {
	switch {
	case e.Key == "":
		return fmt.Sprintf("rehearse: event %q is known with other bytes", e.EventID)
	case e.Held == e.EventID:
		return fmt.Sprintf("rehearse: idempotency key %q stands for other bytes, or another URL", e.Key)
	}
	return fmt.Sprintf("rehearse: idempotency key %q stands for event %q, not %q", e.Key, e.Held, e.EventID)
}
