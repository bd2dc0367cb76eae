package examples_test

// This file holds what the examples share: a secret, and one attempt at a delivery.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

const secret = "4e1c9a7f20b84d6d8a53c1e7"

// deliver makes an attempt at a delivery to h, and tells what was answered.
func deliver(h http.Handler, path, deliveryID, body string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	webhookmw.Sign(r.Header, secret, deliveryID, time.Now(), []byte(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println("sender:", path, w.Code, w.Header().Get("Webhook-Duplicate") == "true")
}
