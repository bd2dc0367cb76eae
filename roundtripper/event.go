package roundtripper

// This file holds what an observer is told.

import "net/http"

// Event is one step of a call. Observe gets them in the order in which they
// happen, one at a time for each call, on the call's own goroutine; only
// [StateSlow] may come from another one.
type Event struct {
	State   State
	Request *http.Request // the caller's own, to look at
	Attempt *Attempt      // nil before the first
	Report  *Report
}

// State is where a call is.
type State string

// The states of a call.
const (
	StateOffline State = "offline" // waiting for the network
	StateSending State = "sending" // Attempt is on its way
	StateWaiting State = "waiting" // Attempt.Wait says how long
	StateSlow    State = "slow"    // the call has lasted longer than Policy.SlowAfter
	StateDone    State = "done"    // it ended with a 2xx or 3xx
	StateFailed  State = "failed"  // it ended with another status, or an error
)

// emit tells the observer, if there is one.
func (c *call) emit(state State, rec *Attempt) {
	if c.policy.Observe == nil {
		return
	}
	e := Event{State: state, Request: c.orig, Attempt: rec, Report: c.openReport()}
	if c.slow != nil {
		c.slow.tell(e)
	} else {
		c.policy.Observe(e)
	}
}
