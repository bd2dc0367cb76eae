package otelretry

// This file holds the span of an attempt, and what tells the server of it.

import (
	"maps"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/rebound-go/rebound/roundtripper"
)

// attempts is the base of the Transport: what comes through it is one attempt.
type attempts struct {
	base        http.RoundTripper
	tracer      trace.Tracer
	propagators propagation.TextMapPropagator
	attributes  []attribute.KeyValue
}

// attempt is one of them.
type attempt struct {
	spanContext
	req    http.Request
	body   spanBody
	header carrier
}

// RoundTrip implements [http.RoundTripper]. The span of the attempt ends as that
// of a call does, but with the body that the base returned: what is read of it
// inside the attempt, or drained from it, is part of the attempt.
func (t *attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	a := &attempt{}
	a.parent = req.Context()
	as := requestAttributes(req, t.attributes)
	if n, ok := roundtripper.AttemptNumber(a.parent); ok && n > 1 {
		as = append(as, semconv.HTTPRequestResendCount(n-1))
	}
	a.Context, a.body.span = t.tracer.Start(a.parent, methodName(req),
		kindAttempt, trace.WithAttributes(as...))
	a.req = *req.WithContext(a)
	returned := false
	defer func() {
		if !returned { // a panic, or a Goexit
			a.body.abandon()
		}
	}()
	a.header.request = &a.req
	t.propagators.Inject(a, &a.header)
	resp, err := t.base.RoundTrip(&a.req)
	returned = true
	if a.body.span.IsRecording() {
		if resp != nil {
			a.body.span.SetAttributes(responseAttributes(resp)...)
		}
		a.body.judge(resp, err)
	}
	if err != nil {
		a.body.end(nil)
		return resp, err // both, where the base gives both: that is for the Transport to judge
	}
	a.body.cover(resp)
	return resp, nil
}

// CloseIdleConnections passes the wish on.
func (t *attempts) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// carrier takes the headers of propagation. The request's own are the caller's,
// so the first one that is set makes a copy of them.
type carrier struct {
	request *http.Request
	own     bool
}

var _ propagation.ValuesGetter = (*carrier)(nil)

// Get implements [propagation.TextMapCarrier].
func (c *carrier) Get(key string) string { return c.request.Header.Get(key) }

// Values implements [propagation.ValuesGetter].
func (c *carrier) Values(key string) []string { return c.request.Header.Values(key) }

// Keys implements [propagation.TextMapCarrier].
func (c *carrier) Keys() []string { return slices.Collect(maps.Keys(c.request.Header)) }

// Set implements [propagation.TextMapCarrier].
func (c *carrier) Set(key, value string) {
	if !c.own {
		own := make(http.Header, len(c.request.Header)+2)
		maps.Copy(own, c.request.Header) // the values are replaced, never written to
		c.request.Header, c.own = own, true
	}
	c.request.Header.Set(key, value)
}
