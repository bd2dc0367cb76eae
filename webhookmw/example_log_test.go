package webhookmw_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

// Log writes a line for each delivery that was not accepted at first go.
func ExampleLog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "elapsed" || a.Key == "delivery" {
				return slog.Attr{} // so that the example writes the same each time
			}
			return a
		},
	}))
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{exampleSecret}, Observe: webhookmw.Log(logger)})
	if err != nil {
		slog.Error("webhooks", "error", err)
		return
	}
	h := v.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	body := []byte(`{"id":"evt_1","type":"order.paid"}`)
	for _, r := range []*http.Request{
		webhooktest.NewRequest("/hook", exampleSecret, body), // accepted
		webhooktest.NewRequest("/hook", exampleSecret, body), // in another delivery
		webhooktest.NewRequest("/hook?token=secret", "another secret, by mistake", body),
		httptest.NewRequest("GET", "/hook", nil),
	} {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	// Output:
	// level=INFO msg="delivery taken" reason=accepted status=200 path=/hook event=evt_1 type=order.paid event_seen=true
	// level=WARN msg="delivery refused" reason=signature-mismatch status=401 path=/hook error="no secret made any of the signatures over this body; Verifier.Explain can say more"
	// level=INFO msg="delivery refused" reason=method status=405 path=/hook error="method is not POST"
}
