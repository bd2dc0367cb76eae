package webhookmw_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// What the tests of the middleware share: a receiver that counts, and requests that are signed.

const secret = "rehearsal-secret-0123456789abcdef"

const plain = `{"id":"evt_1","type":"order.paid","amount":4200}`

// epoch is a time for tests, in whole seconds.
var epoch = time.Unix(1_700_000_000, 0)

// at runs f in a bubble in which it is that time.
func at(t *testing.T, now time.Time, f func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now))
		f(t)
	})
}

// receiver is a middleware around a handler, with all that it was told.
type receiver struct {
	verifier *webhookmw.Verifier
	handler  http.Handler
	next     http.HandlerFunc // after the count; nil: answers nothing

	mu     sync.Mutex
	runs   []*webhookmw.Delivery
	bodies [][]byte
	events []webhookmw.Event
}

// newReceiver makes a receiver with config, in which the secret and Observe are filled in.
func newReceiver(t testing.TB, config webhookmw.Config, next http.HandlerFunc) *receiver {
	rec := &receiver{next: next}
	if config.Secrets == nil {
		config.Secrets = []string{secret}
	}
	config.Observe = func(e webhookmw.Event) {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		rec.events = append(rec.events, e)
	}
	v, err := webhookmw.New(config)
	require.NoError(t, err)
	rec.verifier = v
	rec.handler = v.Handler(inner{rec})
	return rec
}

// inner is the handler itself.
type inner struct{ *receiver }

func (rec inner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, _ := webhookmw.FromContext(r.Context())
	body, _ := io.ReadAll(r.Body)
	rec.mu.Lock()
	rec.runs = append(rec.runs, d)
	rec.bodies = append(rec.bodies, body)
	rec.mu.Unlock()
	if rec.next != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		rec.next(w, r)
	}
}

// ran is how often the handler was called.
func (rec *receiver) ran() int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return len(rec.runs)
}

// reasons are those of all events so far.
func (rec *receiver) reasons() (reasons []webhookmw.Reason) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, e := range rec.events {
		reasons = append(reasons, e.Reason)
	}
	return reasons
}

// last is the latest event.
func (rec *receiver) last() webhookmw.Event {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if len(rec.events) == 0 {
		return webhookmw.Event{}
	}
	return rec.events[len(rec.events)-1]
}

// send gives the receiver a request and returns its answer.
func (rec *receiver) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	rec.handler.ServeHTTP(w, r)
	return w
}

// signed is a request with that body, signed now.
func signed(deliveryID, body string) *http.Request {
	return signedAt(time.Now(), deliveryID, body)
}

func signedAt(now time.Time, deliveryID, body string) *http.Request {
	r := httptest.NewRequest("POST", "/hook", bytes.NewReader([]byte(body)))
	webhookmw.Sign(r.Header, secret, deliveryID, now, []byte(body))
	return r
}

// v1Only is r without the signature that covers the delivery ID.
func v1Only(r *http.Request) *http.Request {
	signature, _, _ := bytes.Cut([]byte(r.Header.Get("Webhook-Signature")), []byte(",v2="))
	r.Header.Set("Webhook-Signature", string(signature))
	return r
}

// flaky is a Memory whose steps fail while an error is set.
type flaky struct {
	*webhookmw.Memory
	claim, complete, release error
}

func (f *flaky) Claim(ctx context.Context, c webhookmw.Claim) (webhookmw.Status, error) {
	if f.claim != nil {
		return webhookmw.Status{}, f.claim
	}
	return f.Memory.Claim(ctx, c)
}

func (f *flaky) Complete(ctx context.Context, c webhookmw.Claim) error {
	if f.complete != nil {
		return f.complete
	}
	return f.Memory.Complete(ctx, c)
}

func (f *flaky) Release(ctx context.Context, c webhookmw.Claim) error {
	if f.release != nil {
		return f.release
	}
	return f.Memory.Release(ctx, c)
}

// counting is a Memory that counts the claims.
type counting struct {
	*webhookmw.Memory
	claims atomic.Int64
}

func (c *counting) Claim(ctx context.Context, claim webhookmw.Claim) (webhookmw.Status, error) {
	c.claims.Add(1)
	return c.Memory.Claim(ctx, claim)
}
