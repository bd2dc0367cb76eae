package webhookmw_test

// Examples: the schemes of those who send webhooks. Each signs a delivery as its provider does, and receives it.

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

// Stripe's deliveries have no ID: the event's alone tells that one came before, however it is signed.
func ExampleStripe() {
	const secret = "whsec_q0Yt4mZr7Wc2Lx9Nd5Ks" // whsec_ is part of the key
	v, err := webhookmw.New(webhookmw.Config{Scheme: webhookmw.Stripe(), Secrets: []string{secret}})
	if err != nil {
		log.Fatal(err)
	}
	h := v.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		fmt.Println(d.Type, d.EventID)
	}))
	for range 2 {
		body := []byte(`{"id":"evt_1","object":"event","type":"charge.succeeded"}`)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, webhooktest.NewRequestFor(webhookmw.Stripe(), "/hooks/stripe", secret, body))
		fmt.Printf("%d %q\n", w.Code, w.Header().Get("Webhook-Duplicate"))
	}
	// Output:
	// charge.succeeded evt_1
	// 200 ""
	// 200 "true"
}

// GitHub signs neither a time nor the delivery's ID: what was recorded once verifies under any ID and for ever. The
// receiver knows the bytes again, and its handler says what that means.
func ExampleGitHub() {
	const secret = "four words nobody guesses"
	v, err := webhookmw.New(webhookmw.Config{Scheme: webhookmw.GitHub(), Secrets: []string{secret}})
	if err != nil {
		log.Fatal(err)
	}
	h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		if d.SignatureReused {
			http.Error(w, "seen before", http.StatusConflict)
			return
		}
		fmt.Println(d.Type, d.EventID)
	}))
	for _, id := range []string{"delivery-1", "delivery-1", "forged-2"} {
		body := `{"ref":"refs/heads/main"}`
		r := httptest.NewRequest(http.MethodPost, "/hooks/github", strings.NewReader(body))
		r.Header.Set("X-GitHub-Event", "push")
		if err := webhookmw.GitHub().Sign(r.Header, secret, id, time.Now(), []byte(body)); err != nil {
			log.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Printf("%d %q\n", w.Code, w.Header().Get("Webhook-Duplicate"))
	}
	// Output:
	// push delivery-1
	// 200 ""
	// 200 "true"
	// 409 ""
}

// Slack asks once whether the endpoint is yours, and then sends events in an envelope with an ID of its own.
func ExampleSlack() {
	const secret = "2b7e151628aed2a6abf7158809cf4f3c"
	v, err := webhookmw.New(webhookmw.Config{Scheme: webhookmw.Slack(), Secrets: []string{secret}})
	if err != nil {
		log.Fatal(err)
	}
	h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		var envelope struct{ Challenge string }
		if json.Unmarshal(d.Body, &envelope); envelope.Challenge != "" {
			fmt.Fprint(w, envelope.Challenge)
			return
		}
		fmt.Println(d.Type, d.EventID)
	}))
	for _, body := range []string{
		`{"type":"url_verification","challenge":"say this"}`,
		`{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention"}}`,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, webhooktest.NewRequestFor(webhookmw.Slack(), "/hooks/slack", secret, []byte(body)))
		fmt.Printf("%d %q\n", w.Code, w.Body)
	}
	// Output:
	// 200 "say this"
	// event_callback Ev1
	// 200 ""
}

// Standard Webhooks is what many senders agreed on. The secret is the base64 of the key, with whsec_ before it.
func ExampleStandardWebhooks() {
	const secret = "whsec_b3VyIGtleSBpcyB0aGlzIGxvbmcgdGV4dA=="
	v, err := webhookmw.New(webhookmw.Config{Scheme: webhookmw.StandardWebhooks(), Secrets: []string{secret}})
	if err != nil {
		log.Fatal(err)
	}
	h := v.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		fmt.Println(d.Type, d.EventID)
	}))
	body := `{"type":"invoice.paid","data":{"id":"inv_7"}}`
	r := httptest.NewRequest(http.MethodPost, "/hooks/invoices", strings.NewReader(body))
	if err := webhookmw.StandardWebhooks().Sign(r.Header, secret, "msg_1", time.Now(), []byte(body)); err != nil {
		log.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Code)
	// Output:
	// invoice.paid msg_1
	// 200
}
