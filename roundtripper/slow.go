package roundtripper

// This file holds the one event that a timer tells.

import (
	"slices"
	"sync"
	"time"
)

// slowWatch tells StateSlow. Its timer runs beside the call and must not look
// at what the call is writing, so each event leaves a copy of itself here. The
// lock also keeps the events of a call in order: none comes after the last.
type slowWatch struct {
	call  *call
	timer *time.Timer

	mu   sync.Mutex
	over bool
	last Event
}

// watchSlow starts the watch, if anyone wants to know.
func (c *call) watchSlow() {
	if c.policy.SlowAfter == 0 || c.policy.Observe == nil {
		return
	}
	c.openReport()
	s := &slowWatch{call: c, last: Event{Request: c.orig, Report: &Report{RequestID: c.requestID[0], Key: c.keyText()}}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(c.policy.SlowAfter, s.fire)
	c.slow = s
}

func (s *slowWatch) tell(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.State == StateDone || e.State == StateFailed {
		s.over = true
		s.timer.Stop()
	}
	s.last = e.copy()
	s.call.policy.Observe(e)
}

func (s *slowWatch) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	e := s.last
	e.State = StateSlow
	e.Report.Elapsed = s.call.elapsedNow()
	s.call.policy.Observe(e)
}

// stop is for a call that ends without a last event.
func (s *slowWatch) stop() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.timer.Stop()
}

// copy is e with a report and an attempt of its own.
func (e Event) copy() Event {
	r := *e.Report
	r.Attempts = slices.Clone(r.Attempts)
	e.Report = &r
	if e.Attempt != nil {
		a := *e.Attempt
		e.Attempt = &a
	}
	return e
}
