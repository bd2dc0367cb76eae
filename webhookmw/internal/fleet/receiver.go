package fleet

// One receiver in this process, and the deliveries it is sent.

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

const secret = "rehearsal-secret-0123456789abcdef"

// EventID is the ID of the ith event.
func EventID(i int) string { return fmt.Sprintf("evt_%06d", i) }

// Request is a delivery of the ith event, signed now.
func Request(url string, i int) *http.Request {
	body := fmt.Appendf(nil, `{"id":%q,"type":"order.paid"}`, EventID(i))
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		panic(err) // Not with a URL of ours.
	}
	webhookmw.Sign(r.Header, secret, fmt.Sprintf("dlv_%06d", i), time.Now(), body)
	return r
}

// Receiver is a receiver in this process that keeps what Observe is told.
type Receiver struct {
	handler http.Handler

	mu     sync.Mutex
	events []webhookmw.Event
}

// NewReceiver returns a receiver. Secrets and Observe of the config are filled in.
func NewReceiver(t testing.TB, config webhookmw.Config, next http.HandlerFunc) *Receiver {
	t.Helper()
	r := &Receiver{}
	config.Secrets = []string{secret}
	config.Observe = func(e webhookmw.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}
	v, err := webhookmw.New(config)
	if err != nil {
		t.Fatal(err)
	}
	r.handler = v.Handler(next)
	return r
}

// Deliver delivers the ith event and returns the answer.
func (r *Receiver) Deliver(i int) *http.Response {
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, Request("/", i))
	return w.Result()
}

// Last is what Observe was told last.
func (r *Receiver) Last() webhookmw.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.events) == 0 {
		return webhookmw.Event{}
	}
	return r.events[len(r.events)-1]
}
