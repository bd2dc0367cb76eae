package rehearse

// What became of a delivery.

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// Result is what became of a delivery.
type Result struct {
	EventID    string
	DeliveryID string // the same in every attempt, and another one in every delivery of the event
	State      State  // empty: there is an error instead
	Duplicate  bool   // the receiver had taken this very delivery before: it answered with Webhook-Duplicate: true
	EventSeen  bool   // the receiver knows the event from another delivery: it answered with Webhook-Event-Seen: true
	Gone       bool   // the receiver answered 410: nothing should be sent there any more
	Attempts   []Attempt
}

// Attempt is one attempt of a delivery.
type Attempt struct {
	Number     int // from 1
	Start      time.Time
	Elapsed    time.Duration // until the answer was there, or the failure
	StatusCode int           // 0: no answer
	Err        error         // nil: there was an answer. With a StatusCode beside it, that one broke off or stalled
	Sent       bool          // false: it is certain that nothing of it left
}

// State says how a delivery ended.
type State string

const (
	// Delivered: the receiver answered 2xx, and all of that answer arrived.
	Delivered State = "delivered"

	// Rejected: the receiver did not take the event. It answered with another status, or could not be reached.
	Rejected State = "failed"

	// Unknown: an attempt left and was not answered, or somebody in between answered for a receiver that it got nothing
	// from (502, 504), and nothing that came after it tells whether the receiver took it.
	// A later delivery of the same event settles it, if the receiver knows events that it has seen.
	Unknown State = "unknown"
)

// attemptsOf takes over what a report says.
func attemptsOf(r *roundtripper.Report) []Attempt {
	attempts := make([]Attempt, len(r.Attempts))
	for i, a := range r.Attempts {
		attempts[i] = Attempt{
			Number:     a.Number,
			Start:      a.Start,
			Elapsed:    a.Elapsed,
			StatusCode: a.StatusCode,
			Err:        a.Err,
			Sent:       a.Sent,
		}
		if cut, ok := errors.AsType[*cutOffError](a.Err); ok {
			attempts[i].StatusCode = cut.status
		}
	}
	return attempts
}

// silent are the answers that say nothing about an attempt before them: it may still be in work, or they come from
// somebody in between who did not look. A 500 is not among them, since a receiver that has taken a delivery knows it
// and does not fail at it again, nor is a refusal, which would have met the earlier attempt just as well.
var silent = []int{
	http.StatusRequestTimeout,
	http.StatusConflict,
	http.StatusTooEarly,
	http.StatusTooManyRequests,
	http.StatusServiceUnavailable,
}

// passedOn are the answers of a gateway that has forwarded the attempt and has no answer to it, or none that it
// understands: the receiver may be at work on it for a long time yet.
var passedOn = []int{http.StatusBadGateway, http.StatusGatewayTimeout}

// stateOf is the verdict on attempts.
func stateOf(attempts []Attempt) State {
	open := false // an attempt may have arrived, and nobody has said so
	for _, a := range attempts {
		switch {
		case a.Err != nil:
			open = open || a.Sent
		case isSuccess(a.StatusCode):
			return Delivered
		case slices.Contains(passedOn, a.StatusCode):
			open = true
		case !slices.Contains(silent, a.StatusCode):
			open = false
		}
	}
	if open {
		return Unknown
	}
	return Rejected
}

func isSuccess(status int) bool { return status >= 200 && status <= 299 }
