package otelretry

// This file holds the span of a call, around all of its attempts and waits.

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/rebound-go/rebound/roundtripper"
)

// call is one RoundTrip. It is the context of the request that goes in, so that
// the events of the call find it.
type call struct {
	spanContext
	t    *Transport
	req  http.Request
	body spanBody
	wait wait // the one that is under way
}

type callKey struct{}

// The kinds of our spans. The conventions want one client span for each request
// on the wire, and so none around them.
var (
	kindCall    = trace.WithSpanKind(trace.SpanKindInternal)
	kindAttempt = trace.WithSpanKind(trace.SpanKindClient)
)

// Value implements [context.Context].
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// RoundTrip implements [http.RoundTripper]. It does not change req, and closes
// req.Body in any case. The span of the call ends with the body of the response
// or with its Close; at once where there is no body, with an error, and with a
// 101, whose connection is no longer this call's.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := &call{t: t}
	c.parent = req.Context()
	c.Context, c.body.span = t.tracer.Start(c.parent, methodName(req)+" call",
		kindCall, trace.WithAttributes(requestAttributes(req, t.attributes)...))
	c.req = *req.WithContext(c)
	returned := false
	defer func() {
		if !returned { // a panic, or a Goexit
			c.body.abandon()
		}
	}()
	resp, err := t.next.RoundTrip(&c.req)
	returned = true
	c.end(resp, err)
	return resp, err
}

// end says what became of the call, and leaves the span to the body if there is
// one.
func (c *call) end(resp *http.Response, err error) {
	report := reportOf(resp, err)
	if report != nil {
		c.endWait()
		c.t.metrics.call(c, &c.req, report, resp)
	}
	if c.body.span.IsRecording() {
		c.body.span.SetAttributes(callAttributes(report, resp)...)
		c.body.judge(resp, err)
	}
	c.body.cover(resp)
}

// reportOf is the report of a call that gave resp or err.
func reportOf(resp *http.Response, err error) *roundtripper.Report {
	if failed, ok := err.(*roundtripper.Error); ok {
		return failed.Report
	}
	report, _ := roundtripper.ReportFrom(resp)
	return report
}

func callAttributes(report *roundtripper.Report, resp *http.Response) []attribute.KeyValue {
	as := make([]attribute.KeyValue, 0, 6)
	if resp != nil {
		as = append(as, semconv.HTTPResponseStatusCode(resp.StatusCode))
	}
	if report == nil {
		return as
	}
	as = append(as, attribute.Int(keyAttempts, len(report.Attempts)), attribute.String(keyStop, string(report.Stop)))
	if report.RequestID != "" {
		as = append(as, attribute.String(keyRequestID, report.RequestID))
	}
	if d, ok := report.RetryAfter(); ok {
		as = append(as, attribute.Float64(keyRetryAfter, d.Seconds()))
	}
	if report.Fallback {
		as = append(as, attribute.Bool(keyFallback, true))
	}
	return as
}

// spanContext is a context with a span in it that passes on what package
// context looks for in one that is not its own: without AfterFunc, each context
// made from it would cost a goroutine where parent is not package context's.
type spanContext struct {
	context.Context
	parent context.Context
}

// AfterFunc is that of parent: see [context.AfterFunc].
func (c *spanContext) AfterFunc(f func()) (stop func() bool) {
	return context.AfterFunc(c.parent, f)
}
