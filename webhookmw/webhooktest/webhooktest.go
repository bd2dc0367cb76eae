// Package webhooktest makes signed deliveries for the tests of handlers that stand behind webhookmw.
//
//	w := httptest.NewRecorder()
//	handler.ServeHTTP(w, webhooktest.NewRequest("/hook", secret, []byte(`{"id":"evt_1","type":"order.paid"}`)))
package webhooktest

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// NewRequest returns a POST of body to target, as [httptest.NewRequest] makes it, signed just now with secret in the
// default scheme, under a delivery ID of its own.
func NewRequest(target, secret string, body []byte) *http.Request {
	return NewRequestFor(webhookmw.Signed(), target, secret, body)
}

// NewRequestFor is NewRequest in another scheme. It panics if the secret is of no use in that scheme. GitHub's event type
// is a header of its own, which it leaves to the caller.
func NewRequestFor(scheme webhookmw.Scheme, target, secret string, body []byte) *http.Request {
	r := httptest.NewRequest(http.MethodPost, target, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if err := scheme.Sign(r.Header, secret, "dlv_"+rand.Text(), time.Now(), body); err != nil {
		panic(err)
	}
	return r
}
