package otelretry

// This file holds the measurements of calls.

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/internal/redact"
)

// seconds are the bounds of the histograms: those that the conventions have for
// requests, and beyond, since a call may last as long as its waits.
var seconds = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 30, 60, 120}

type metrics struct {
	hosts      hosts
	attributes []attribute.KeyValue

	attempts metric.Int64Counter
	retries  metric.Int64Counter
	duration metric.Float64Histogram
	waits    metric.Float64Histogram
}

// newMetrics makes the instruments. A provider that refuses one of them gets
// none, and the error goes to the global handler: telemetry is no reason for a
// client not to start.
func newMetrics(config Config) *metrics {
	m := &metrics{hosts: hosts{most: config.MaxHosts}, attributes: config.Attributes}
	if err := m.open(config.meter()); err != nil {
		otel.Handle(err)
		m.open(noop.Meter{})
	}
	return m
}

func (m *metrics) open(meter metric.Meter) error {
	var errs [4]error
	m.attempts, errs[0] = meter.Int64Counter("rebound.client.attempts", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts made, by the verdict on each."))
	m.retries, errs[1] = meter.Int64Counter("rebound.client.retries", metric.WithUnit("{retry}"),
		metric.WithDescription("Attempts after the first, by what was wrong with the one before."))
	m.duration, errs[2] = meter.Float64Histogram("rebound.client.call.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from the call to its response or error, attempts and waits included."),
		metric.WithExplicitBucketBoundaries(seconds...))
	m.waits, errs[3] = meter.Float64Histogram("rebound.client.wait.duration", metric.WithUnit("s"),
		metric.WithDescription("Time waited between attempts, and for a network."),
		metric.WithExplicitBucketBoundaries(seconds...))
	return errors.Join(errs[:]...)
}

// call measures a call that is over: it and its attempts.
func (m *metrics) call(ctx context.Context, req *http.Request, report *roundtripper.Report, resp *http.Response) {
	if !m.attempts.Enabled(ctx) && !m.retries.Enabled(ctx) && !m.duration.Enabled(ctx) {
		return
	}
	base := m.of(req)
	for i := range report.Attempts {
		a := &report.Attempts[i]
		m.attempts.Add(ctx, 1, with(base, a.Verdict.Reason, keyReason, a.StatusCode))
		if i > 0 {
			m.retries.Add(ctx, 1, with(base, report.Attempts[i-1].Verdict.Reason, keyReason, 0))
		}
	}
	status := 0
	if resp != nil {
		status = resp.StatusCode
	}
	m.duration.Record(ctx, report.Elapsed.Seconds(), with(base, report.Stop, keyStop, status))
}

// wait measures a wait that is over.
func (m *metrics) wait(ctx context.Context, req *http.Request, w wait, took time.Duration) {
	if !m.waits.Enabled(ctx) {
		return
	}
	as := append(m.of(req), attribute.String(keyWaitKind, w.kind))
	m.waits.Record(ctx, took.Seconds(), metric.WithAttributeSet(attribute.NewSet(as...)))
}

// of are the attributes that everything about req has, with room for two more.
func (m *metrics) of(req *http.Request) []attribute.KeyValue {
	as := make([]attribute.KeyValue, 0, len(m.attributes)+5)
	as = append(append(as, m.attributes...), methodOf(req))
	if req.URL != nil {
		u := redact.Plain(req.URL)
		as = m.hosts.append(as, hostOf(&u))
	}
	return as
}

// with is base and what is said of one attempt or call. It leaves base as it is,
// and may use what room there is behind it: WithAttributes takes a copy, which
// NewSet would not.
func with(base []attribute.KeyValue, reason roundtripper.Reason, key attribute.Key, status int) metric.MeasurementOption {
	as := append(base, key.String(string(reason)))
	if status != 0 {
		as = append(as, semconv.HTTPResponseStatusCode(status))
	}
	return metric.WithAttributes(as...)
}
