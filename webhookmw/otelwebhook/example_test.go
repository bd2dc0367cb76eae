package otelwebhook_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/otelwebhook"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

func ExampleObserve() {
	spans := tracetest.NewInMemoryExporter() // yours sends them somewhere
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))

	v, err := webhookmw.New(webhookmw.Config{
		Secrets: []string{secret},
		Observe: otelwebhook.Observe(otelwebhook.Config{EventTypes: []string{"order.paid", "order.refunded"}}),
	})
	if err != nil {
		slog.Error("webhooks", "error", err)
		return
	}
	orders := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	h := otelhttp.NewHandler(v.Handler(orders), "orders", otelhttp.WithTracerProvider(provider))

	h.ServeHTTP(httptest.NewRecorder(), webhooktest.NewRequest("/hooks/orders", secret, []byte(`{"id":"evt_1","type":"order.paid"}`)))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/hooks/orders", nil))
	for _, span := range spans.GetSpans() {
		for _, a := range span.Attributes {
			switch a.Key {
			case "rebound.webhook.reason", "rebound.webhook.event.id":
				fmt.Println(a.Key, a.Value.AsString())
			}
		}
	}
	// Output:
	// rebound.webhook.reason accepted
	// rebound.webhook.event.id evt_1
	// rebound.webhook.reason no-signature
}

// The common mistake: two observers need both to be called, and a Config has room for one.
func ExampleObserve_withALog() {
	tell := otelwebhook.Observe(otelwebhook.Config{})
	v, err := webhookmw.New(webhookmw.Config{
		Secrets: []string{secret},
		Observe: func(e webhookmw.Event) {
			fmt.Println(e.Status, e.Reason)
			tell(e)
		},
	})
	if err != nil {
		slog.Error("webhooks", "error", err)
		return
	}
	v.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil))
	// Output: 401 no-signature
}
