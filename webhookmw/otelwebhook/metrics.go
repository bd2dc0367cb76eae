package otelwebhook

// The measurements.

import (
	"errors"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/rebound-go/rebound/webhookmw"
)

// The bounds of the histograms: of seconds, those that the conventions have for requests; of bytes, up to the largest
// body that a receiver takes by default, and beyond.
var (
	seconds = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30}
	sizes   = []float64{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20, 16 << 20}
)

// other stands for the many values that a metric must not tell apart.
const other = "_OTHER"

type metrics struct {
	attributes []attribute.KeyValue
	types      []string

	deliveries metric.Int64Counter
	duration   metric.Float64Histogram
	size       metric.Int64Histogram
	duplicates metric.Int64Counter
	reuses     metric.Int64Counter
}

// newMetrics makes the instruments. A meter that refuses one of them gets none, and the error goes to the global handler:
// telemetry is no reason for a receiver not to start.
func newMetrics(config Config, meter metric.Meter) *metrics {
	m := &metrics{attributes: config.Attributes, types: config.EventTypes}
	if err := m.open(meter); err != nil {
		otel.Handle(err)
		m.open(noop.Meter{})
	}
	return m
}

func (m *metrics) open(meter metric.Meter) error {
	var errs [5]error
	m.deliveries, errs[0] = meter.Int64Counter("rebound.webhook.deliveries", metric.WithUnit("{delivery}"),
		metric.WithDescription("Requests to the receiver, by what became of them."))
	m.duration, errs[1] = meter.Float64Histogram("rebound.webhook.delivery.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from a request's headers to the end of its handler."),
		metric.WithExplicitBucketBoundaries(seconds...))
	m.size, errs[2] = meter.Int64Histogram("rebound.webhook.body.size", metric.WithUnit("By"),
		metric.WithDescription("Size of the bodies whose signature is good."),
		metric.WithExplicitBucketBoundaries(sizes...))
	m.duplicates, errs[3] = meter.Int64Counter("rebound.webhook.duplicates", metric.WithUnit("{delivery}"),
		metric.WithDescription("Deliveries of events that were taken before."))
	m.reuses, errs[4] = meter.Int64Counter("rebound.webhook.signature_reuses", metric.WithUnit("{delivery}"),
		metric.WithDescription("Deliveries whose signed bytes came before under another delivery ID."))
	return errors.Join(errs[:]...)
}

func (m *metrics) measure(e webhookmw.Event) {
	ctx := e.Request.Context()
	if !m.deliveries.Enabled(ctx) && !m.duration.Enabled(ctx) && !m.size.Enabled(ctx) &&
		!m.duplicates.Enabled(ctx) && !m.reuses.Enabled(ctx) {
		return
	}
	base := m.of(e.Delivery)
	reason := append(base, keyReason.String(string(e.Reason)))
	all := reason
	if e.Status != 0 {
		all = append(all, semconv.HTTPResponseStatusCode(e.Status))
	}
	// WithAttributes takes a copy, so that what stands behind base may be written again below.
	set := metric.WithAttributes(all...)
	m.deliveries.Add(ctx, 1, set)
	m.duration.Record(ctx, e.Elapsed.Seconds(), set)
	d := e.Delivery
	if d == nil {
		return
	}
	m.size.Record(ctx, int64(len(d.Body)), metric.WithAttributes(reason...))
	switch {
	case d.Duplicate:
		m.duplicates.Add(ctx, 1, metric.WithAttributes(append(base, keyDuplicateOf.String("delivery"))...))
	case d.EventSeen:
		m.duplicates.Add(ctx, 1, metric.WithAttributes(append(base, keyDuplicateOf.String("event"))...))
	}
	if d.SignatureReused {
		m.reuses.Add(ctx, 1, metric.WithAttributes(base...))
	}
}

// of are the attributes that every measurement has, with room for two more.
func (m *metrics) of(d *webhookmw.Delivery) []attribute.KeyValue {
	as := make([]attribute.KeyValue, 0, len(m.attributes)+3)
	as = append(as, m.attributes...)
	if len(m.types) == 0 || d == nil {
		return as
	}
	if slices.Contains(m.types, d.Type) {
		return append(as, keyEventType.String(d.Type))
	}
	return append(as, keyEventType.String(other))
}
