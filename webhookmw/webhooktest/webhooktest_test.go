package webhooktest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

const event = `{"id":"evt_1","type":"order.paid"}`

func TestNewRequest(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	schemes := []webhookmw.Scheme{
		webhookmw.Signed(), webhookmw.Stripe(), webhookmw.StandardWebhooks(), webhookmw.Svix(), webhookmw.GitHub(), webhookmw.Slack(),
	}
	for _, scheme := range schemes {
		v, err := webhookmw.New(webhookmw.Config{Scheme: scheme, Secrets: []string{secret}})
		require.NoError(t, err)
		runs := 0
		h := v.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { runs++ }))
		r := webhooktest.NewRequestFor(scheme, "/hook", secret, []byte(event))
		for range 2 {
			w := httptest.NewRecorder()
			r.Body = webhooktest.NewRequestFor(scheme, "/hook", secret, []byte(event)).Body
			h.ServeHTTP(w, r)
			require.Equal(t, 200, w.Code, scheme)
		}
		require.Equal(t, 1, runs, "a delivery and its duplicate")
	}
	a := webhooktest.NewRequest("/hook", secret, []byte(event))
	b := webhooktest.NewRequest("/hook", secret, []byte(event))
	require.NotEqual(t, a.Header.Get("Webhook-Delivery-Id"), b.Header.Get("Webhook-Delivery-Id"))
	require.Panics(t, func() { webhooktest.NewRequest("/hook", "", nil) })
}
