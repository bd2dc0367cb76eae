package statuspage_test

// Deliveries: what is shown of what a receiver was sent.

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/statuspage"
	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

const secret = "rehearsal-secret-0123456789abcdef"

// accepted is the event of a delivery that was taken.
func accepted(eventID, deliveryID string) webhookmw.Event {
	return webhookmw.Event{
		Request:  httptest.NewRequest("POST", "/hook", nil),
		Delivery: &webhookmw.Delivery{EventID: eventID, DeliveryID: deliveryID, Type: "order.paid", Body: []byte("hush")},
		Reason:   webhookmw.ReasonAccepted,
		Status:   200,
	}
}

// refused is the event of a request that was not verified.
func refused(path string) webhookmw.Event {
	r := httptest.NewRequest("POST", "/", nil)
	r.URL.Path = path
	return webhookmw.Event{Request: r, Reason: webhookmw.ReasonSignature, Status: 401, Err: errors.New("no match")}
}

func TestDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Observe: page.ObserveDelivery})
		require.NoError(t, err)
		h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if d, _ := webhookmw.FromContext(r.Context()); d.Type == "order.broken" {
				w.WriteHeader(500)
			}
			time.Sleep(3 * time.Second)
		}))
		send := func(r *http.Request) { h.ServeHTTP(httptest.NewRecorder(), r) }
		body := []byte(`{"id":"evt_1","type":"order.paid","note":"hush"}`)
		signed := func() *http.Request {
			r := httptest.NewRequest("POST", "/hook?token=hush", strings.NewReader(string(body)))
			webhookmw.Sign(r.Header, secret, "dlv_1", time.Now(), body)
			return r
		}
		at := time.Now()
		send(signed())
		send(signed())
		send(webhooktest.NewRequest("/hook", secret, body))
		send(webhooktest.NewRequest("/hook", secret, []byte(`{"id":"evt_2","type":"order.broken"}`)))
		send(webhooktest.NewRequest("/hook", "another-secret-0123456789abcdef", body))
		stale := signed()
		time.Sleep(time.Hour)
		send(stale)
		send(httptest.NewRequest("GET", "/hook", nil))

		s := fetched(t, page)
		var got []string
		for _, d := range s.Deliveries {
			got = append(got, fmt.Sprintf("%d %s %s", d.Status, d.Reason, d.EventID))
		}
		assert.Equal(t, []string{
			"405 method ", "401 timestamp-stale ", "401 signature-mismatch ", "500 handler-failed evt_2",
			"200 accepted evt_1", "200 duplicate evt_1", "200 accepted evt_1",
		}, got)
		first := s.Deliveries[6]
		assert.Equal(t, statuspage.Delivery{Method: "POST", Path: "/hook", Verified: true, EventID: "evt_1", DeliveryID: "dlv_1",
			Type: "order.paid", Timestamp: first.Timestamp, Reason: "accepted", Status: 200, At: first.At,
			Elapsed: 3 * time.Second}, first)
		assert.True(t, first.Timestamp.Equal(at.Truncate(time.Second)))
		assert.True(t, first.At.Equal(at.Add(3*time.Second)))
		assert.True(t, s.Deliveries[5].Duplicate)
		assert.True(t, s.Deliveries[4].EventSeen)
		assert.Equal(t, statuspage.Totals{Verified: 4, Refused: 3}, s.Totals)

		body2 := html(t, page)
		for _, want := range []string{"200 taken<", "200 taken before<", "500 not taken<", "401 refused<", "405 refused<",
			"timestamp-stale", "1h0m", "event seen in another delivery", "1 h 0 min ago", "order.paid</b> evt_1",
			"dlv_1", "POST /hook<"} {
			assert.Contains(t, body2, want)
		}
		for _, secret := range []string{"hush", secret, "v1=", "Webhook-Signature"} {
			assert.NotContains(t, body2, secret)
			assert.NotContains(t, get(page, "/", "application/json").Body.String(), secret)
		}
	})
}

// A flood of forgeries drives out none that was verified.
func TestDeliveriesAreBounded(t *testing.T) {
	page := statuspage.New(statuspage.Config{Deliveries: 3})
	for i := range 5 {
		page.ObserveDelivery(accepted(fmt.Sprintf("evt_%d", i), "dlv"))
	}
	for i := range 500 {
		page.ObserveDelivery(refused(fmt.Sprintf("/%d", i)))
	}
	var got []string
	for _, d := range page.Snapshot().Deliveries {
		got = append(got, d.EventID+d.Path)
	}
	assert.Equal(t, []string{"/499", "/498", "/497", "evt_4/hook", "evt_3/hook", "evt_2/hook"}, got)
	assert.Equal(t, statuspage.Totals{Verified: 5, Refused: 500}, page.Snapshot().Totals)
}

func TestHostileDelivery(t *testing.T) {
	page := statuspage.New(statuspage.Config{})
	long := "<script>" + strings.Repeat("x", 10_000)
	e := accepted(long, long)
	e.Delivery.Type = long
	e.Request.URL.Path = "/" + long
	e.Request.URL.RawQuery = "hush"
	e.Request.Method = long
	e.Err = errors.New(long)
	e.Delivery.SignatureReused = true
	page.ObserveDelivery(e)
	page.ObserveDelivery(webhookmw.Event{Request: &http.Request{}, Reason: webhookmw.ReasonMethod, Status: 405})
	d := page.Snapshot().Deliveries[1]
	cut := long[:255] + "…"
	assert.Equal(t, []string{cut, cut, cut, cut, cut}, []string{d.EventID, d.DeliveryID, d.Type, d.Method, d.Error})
	assert.Len(t, d.Path, 255+len("…"))
	body := html(t, page)
	assert.NotContains(t, body, "<script")
	assert.NotContains(t, body, "hush")
	assert.Contains(t, body, "signature came before under another delivery ID")
}

// What becomes of a request whose handler panics has no status.
func TestDeliveryWithoutStatus(t *testing.T) {
	page := statuspage.New(statuspage.Config{})
	e := accepted("evt_1", "dlv_1")
	e.Reason, e.Status = webhookmw.ReasonPanicked, 0
	page.ObserveDelivery(e)
	assert.Contains(t, html(t, page), `<strong class="bad">not taken</strong> <span class="note">handler-panicked</span>`)
}
