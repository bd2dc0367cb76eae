package webhookmw

// Refusals: what the sender is told, and what the operator is told.

import (
	"fmt"
	"net/http"
	"time"
)

// Rejection is why a delivery was refused. It is for the operator: the sender is told the status, and one text for all
// that share it.
type Rejection struct {
	Status int    // the HTTP status that it is answered with
	Reason Reason // for programs
	Err    error  // for people: what exactly, and by how much; never with a secret or a signature in it

	unread bool // the body was not read to its end
}

func (e *Rejection) Error() string {
	return fmt.Sprintf("webhookmw: %s: %v", e.Reason, e.Err)
}

// Unwrap returns e.Err.
func (e *Rejection) Unwrap() error { return e.Err }

// text is what the sender is told. Until the signature has been found good that is the status and nothing more, so that
// nobody can feel a way towards one.
func (e *Rejection) text() string {
	switch e.Reason {
	case ReasonNotUTF8:
		return "body is not UTF-8"
	case ReasonMismatch:
		return "same delivery and event, other body"
	case ReasonInFlight:
		return "delivery in work"
	}
	switch e.Status {
	case http.StatusUnauthorized:
		return "delivery not verified"
	case http.StatusBadRequest:
		return "body not readable"
	case http.StatusUnprocessableEntity:
		return "event not accepted"
	case http.StatusUnsupportedMediaType:
		return "content encoding not accepted"
	}
	return http.StatusText(e.Status)
}

// unauthorized is a refusal whose cause the sender is not told.
func unauthorized(reason Reason, err error) *Rejection {
	return &Rejection{Status: http.StatusUnauthorized, Reason: reason, Err: err}
}

// clockError is a timestamp outside the window. Its text is only made for those who read it.
type clockError struct {
	off       time.Duration // the timestamp less this machine's clock
	tolerance time.Duration
}

func (e *clockError) Error() string {
	side, off := "ahead of", e.off
	if off < 0 {
		side, off = "behind", -off
	}
	return fmt.Sprintf("timestamp %v %s this clock, %v allowed", off, side, e.tolerance)
}
