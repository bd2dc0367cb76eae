package webhookmw_test

// Examples: a receiver, what it is told, and what was refused.

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

// Read it from where secrets are kept; it is the text that the sender signs with.
const exampleSecret = "9b1e5a0c7d3f42868f4e6a21"

// A receiver on a mux. The sender did not hear the first answer and comes again: the handler has taken the event once.
func Example() {
	orders := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		fmt.Println("handling", d.EventID, d.Type)
	})
	mux := http.NewServeMux()
	mux.Handle("POST /hooks/orders", webhookmw.Verify(exampleSecret)(orders))

	body := []byte(`{"id":"evt_1","type":"order.paid","amount":4200}`)
	r := webhooktest.NewRequest("/hooks/orders", exampleSecret, body)
	for range 2 {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Printf("%d %q\n", w.Code, w.Header().Get("Webhook-Duplicate"))
	}
	// Output:
	// handling evt_1 order.paid
	// 200 ""
	// 200 "true"
}

// Observe learns what became of each request, and is the only one to learn why one was refused.
func ExampleNew() {
	v, err := webhookmw.New(webhookmw.Config{
		Secrets: []string{exampleSecret},
		Observe: func(e webhookmw.Event) { fmt.Println(e.Status, e.Reason, e.Err) },
	})
	if err != nil {
		log.Fatal(err)
	}
	h := v.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	body := `{"id":"evt_1","type":"order.paid"}`
	h.ServeHTTP(httptest.NewRecorder(), webhooktest.NewRequest("/", exampleSecret, []byte(body)))

	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	h.ServeHTTP(httptest.NewRecorder(), r)
	r.Header.Set("Webhook-Delivery-Id", "dlv_2")
	r.Header.Set("Webhook-Signature", "t=1700000000000,v1="+strings.Repeat("0", 64))
	h.ServeHTTP(httptest.NewRecorder(), r)
	// Output:
	// 200 accepted <nil>
	// 401 no-signature no signature of a version that the scheme checks
	// 401 timestamp-in-ms timestamp looks like milliseconds; seconds belong there
}

// The signature alone, for a receiver that recognises duplicates in its own database.
func ExampleVerifier_Check() {
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{exampleSecret}})
	if err != nil {
		log.Fatal(err)
	}
	d, err := v.Check(webhooktest.NewRequest("/", exampleSecret, []byte(`{"id":"evt_1","type":"order.paid"}`)))
	fmt.Println(d.EventID, err)

	_, err = v.Check(httptest.NewRequest(http.MethodGet, "/", nil))
	if rejection, ok := errors.AsType[*webhookmw.Rejection](err); ok {
		fmt.Println(rejection.Status, rejection.Reason)
	}
	// Output:
	// evt_1 <nil>
	// 405 method
}

// Bodies that are not JSON: the contract says what an event is and where its ID stands.
func ExampleContract() {
	v, err := webhookmw.New(webhookmw.Config{
		Secrets: []string{exampleSecret},
		Contract: func(body []byte) (id, typ string, err error) {
			typ, id, ok := strings.Cut(string(body), " ")
			if !ok {
				return "", "", errors.New("want a type and an ID")
			}
			return id, typ, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	h := v.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		fmt.Println(d.EventID, d.Type)
	}))
	for _, body := range []string{"ping 17", "ping"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, webhooktest.NewRequest("/", exampleSecret, []byte(body)))
		fmt.Println(w.Code)
	}
	// Output:
	// 17 ping
	// 200
	// 422
}
