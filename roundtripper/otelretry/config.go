package otelretry

// This file holds what may be chosen: providers, names, bounds.

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Config says where spans and measurements go. The zero Config sends them to
// the global providers.
type Config struct {
	TracerProvider trace.TracerProvider          // nil: otel.GetTracerProvider()
	MeterProvider  metric.MeterProvider          // nil: otel.GetMeterProvider()
	Propagators    propagation.TextMapPropagator // nil: otel.GetTextMapPropagator(), which sets none unless the program did

	// Attributes are set on every span and every measurement: what tells one
	// client of a program from another. Their values should be few.
	Attributes []attribute.KeyValue

	// MaxHosts is how many hosts the metrics tell apart; the others are
	// "_OTHER" together. Zero or less: 100. Spans name every host.
	MaxHosts int
}

const defaultMaxHosts = 100

// scope names this package to the providers.
const scope = "github.com/rebound-go/rebound/roundtripper/otelretry"

// withDefaults is c with what it leaves open filled in.
func (c Config) withDefaults() Config {
	if c.TracerProvider == nil {
		c.TracerProvider = otel.GetTracerProvider()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	if c.Propagators == nil {
		c.Propagators = otel.GetTextMapPropagator()
	}
	if c.MaxHosts <= 0 {
		c.MaxHosts = defaultMaxHosts
	}
	c.Attributes = append([]attribute.KeyValue(nil), c.Attributes...)
	return c
}

func (c Config) tracer() trace.Tracer {
	return c.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
}

func (c Config) meter() metric.Meter {
	return c.MeterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
}
