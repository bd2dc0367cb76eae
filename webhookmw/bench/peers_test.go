package bench_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stripe/stripe-go/v85/webhook"
	svix "github.com/svix/svix-webhooks/go"

	"github.com/rebound-go/rebound/webhookmw"
)

// contender does one delivery: from a request with its body unread to the word that it is good. The peers verify; ours
// also checks UTF-8 and the event, claims it, runs a handler and completes it.
type contender struct {
	name    string
	deliver func() error
}

// BenchmarkVerify has all of them in one run, in random order.
func BenchmarkVerify(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 128 << 10} {
		body := event(size)
		all := contenders(b, body)
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, c := range all {
			b.Run(fmt.Sprintf("size=%d/by=%s", size, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.deliver(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// event is one of exactly that size: members as an API's events have them, and one long text to fill it up.
func event(size int) []byte {
	const head = `{"id":"evt_00000000","object":"event","type":"charge.succeeded","created":1679090539,"livemode":false,` +
		`"data":{"object":{"id":"ch_3MmlLrLkdIwHu7ix","amount":1099,"captured":true,"currency":"usd","metadata":{}}},"note":"`
	return append(append([]byte(head), bytes.Repeat([]byte("x"), size-len(head)-2)...), `"}`...)
}

func contenders(b *testing.B, body []byte) []contender {
	now := time.Now()
	header := http.Header{}
	must(b, webhookmw.Stripe().Sign(header, textSecret, "", now, body))
	stripeHeader := header.Get("Stripe-Signature")
	must(b, webhookmw.StandardWebhooks().Sign(header, base64Secret, "msg_1", now, body))
	wh, err := standard.NewWebhook(base64Secret)
	must(b, err)
	sv, err := svix.NewWebhook(base64Secret)
	must(b, err)
	stamp, want, _ := strings.Cut(stripeHeader, ",v1=")

	in := new(reader)
	read := func() []byte {
		in.Reset(body)
		data, _ := io.ReadAll(in)
		return data
	}
	return []contender{
		{"sha256", func() error { sha256.Sum256(body); return nil }},
		{"readall+hmac", func() error {
			data := read()
			h := hmac.New(sha256.New, []byte(textSecret))
			h.Write([]byte(stamp[2:] + "."))
			h.Write(data)
			if !hmac.Equal([]byte(hex.EncodeToString(h.Sum(nil))), []byte(want)) {
				return fmt.Errorf("not equal")
			}
			return nil
		}},
		{"stripe-validate", func() error { return webhook.ValidatePayload(read(), stripeHeader, textSecret) }},
		{"stripe-construct", func() error {
			_, err := webhook.ConstructEventWithOptions(read(), stripeHeader, textSecret, webhook.ConstructEventOptions{IgnoreAPIVersionMismatch: true})
			return err
		}},
		{"standard-webhooks", func() error { return wh.Verify(read(), header) }},
		{"svix", func() error { return sv.Verify(read(), header) }},
		{"rebound-v1", ours(b, body, false)},
		{"rebound-v1+v2", ours(b, body, true)},
	}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

type reader struct{ bytes.Reader }

func (*reader) Close() error { return nil }

// unseen is a Memory to which every delivery is new.
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

type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(p []byte) (int, error) { return len(p), nil }
func (a *answer) WriteHeader(status int)      { a.status = status }

func ours(b *testing.B, body []byte, v2 bool) func() error {
	store := &unseen{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 1 << 26})}
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{textSecret}, Store: store})
	must(b, err)
	handler := v.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	header := http.Header{}
	webhookmw.Sign(header, textSecret, "dlv_1", time.Now(), body)
	if !v2 {
		v1, _, _ := strings.Cut(header.Get("Webhook-Signature"), ",v2=")
		header.Set("Webhook-Signature", v1)
	}
	in := new(reader)
	w := &answer{header: http.Header{}}
	return func() error {
		in.Reset(body)
		handler.ServeHTTP(w, &http.Request{Method: "POST", Header: header, Body: in, ContentLength: int64(len(body)), ProtoMajor: 1})
		if w.status != 0 || len(w.header) != 0 {
			return fmt.Errorf("answered %d", w.status)
		}
		return nil
	}
}
