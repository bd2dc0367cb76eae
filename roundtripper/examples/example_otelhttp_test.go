package examples_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rebound-go/rebound/roundtripper"
)

// Where a transport that traces stands decides what a span is: around, one for the call with its retries and waits;
// below, one for each attempt. Both may be had at once, and the attempts are the call's children then.
func Example_otelhttp() {
	api := serve(`{}`, map[string][]int{"/orders": {503, 200}})
	defer api.Close()
	spans := tracetest.NewSpanRecorder()
	provider := otelhttp.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans)))
	name := func(text string) otelhttp.Option {
		return otelhttp.WithSpanNameFormatter(func(string, *http.Request) string { return text })
	}
	attempts := otelhttp.NewTransport(http.DefaultTransport, provider, name("attempt"))
	call := otelhttp.NewTransport(roundtripper.New(attempts, now()), provider, name("call"))

	req, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, api.URL+"/orders", nil)
	resp, err := (&http.Client{Transport: call}).Do(req)
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
	for _, span := range spans.Ended() {
		fmt.Println("span:", span.Name(), "has a parent:", span.Parent().IsValid(), span.Status().Code)
	}
	// Output:
	// server: GET /orders 503
	// server: GET /orders 200
	// span: attempt has a parent: true Error
	// span: attempt has a parent: true Unset
	// span: call has a parent: false Unset
}
