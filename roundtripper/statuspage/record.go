package statuspage

// The record of one call: what each event adds to it.

import (
	"slices"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// mostSteps bounds the steps of a record. Past it the second one goes: the first says how the trouble began.
const mostSteps = 24

// take adds what e says. failure is the text of its attempt's error.
func (r *record) take(e roundtripper.Event, failure string, now time.Time) {
	a := e.Attempt
	r.State = e.State
	switch e.State {
	case roundtripper.StateOffline:
		r.add(Step{Kind: StepOffline, Start: now})
	case roundtripper.StateSending:
		r.add(Step{Kind: StepAttempt, Start: a.Start, Number: a.Number})
	case roundtripper.StateWaiting:
		if a.Verdict.Reason == "" { // nothing was sent: the host is left alone
			r.add(Step{Kind: StepHeld, Start: now, Planned: a.Wait})
			break
		}
		r.judged(a, failure, now)
		if a.Wait > 0 {
			r.add(Step{Kind: StepWait, Start: now, Planned: a.Wait})
		}
	case roundtripper.StateDone, roundtripper.StateFailed:
		r.judged(a, failure, now)
		r.Stop, r.Fallback = e.Report.Stop, e.Report.Fallback
		r.Elapsed = e.Report.Elapsed
	}
}

// add begins a step, which ends the one before.
func (r *record) add(s Step) {
	r.close(s.Start)
	if len(r.Steps) == mostSteps {
		r.Steps = slices.Delete(r.Steps, 1, 2)
		r.StepsLeftOut++
	}
	r.Steps = append(r.Steps, s)
	r.open = true
	r.Attempts = max(r.Attempts, s.Number)
}

// close ends the last step, if it goes on.
func (r *record) close(now time.Time) {
	if r.open {
		last := &r.Steps[len(r.Steps)-1]
		last.Elapsed = now.Sub(last.Start)
		r.open = false
	}
}

// judged ends the last step and, if that is attempt a on its way, says what became of it.
func (r *record) judged(a *roundtripper.Attempt, failure string, now time.Time) {
	if !r.open {
		return
	}
	r.close(now)
	last := &r.Steps[len(r.Steps)-1]
	if a == nil || last.Number != a.Number {
		return
	}
	last.Elapsed = a.Elapsed
	last.Status, last.Error = a.StatusCode, failure
	last.Reason, last.MayHeal = a.Verdict.Reason, a.Verdict.Retry
	last.Unsent, last.Uncharged = !a.Sent, !a.Charged
	r.Status = a.StatusCode
}
