package otelretry_test

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/otelretry"
)

func ExampleNew() {
	spans := tracetest.NewInMemoryExporter() // yours sends them somewhere
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))

	p := roundtripper.Standard()
	p.Backoff = nil // so that the example runs at once
	client := &http.Client{Transport: otelretry.New(script(503, 200), p, otelretry.Config{TracerProvider: provider})}

	resp, err := client.Get("http://user:secret@api.example.com/orders?token=secret")
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close() // which ends the spans
	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name, span.SpanKind)
		for _, a := range span.Attributes {
			switch a.Key {
			case "url.full", "http.request.resend_count", "http.response.status_code", "rebound.attempts", "rebound.stop":
				fmt.Printf("  %s: %v\n", a.Key, a.Value.AsInterface())
			}
		}
	}
	// Output:
	// GET client
	//   url.full: http://api.example.com/orders
	//   http.response.status_code: 503
	// GET client
	//   url.full: http://api.example.com/orders
	//   http.request.resend_count: 1
	//   http.response.status_code: 200
	// GET call internal
	//   url.full: http://api.example.com/orders
	//   http.response.status_code: 200
	//   rebound.attempts: 2
	//   rebound.stop: ok
}

// One group of breakers serves all clients of the process, and is registered
// once.
func ExampleRegisterBreaker() {
	reader := metric.NewManualReader() // yours sends what it reads somewhere
	provider := metric.NewMeterProvider(metric.WithReader(reader))

	hosts := breaker.PerHost(breaker.Config{Consecutive: 1})
	reg, err := otelretry.RegisterBreaker(hosts, otelretry.Config{MeterProvider: provider})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Unregister()

	p := roundtripper.Standard()
	p.Breaker = hosts
	client := &http.Client{Transport: otelretry.New(script(503), p, otelretry.Config{MeterProvider: provider})}
	if resp, err := client.Get("http://api.example.com/orders"); err == nil {
		resp.Body.Close()
	}

	var read metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &read); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range read.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "rebound.client.breaker.state" {
			for _, state := range []string{"closed", "open", "half-open"} {
				for _, p := range sum.DataPoints {
					if v, _ := p.Attributes.Value("rebound.breaker.state"); v.AsString() == state {
						fmt.Println(state, p.Value)
					}
				}
			}
		}
	}
	// Output:
	// closed 0
	// open 1
	// half-open 0
}

// The common mistake: a policy that replaces the Transport's own for a call
// brings its own Observe, or none, and its waits are not told. Transport.Observe
// tells them.
func ExampleTransport_Observe() {
	spans := tracetest.NewInMemoryExporter()
	config := otelretry.Config{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))}
	transport := otelretry.New(script(503, 200, 503, 200), roundtripper.Standard(), config)
	get := func(p roundtripper.Policy) {
		ctx := roundtripper.WithPolicy(context.Background(), p)
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://api.example.com/orders", nil)
		resp, err := (&http.Client{Transport: transport}).Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		all := spans.GetSpans()
		fmt.Println("events:", len(all[len(all)-1].Events))
		spans.Reset()
	}
	p := roundtripper.Standard()
	p.Backoff = nil
	get(p)
	p.Observe = transport.Observe(p.Observe)
	get(p)
	// Output:
	// events: 0
	// events: 1
}
