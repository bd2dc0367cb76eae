package bench_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v89/github"
	"github.com/slack-go/slack"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stripe/stripe-go/v85/webhook"
	svix "github.com/svix/svix-webhooks/go"

	"github.com/rebound-go/rebound/webhookmw"
)

// receiver is one way to take deliveries. All of them are wrapped around the same handler and get the same requests, whose
// bodies nobody has read.
type receiver struct {
	name string
	sign func(h http.Header, body []byte) error
	wrap func(next http.Handler) http.Handler
}

// receivers are the one that everybody writes by hand, those of the libraries' documentation, and ours. The others verify a
// signature and, those of GitHub aside, a time. Ours also checks UTF-8 and the event, claims it in a [webhookmw.Memory],
// and completes it after the handler.
func receivers() []receiver {
	return []receiver{
		{"floor", signStripe, byHand},
		{"stripe-validate", signStripe, checked(func(h http.Header, body []byte) error {
			return webhook.ValidatePayload(body, h.Get("Stripe-Signature"), textSecret)
		})},
		{"stripe-construct", signStripe, checked(func(h http.Header, body []byte) error {
			options := webhook.ConstructEventOptions{IgnoreAPIVersionMismatch: true}
			_, err := webhook.ConstructEventWithOptions(body, h.Get("Stripe-Signature"), textSecret, options)
			return err
		})},
		{"standard-webhooks", signStandard, checked(must(standard.NewWebhook(base64Secret)).verify)},
		{"svix", signStandard, checked(must(svix.NewWebhook(base64Secret)).verify)},
		{"go-github", signGitHub, byGitHub},
		{"slack", signSlack, bySlack},
		{"rebound-v1", signV1, ours},
		{"rebound-v1+v2", signV2, ours},
	}
}

func signStripe(h http.Header, body []byte) error {
	return webhookmw.Stripe().Sign(h, textSecret, "", time.Now(), body)
}

func signStandard(h http.Header, body []byte) error {
	return webhookmw.StandardWebhooks().Sign(h, base64Secret, "msg_1", time.Now(), body)
}

func signGitHub(h http.Header, body []byte) error {
	h.Set("Content-Type", "application/json")
	return webhookmw.GitHub().Sign(h, textSecret, "72d3162e-cc78-11e3-81ab-4c9367dc0958", time.Now(), body)
}

func signSlack(h http.Header, body []byte) error {
	return webhookmw.Slack().Sign(h, textSecret, "", time.Now(), body)
}

func signV2(h http.Header, body []byte) error {
	return webhookmw.Signed().Sign(h, textSecret, "dlv_1", time.Now(), body)
}

func signV1(h http.Header, body []byte) error {
	err := signV2(h, body)
	v1, _, _ := strings.Cut(h.Get("Webhook-Signature"), ",v2=")
	h.Set("Webhook-Signature", v1)
	return err
}

type verifier interface {
	Verify(payload []byte, h http.Header) error
}

type verified struct{ verifier }

func must(v verifier, err error) verified {
	if err != nil {
		panic(err)
	}
	return verified{v}
}

func (v verified) verify(h http.Header, body []byte) error { return v.Verify(body, h) }

// checked is the receiver around a function that is handed the whole body.
func checked(check func(h http.Header, body []byte) error) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				err = check(r.Header, body)
			}
			pass(w, r, body, err, next)
		})
	}
}

// pass ends every receiver but ours.
func pass(w http.ResponseWriter, r *http.Request, body []byte, err error, next http.Handler) {
	if err != nil {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	next.ServeHTTP(w, r)
}

var (
	errTime  = errors.New("not now")
	errForge = errors.New("not theirs")
)

// byHand is the least that a receiver does: it reads the body, looks at the time, makes the MAC and compares its hex.
var byHand = checked(func(h http.Header, body []byte) error {
	stamp, want := "", ""
	for entry := range strings.SplitSeq(h.Get("Stripe-Signature"), ",") {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "t":
			stamp = value
		case "v1":
			want = value
		}
	}
	unix, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(unix, 0)).Abs() > 5*time.Minute {
		return errTime
	}
	mac := hmac.New(sha256.New, []byte(textSecret))
	mac.Write([]byte(stamp))
	mac.Write([]byte("."))
	mac.Write(body)
	if !hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(want)) {
		return errForge
	}
	return nil
})

func byGitHub(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := github.ValidatePayload(r, []byte(textSecret))
		pass(w, r, body, err, next)
	})
}

func bySlack(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mac, err := slack.NewSecretsVerifier(r.Header, textSecret)
		if err != nil {
			pass(w, r, nil, err, next)
			return
		}
		body, err := io.ReadAll(io.TeeReader(r.Body, &mac))
		if err == nil {
			err = mac.Ensure()
		}
		pass(w, r, body, err, next)
	})
}

// ours is the middleware with everything at its default but that every delivery is new.
func ours(next http.Handler) http.Handler {
	store := &unseen{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 1 << 28})}
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{textSecret}, Store: store})
	if err != nil {
		panic(err)
	}
	return v.Handler(next)
}

// unseen is a Memory to which every delivery is new, so that one signed request can be sent again and again. It is for one
// goroutine.
type unseen struct {
	*webhookmw.Memory
	n uint64
}

func (u *unseen) renew(c webhookmw.Claim) webhookmw.Claim {
	for _, hash := range []*[32]byte{&c.Key, &c.Event, &c.Signature} {
		binary.BigEndian.PutUint64(hash[:], u.n)
	}
	return c
}

func (u *unseen) Claim(ctx context.Context, c webhookmw.Claim) (webhookmw.Status, error) {
	u.n++
	return u.Memory.Claim(ctx, u.renew(c))
}

func (u *unseen) Complete(ctx context.Context, c webhookmw.Claim) error {
	return u.Memory.Complete(ctx, u.renew(c))
}

// request is a body that can be sent again and again, under one header.
type request struct {
	header http.Header
	body   []byte
	length int64 // what is declared
	in     bodyReader
}

type bodyReader struct{ bytes.Reader }

func (*bodyReader) Close() error { return nil }

func newRequest(header http.Header, body []byte) *request {
	return &request{header: header, body: body, length: int64(len(body))}
}

// send hands the request to h and returns the status of the answer, 0 where there was none.
func (r *request) send(h http.Handler) int {
	r.in.Reset(r.body)
	var w answer
	h.ServeHTTP(&w, &http.Request{Method: "POST", Header: r.header, Body: &r.in, ContentLength: r.length, ProtoMajor: 1})
	return w.status
}

// answer is a ResponseWriter that costs next to nothing.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

func (a *answer) Write(p []byte) (int, error) { return len(p), nil }
func (a *answer) WriteHeader(status int)      { a.status = status }
