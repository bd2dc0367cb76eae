package otelretry

// This file holds what is learned from the events of a call: its waits.

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/rebound-go/rebound/roundtripper"
)

// The kinds of waits.
const (
	waitRetry    = "retry"     // before an attempt is repeated
	waitHeldBack = "held-back" // for a host that told another call to come later
	waitOffline  = "offline"   // for the network
)

// wait is a wait under way. Its zero value is none.
type wait struct {
	kind   string
	began  time.Time
	number int // the attempt before it; 0: none
	status int
	reason roundtripper.Reason
}

// Observe is for a policy that calls follow instead of the Transport's own, by
// way of [roundtripper.WithPolicy]: it returns an [roundtripper.Policy.Observe]
// that calls next, which may be nil, and then notes the waits. Without it such
// calls have spans and metrics as all others do, and only their waits are told
// neither as events nor as measurements.
func (t *Transport) Observe(next func(roundtripper.Event)) func(roundtripper.Event) {
	return func(e roundtripper.Event) {
		if next != nil {
			next(e)
		}
		t.observe(e)
	}
}

func (t *Transport) observe(e roundtripper.Event) {
	c, ok := e.Request.Context().Value(callKey{}).(*call)
	if !ok || c.t != t {
		return
	}
	if e.State == roundtripper.StateSlow { // perhaps on another goroutine
		c.body.span.AddEvent("rebound.slow")
		return
	}
	c.endWait()
	switch e.State {
	case roundtripper.StateOffline:
		c.wait = wait{kind: waitOffline, began: time.Now()}
		if e.Attempt != nil {
			c.wait.number = e.Attempt.Number
		}
	case roundtripper.StateWaiting:
		c.wait = wait{kind: waitRetry, began: time.Now(), number: e.Attempt.Number,
			status: e.Attempt.StatusCode, reason: e.Attempt.Verdict.Reason}
		if c.wait.reason == "" { // nothing was sent that could have a verdict
			c.wait.kind, c.wait.number = waitHeldBack, e.Attempt.Number-1
		}
	}
}

// endWait notes the wait that is over, if there was one.
func (c *call) endWait() {
	w := c.wait
	if w.kind == "" {
		return
	}
	c.wait = wait{}
	took := time.Since(w.began)
	c.t.metrics.wait(c, &c.req, w, took)
	if !c.body.span.IsRecording() {
		return
	}
	as := make([]attribute.KeyValue, 0, 5)
	as = append(as, attribute.String(keyWaitKind, w.kind), attribute.Float64(keyWaitTime, took.Seconds()))
	if w.number != 0 {
		as = append(as, attribute.Int(keyAttempt, w.number))
	}
	if w.reason != "" {
		as = append(as, attribute.String(keyReason, string(w.reason)))
	}
	if w.status != 0 {
		as = append(as, semconv.HTTPResponseStatusCode(w.status))
	}
	c.body.span.AddEvent("rebound.wait", trace.WithTimestamp(w.began), trace.WithAttributes(as...))
}
