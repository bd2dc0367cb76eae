package otelretry

// This file holds the Transport: how its three parts are put together.

import (
	"net/http"

	"github.com/hashicorp/go-cleanhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/rebound-go/rebound/roundtripper"
)

// Transport is a [roundtripper.Transport] that tells OpenTelemetry what it
// does: one span for each call, in it one for each attempt, and metrics. In all
// else it behaves as the Transport inside it. It is made by [New]. It may be used
// by many goroutines at once.
type Transport struct {
	next       *roundtripper.Transport
	tracer     trace.Tracer
	attributes []attribute.KeyValue
	metrics    *metrics
}

var _ http.RoundTripper = (*Transport)(nil)

// New is [roundtripper.New] with telemetry: it returns a Transport that sends
// through base, repeats as policy says, and tells the providers of config. The
// policy's own Observe is called as ever. A nil base is a pooled transport of
// this Transport's own.
func New(base http.RoundTripper, policy roundtripper.Policy, config Config) *Transport {
	if base == nil {
		base = cleanhttp.DefaultPooledTransport()
	}
	config = config.withDefaults()
	t := &Transport{
		tracer:     config.tracer(),
		attributes: config.Attributes,
		metrics:    newMetrics(config),
	}
	policy.Observe = t.Observe(policy.Observe)
	t.next = roundtripper.New(&attempts{
		base:        base,
		tracer:      t.tracer,
		propagators: config.Propagators,
		attributes:  t.attributes,
	}, policy)
	return t
}

// CloseIdleConnections passes the wish on to the base, if it can fulfil it.
func (t *Transport) CloseIdleConnections() { t.next.CloseIdleConnections() }
