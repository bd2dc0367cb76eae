package bench_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

var sizes = []int{1 << 10, 16 << 10, 128 << 10}

// shapes are what bodies look like: one long text, as a comment's or a log's, and many small members.
var shapes = []string{"text", "members"}

// event is one of exactly that size: the members of an API's event, and then a text, or more of them.
func event(shape string, size int) []byte {
	const (
		object = `{"id":"ch_3MmlLrLkdIwHu7ix","amount":1099,"captured":true,"currency":"usd","fee":null,"metadata":{}}`
		head   = `{"id":"evt_00000000","object":"event","type":"charge.succeeded","created":1679090539,"data":{"object":` + object
		more   = `},"rest":[`
		note   = `],"note":"`
		tail   = `"}`
	)
	body := append([]byte(head), more...)
	for n := 0; shape == "members" && len(body)+len(object)+1+len(note)+len(tail) <= size; n++ {
		if n > 0 {
			body = append(body, ',')
		}
		body = append(body, object...)
	}
	body = append(body, note...)
	body = append(body, bytes.Repeat([]byte("x"), size-len(body)-len(tail))...)
	return append(body, tail...)
}

// BenchmarkVerify is one delivery, from its headers to the end of a handler that does nothing. sha256 is what no
// signature can cost less than.
func BenchmarkVerify(b *testing.B) {
	for _, size := range sizes {
		for _, shape := range shapes {
			body := event(shape, size)
			all := append(receivers(), receiver{name: "sha256"})
			rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, r := range all {
				b.Run(fmt.Sprintf("size=%dKiB/body=%s/impl=%s", size>>10, shape, r.name), func(b *testing.B) {
					b.ReportAllocs()
					b.SetBytes(int64(size))
					if r.wrap == nil {
						for b.Loop() {
							sha256.Sum256(body)
						}
						return
					}
					benchVerify(b, r, body)
				})
			}
		}
	}
}

func benchVerify(b *testing.B, r receiver, body []byte) {
	header := http.Header{}
	require.NoError(b, r.sign(header, body))
	h, in := r.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})), newRequest(header, body)
	for b.Loop() {
		if status := in.send(h); status != 0 {
			b.Fatal(status)
		}
	}
}

// refusals are requests of those who can't sign. unread: the headers say no, so that the body is not looked at.
var refusals = []struct {
	why    string
	unread bool
	spoil  func(r *request) error
}{
	{"forged", false, func(r *request) error {
		return webhookmw.Signed().Sign(r.header, "another-"+textSecret, "dlv_1", time.Now(), r.body)
	}},
	{"stale", true, func(r *request) error {
		return webhookmw.Signed().Sign(r.header, textSecret, "dlv_1", time.Now().Add(-time.Hour), r.body)
	}},
	{"unsigned", true, func(r *request) error { return nil }},
	{"no-delivery-id", true, func(r *request) error {
		err := signV2(r.header, r.body)
		r.header.Del("Webhook-Delivery-Id")
		return err
	}},
	{"too-large", true, func(r *request) error {
		r.length = 1 << 20
		return signV2(r.header, r.body)
	}},
}

// BenchmarkRefuse is what we pay for somebody who can't sign.
func BenchmarkRefuse(b *testing.B) {
	for _, i := range rand.Perm(len(refusals)) {
		refusal := refusals[i]
		b.Run("why="+refusal.why+"/size=1KiB/impl=rebound", func(b *testing.B) {
			in := newRequest(http.Header{}, event("text", 1<<10))
			require.NoError(b, refusal.spoil(in))
			h := ours(http.NotFoundHandler())
			b.ReportAllocs()
			for b.Loop() {
				if status := in.send(h); status/100 != 4 {
					b.Fatal(status)
				}
			}
		})
	}
}

func TestEventsAreOfTheirSize(t *testing.T) {
	for _, shape := range shapes {
		for _, size := range sizes {
			body := event(shape, size)
			require.Len(t, body, size)
			id, typ, err := webhookmw.StrictEvent(body)
			require.NoError(t, err)
			require.Equal(t, "evt_00000000 charge.succeeded", id+" "+typ)
		}
	}
}

// Whoever is benched takes what is signed, hands on its bytes, and refuses the same with one byte changed.
func TestReceivers(t *testing.T) {
	for _, r := range receivers() {
		t.Run(r.name, func(t *testing.T) {
			for _, shape := range shapes {
				for _, size := range sizes {
					body := event(shape, size)
					header := http.Header{}
					require.NoError(t, r.sign(header, body))
					var got []byte
					h := r.wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got, _ = io.ReadAll(r.Body) }))
					require.Zero(t, newRequest(header, body).send(h))
					require.Equal(t, body, got)

					got = nil
					forged := bytes.Replace(body, []byte("evt_00000000"), []byte("evt_00000001"), 1)
					require.Equal(t, 401, newRequest(header, forged).send(h))
					require.Nil(t, got)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, refusal := range refusals {
		t.Run(refusal.why, func(t *testing.T) {
			in := newRequest(http.Header{}, event("text", 1<<10))
			require.NoError(t, refusal.spoil(in))
			h := ours(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("handler ran") }))
			require.Equal(t, 4, in.send(h)/100)
			require.Equal(t, refusal.unread, in.in.Len() == len(in.body), "%d bytes left", in.in.Len())
		})
	}
}
