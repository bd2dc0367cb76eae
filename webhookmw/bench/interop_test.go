package bench_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/slack-go/slack"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85/webhook"
	svix "github.com/svix/svix-webhooks/go"

	"github.com/rebound-go/rebound/webhookmw"
)

const (
	textSecret   = "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH"
	base64Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
)

var bodies = [][]byte{
	[]byte(`{"id":"evt_1","type":"charge.succeeded","object":"event","data":{"object":{"amount":1099}}}`),
	[]byte("{\n  \"id\": \"evt_1\",\r\n  \"type\": \"note.added\",\n  \"text\": \"café ☃ 😀\"\n}\n"),
	append(append([]byte(`{"id":"evt_1","type":"t","x":"`), bytes.Repeat([]byte("a"), 100_000)...), `"}`...),
}

// receive gives a delivery to a fresh receiver and returns what its handler got.
func receive(t *testing.T, scheme webhookmw.Scheme, secret string, header http.Header, body []byte) *webhookmw.Delivery {
	t.Helper()
	var got *webhookmw.Delivery
	v, err := webhookmw.New(webhookmw.Config{
		Scheme: scheme, Secrets: []string{secret},
		Observe: func(e webhookmw.Event) { require.NoError(t, e.Err) },
	})
	require.NoError(t, err)
	h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = webhookmw.FromContext(r.Context())
	}))
	r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
	r.Header = header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, 200, w.Code)
	require.NotNil(t, got)
	require.Equal(t, body, got.Body)
	return got
}

func TestStripe(t *testing.T) {
	for _, body := range bodies {
		theirs := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: textSecret})
		d := receive(t, webhookmw.Stripe(), textSecret, http.Header{"Stripe-Signature": {theirs.Header}}, body)
		require.Equal(t, "evt_1", d.EventID)

		h := http.Header{}
		require.NoError(t, webhookmw.Stripe().Sign(h, textSecret, "", time.Now(), body))
		require.NoError(t, webhook.ValidatePayload(body, h.Get("Stripe-Signature"), textSecret))
		require.Error(t, webhook.ValidatePayload(append(body, '\n'), h.Get("Stripe-Signature"), textSecret))

		// The default scheme is theirs under another name: their verifier takes our v1, and ignores our v2.
		webhookmw.Sign(h, textSecret, "dlv_1", time.Now(), body)
		require.NoError(t, webhook.ValidatePayload(body, h.Get("Webhook-Signature"), textSecret))
		h = http.Header{"Webhook-Signature": {theirs.Header}, "Webhook-Delivery-Id": {"dlv_1"}}
		receive(t, webhookmw.Signed(), textSecret, h, body)
	}
}

func TestStandardWebhooks(t *testing.T) {
	theirs, err := standard.NewWebhook(base64Secret)
	require.NoError(t, err)
	for _, body := range bodies {
		now := time.Now()
		signature, err := theirs.Sign("msg_1", now, body)
		require.NoError(t, err)
		h := http.Header{}
		h.Set("webhook-id", "msg_1")
		h.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
		h.Set("webhook-signature", signature)
		d := receive(t, webhookmw.StandardWebhooks(), base64Secret, h, body)
		require.Equal(t, "msg_1", d.DeliveryID)

		h = http.Header{}
		require.NoError(t, webhookmw.StandardWebhooks().Sign(h, base64Secret, "msg_2", now, body))
		require.NoError(t, theirs.Verify(body, h))
		require.Error(t, theirs.Verify(append(body, '\n'), h))
	}
}

func TestSvix(t *testing.T) {
	theirs, err := svix.NewWebhook(base64Secret)
	require.NoError(t, err)
	for _, body := range bodies {
		now := time.Now()
		signature, err := theirs.Sign("msg_1", now, body)
		require.NoError(t, err)
		for prefix, scheme := range map[string]webhookmw.Scheme{"svix": webhookmw.Svix(), "webhook": webhookmw.StandardWebhooks()} {
			h := http.Header{}
			h.Set(prefix+"-id", "msg_1")
			h.Set(prefix+"-timestamp", strconv.FormatInt(now.Unix(), 10))
			h.Set(prefix+"-signature", signature)
			receive(t, scheme, base64Secret, h, body)

			h = http.Header{}
			require.NoError(t, scheme.Sign(h, base64Secret, "msg_2", now, body))
			require.NoError(t, theirs.Verify(body, h))
			require.Error(t, theirs.Verify(append(body, '\n'), h))
		}
	}
}

func TestSlack(t *testing.T) {
	for _, body := range bodies {
		h := http.Header{}
		require.NoError(t, webhookmw.Slack().Sign(h, textSecret, "", time.Now(), body))
		theirs, err := slack.NewSecretsVerifier(h, textSecret)
		require.NoError(t, err)
		_, err = theirs.Write(body)
		require.NoError(t, err)
		require.NoError(t, theirs.Ensure())
		receive(t, webhookmw.Slack(), textSecret, h, body)
	}
}
