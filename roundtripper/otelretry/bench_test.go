package otelretry_test

// What telemetry costs a call that succeeds at once, beside the same call
// without it, and beside one request through otelhttp.

import (
	"net/http"
	"testing"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/otelretry"
)

// instant answers at once, without sockets: it is the floor.
type instant struct{}

func (instant) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, Request: req}, nil
}

func BenchmarkCall(b *testing.B) {
	observed := roundtripper.Standard()
	observed.Observe = func(roundtripper.Event) {}
	none := otelretry.Config{
		TracerProvider: tracenoop.NewTracerProvider(),
		MeterProvider:  metricnoop.NewMeterProvider(),
		Propagators:    propagation.NewCompositeTextMapPropagator(),
	}
	unsampled, measured, all := none, none, none
	unsampled.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	unsampled.Propagators = propagation.TraceContext{}
	measured.MeterProvider = metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
	all.TracerProvider = sdktrace.NewTracerProvider()
	all.MeterProvider = measured.MeterProvider
	all.Propagators = propagation.TraceContext{}
	for _, tt := range []struct {
		name string
		rt   http.RoundTripper
	}{
		{"floor", instant{}},
		{"plain", roundtripper.New(instant{}, roundtripper.Standard())},
		{"observed", roundtripper.New(instant{}, observed)},
		{"noop", otelretry.New(instant{}, roundtripper.Standard(), none)},
		{"unsampled", otelretry.New(instant{}, roundtripper.Standard(), unsampled)},
		{"metrics", otelretry.New(instant{}, roundtripper.Standard(), measured)},
		{"otelhttp-noop", otelhttp.NewTransport(instant{}, otelhttp.WithTracerProvider(none.TracerProvider),
			otelhttp.WithMeterProvider(none.MeterProvider), otelhttp.WithPropagators(none.Propagators))},
		{"otelhttp-all", otelhttp.NewTransport(instant{}, otelhttp.WithTracerProvider(all.TracerProvider),
			otelhttp.WithMeterProvider(all.MeterProvider), otelhttp.WithPropagators(all.Propagators))},
		{"all", otelretry.New(instant{}, roundtripper.Standard(), all)},
	} {
		b.Run("telemetry="+tt.name, func(b *testing.B) {
			req, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://api.example.com/things/1", nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tt.rt.RoundTrip(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
