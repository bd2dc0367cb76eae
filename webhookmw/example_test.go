package webhookmw_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

// Read it from where secrets are kept; it is the text that the sender signs with.
const exampleSecret = "9b1e5a0c7d3f42868f4e6a21"

func Example() {
	orders := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		fmt.Println("handling", d.EventID, d.Type)
	})
	mux := http.NewServeMux()
	mux.Handle("POST /hooks/orders", webhookmw.Verify(exampleSecret)(orders))

	body := []byte(`{"id":"evt_1","type":"order.paid","amount":4200}`)
	r := webhooktest.NewRequest("/hooks/orders", exampleSecret, body)
	for range 2 { // The sender did not hear the first answer and tries again.
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

// While the sender changes over, the previous secret is accepted too.
func ExampleVerify() {
	const previous = "2f6c8e0a4b7d41539c1e7f35"
	h := webhookmw.Verify(exampleSecret, previous)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, secret := range []string{exampleSecret, previous, "an older one, long gone"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, webhooktest.NewRequest("/", secret, []byte(`{"id":"evt_1","type":"order.paid"}`)))
		fmt.Println(w.Code)
	}
	// Output:
	// 200
	// 200
	// 401
}

// Another provider, and a log of what was refused and why.
func ExampleNew() {
	v, err := webhookmw.New(webhookmw.Config{
		Scheme:  webhookmw.Stripe(),
		Secrets: []string{"whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH"},
		Observe: func(e webhookmw.Event) {
			if e.Status >= 400 {
				fmt.Println(e.Status, e.Reason, e.Err)
			}
		},
	})
	if err != nil {
		slog.Error("webhooks", "error", err)
		return
	}
	h := v.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := httptest.NewRequest("POST", "/stripe", strings.NewReader(`{"id":"evt_1","type":"charge.succeeded"}`))
	h.ServeHTTP(httptest.NewRecorder(), r)
	r.Header.Set("Stripe-Signature", "t=1700000000000,v1="+strings.Repeat("0", 64))
	h.ServeHTTP(httptest.NewRecorder(), r)
	// Output:
	// 401 no-signature no signature of a version that the scheme checks
	// 401 timestamp-in-ms timestamp looks like milliseconds; seconds belong there
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
		slog.Error("webhooks", "error", err)
		return
	}
	h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

// The signature alone, for a receiver that recognises duplicates in its own database.
func ExampleVerifier_Check() {
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{exampleSecret}})
	if err != nil {
		slog.Error("webhooks", "error", err)
		return
	}
	d, err := v.Check(webhooktest.NewRequest("/", exampleSecret, []byte(`{"id":"evt_1","type":"order.paid"}`)))
	fmt.Println(d.EventID, err)

	_, err = v.Check(httptest.NewRequest("GET", "/", nil))
	if rejection, ok := errors.AsType[*webhookmw.Rejection](err); ok {
		fmt.Println(rejection.Status, rejection.Reason)
	}
	// Output:
	// evt_1 <nil>
	// 405 method
}

// A request was refused, was kept, and now somebody wants to know why.
func ExampleVerifier_Explain() {
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{exampleSecret}})
	if err != nil {
		slog.Error("webhooks", "error", err)
		return
	}
	header := http.Header{}
	signed := time.Unix(1_700_000_000, 0)
	webhookmw.Sign(header, exampleSecret, "dlv_1", signed, []byte(`{"id":"evt_1","type":"order.paid"}`))
	kept := []byte(`{"id":"evt_1","type":"order.paid"}` + "\n") // as a log viewer saved it

	fmt.Println(v.Explain(header, kept, signed.Add(7*time.Minute)))
	// Output:
	// Time: timestamp 7m0s behind this clock, 5m0s allowed.
	// Signature: Secrets[0] made it over the body without its final newline.
}

// The sender's half.
func ExampleSign() {
	body := []byte(`{"id":"evt_1","type":"order.paid"}`)
	h := http.Header{}
	webhookmw.Sign(h, exampleSecret, "dlv_1", time.Unix(1_700_000_000, 0), body)
	fmt.Println(strings.ReplaceAll(h.Get("Webhook-Signature"), ",", "\n"))
	fmt.Println(h.Get("Webhook-Delivery-Id"))
	// Output:
	// t=1700000000
	// v1=ea8fb18592068160e15510f10883794b665791bce00c082c39285a6eb2dd31ae
	// v2=a236bbb2b02089c28c49ca360d702ed704a0f038b52ed215ee6d44fcfe388ced
	// dlv_1
}

// The common mistake: something before the middleware reads the body, and what is left is not what was signed.
func Example_bodyReadBefore() {
	logBodies := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // and never given back
			_ = body
			next.ServeHTTP(w, r)
		})
	}
	v, err := webhookmw.New(webhookmw.Config{
		Secrets: []string{exampleSecret},
		Observe: func(e webhookmw.Event) { fmt.Println(e.Status, e.Err) },
	})
	if err != nil {
		slog.Error("webhooks", "error", err)
		return
	}
	orders := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	r := func() *http.Request {
		return webhooktest.NewRequest("/", exampleSecret, []byte(`{"id":"evt_1","type":"order.paid"}`))
	}
	logBodies(v.Handler(orders)).ServeHTTP(httptest.NewRecorder(), r())
	v.Handler(logBodies(orders)).ServeHTTP(httptest.NewRecorder(), r()) // inside it is fine
	// Output:
	// 400 body was read before this middleware saw it; put webhookmw before whatever reads it
	// 200 <nil>
}
