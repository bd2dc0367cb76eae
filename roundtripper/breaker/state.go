package breaker

// The words a breaker speaks in: states, outcomes, changes and refusals.

import (
	"fmt"
	"time"
)

// A State is what a breaker does with calls. The zero State is Closed.
type State int

const (
	// Closed lets every call through.
	Closed State = iota
	// Open refuses every call. A breaker reads as Open until a trial begins,
	// even if its cooldown is over.
	Open
	// HalfOpen lets one call through at a time, the trial.
	HalfOpen
)

// String returns "closed", "open" or "half-open".
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case Open:
		return "open"
	case HalfOpen:
		return "half-open"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// An Outcome is what a call says about the service. The zero Outcome is
// Neutral, and so is any that isn't listed here.
type Outcome int

const (
	// Neutral says nothing about the service.
	Neutral Outcome = iota
	// Success says that the service worked.
	Success
	// Failure says that it didn't.
	Failure
)

// A Change is one change of a breaker's state.
type Change struct {
	Key      string // the host in a Group, else empty
	From, To State
	At       time.Time
	Cause    error // the failure that opened it; nil when it didn't open
}

// An OpenError is returned by Allow for a call that is refused.
//
// It doesn't unwrap to its Cause. The cause is the failure of an earlier call,
// and errors.Is(err, context.DeadlineExceeded) must not say of this call, which
// never began, that it timed out: callers would retry it.
type OpenError struct {
	// Key is the host in a [Group], else empty.
	Key string
	// RetryIn is the time until a trial may start: the rest of the cooldown,
	// or while a trial is under way, of its lease. Always positive.
	RetryIn time.Duration
	// Cause is the error of the latest failure that counted. It is nil if that
	// was reported without one.
	Cause error
}

// Error names the host, the time left and the cause.
func (e *OpenError) Error() string {
	unit := 100 * time.Millisecond
	if e.RetryIn < time.Second {
		unit = time.Millisecond
	}
	text := "breaker: "
	if e.Key != "" {
		text += e.Key + " is "
	}
	text += "open, next trial in " + e.RetryIn.Round(unit).String()
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// A Status is what there is to see of a breaker, for people to look at.
type Status struct {
	Key         string
	State       State
	Since       time.Time     // when it came to that state, or was made
	RetryAt     time.Time     // when a trial may start, or could have; zero if it is closed
	Consecutive int           // failures in a row
	Known       int           // results in the window
	Failures    int           // failures among them
	Cooldown    time.Duration // the present one, or the next if it is closed; before it is spread
	Cause       error         // of the latest failure since it was last closed by a trial
}
