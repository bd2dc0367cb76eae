package webhookmw_test

// Examples: signing, changing a secret, and finding out why something does not verify.

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

// A secret changes without a delivery lost: first the receiver takes both, then the sender changes over, then the
// receiver drops the old one.
func ExampleVerify() {
	const previous = "2f6c8e0a4b7d41539c1e7f35"
	orders := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	during := webhookmw.Verify(exampleSecret, previous)(orders)
	after := webhookmw.Verify(exampleSecret)(orders)

	for _, secret := range []string{previous, exampleSecret} {
		for _, h := range []http.Handler{during, after} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, webhooktest.NewRequest("/", secret, []byte(`{"id":"evt_1","type":"order.paid"}`)))
			fmt.Print(w.Code, " ")
		}
	}
	// Output: 200 401 200 200
}

// A receiver whose secret did not arrive must not start: with an empty one, anybody could sign.
func ExampleNew_noSecret() {
	_, err := webhookmw.New(webhookmw.Config{Secrets: []string{""}})
	fmt.Println(err)
	// Output: webhookmw: Secrets[0]: secret is empty or blank
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

// A request was refused, was kept, and now somebody wants to know why.
func ExampleVerifier_Explain() {
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{exampleSecret}})
	if err != nil {
		log.Fatal(err)
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
