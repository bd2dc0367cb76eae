package webhooktest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

// A test of a handler behind the middleware needs a request that verifies.
func ExampleNewRequest() {
	const secret = "a secret for tests"
	orders := webhookmw.Verify(secret)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
	}))
	w := httptest.NewRecorder()
	orders.ServeHTTP(w, webhooktest.NewRequest("/hooks/orders", secret, []byte(`{"id":"evt_1","type":"order.paid"}`)))
	fmt.Println(w.Code)
	// Output: 202
}

// In another scheme, with its secrets.
func ExampleNewRequestFor() {
	body := []byte(`{"hook_id":17}`)
	r := webhooktest.NewRequestFor(webhookmw.GitHub(), "/hooks/github", "a secret for tests", body)
	r.Header.Set("X-GitHub-Event", "ping")
	fmt.Println(r.Header.Get("X-Hub-Signature-256"))
	// Output: sha256=88e355de1a85d0d5370c15821f1b2a9632ceb9e5859e84f4f859188f42e4572d
}
