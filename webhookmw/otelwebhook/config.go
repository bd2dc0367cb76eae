package otelwebhook

// The settings, and how an observer is made of them.

import (
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/rebound-go/rebound/webhookmw"
)

// Config says where measurements go and what they tell apart. The zero Config is of use.
type Config struct {
	MeterProvider metric.MeterProvider // nil: otel.GetMeterProvider()

	// Attributes are set on every measurement: what tells one receiver of a program from another. Their values should be
	// few.
	Attributes []attribute.KeyValue

	// EventTypes are the types that metrics tell apart; every other one is "_OTHER". nil: metrics say nothing of types.
	EventTypes []string
}

// scope names this package to the providers.
const scope = "github.com/rebound-go/rebound/webhookmw/otelwebhook"

// Observe returns a [webhookmw.Config.Observe] that tells what became of each request: on the span in the request's
// context, if there is one that records, and in metrics. It may be called by many goroutines at once, and one may serve
// many receivers. It needs no end.
func Observe(config Config) func(webhookmw.Event) {
	if config.MeterProvider == nil {
		config.MeterProvider = otel.GetMeterProvider()
	}
	config.Attributes = slices.Clone(config.Attributes)
	config.EventTypes = slices.Clone(config.EventTypes)
	m := newMetrics(config, config.MeterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL)))
	return func(e webhookmw.Event) {
		annotate(e)
		m.measure(e)
	}
}
