package webhookmw_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// The shapes that bodies have: one long text; many small members, as an API's own events; the same, indented.
var shapes = []string{"text", "members", "indented"}

// eventOf returns an event of about size bytes. Its ID begins at the seventh byte and is 12 bytes long.
func eventOf(shape string, size int) []byte {
	const head = `{"id":"evt_00000000","type":"order.paid","data":`
	if shape == "text" {
		return append(append([]byte(head+`"`), bytes.Repeat([]byte("a"), size-len(head)-3)...), `"}`...)
	}
	const member = `{"id":"ch_3MmlLrLkdIwHu7ix","object":"charge","amount":1099,"captured":true,"application":null,` +
		`"billing":{"city":null,"country":"DE","line1":null},"created":1679090539,"currency":"usd","metadata":{},` +
		`"outcome":{"network":"approved","risk_level":"normal","risk_score":32,"message":"Payment complete."}}`
	var b bytes.Buffer
	b.WriteString(head + "[" + member)
	for b.Len() < size-len(member) {
		b.WriteString("," + member)
	}
	b.WriteString("]}")
	if shape == "members" {
		return b.Bytes()
	}
	var indented bytes.Buffer
	json.Indent(&indented, b.Bytes()[:], "", " ")
	return append([]byte(`{"id":"evt_00000000"`), indented.Bytes()[bytes.IndexByte(indented.Bytes(), ','):]...)
}

func BenchmarkStrictEvent(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 128 << 10} {
		for _, shape := range shapes {
			body := eventOf(shape, size)
			b.Run(fmt.Sprintf("size=%d/shape=%s", size, shape), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					if _, _, err := webhookmw.StrictEvent(body); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// discard is a ResponseWriter that costs nothing.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

type closer struct{ bytes.Reader }

func (*closer) Close() error { return nil }

// BenchmarkDelivery is a whole delivery through the middleware, each with an event of its own, beside what everybody
// writes by hand: ReadAll, HMAC, hex, compare.
func BenchmarkDelivery(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 128 << 10} {
		body := eventOf("text", size)
		b.Run(fmt.Sprintf("size=%d/by=floor", size), func(b *testing.B) { benchFloor(b, body) })
		for _, shape := range shapes {
			body := eventOf(shape, size)
			b.Run(fmt.Sprintf("size=%d/by=v1/shape=%s", size, shape), func(b *testing.B) { benchDelivery(b, body, false) })
		}
		b.Run(fmt.Sprintf("size=%d/by=v1+v2/shape=text", size), func(b *testing.B) { benchDelivery(b, body, true) })
	}
}

func benchFloor(b *testing.B, body []byte) {
	var in closer
	stamp := []byte(strconv.FormatInt(time.Now().Unix(), 10) + ".")
	h := hmac.New(sha256.New, []byte(secret))
	h.Write(stamp)
	h.Write(body)
	want := hex.EncodeToString(h.Sum(nil))
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(body)
		data, _ := io.ReadAll(&in)
		h := hmac.New(sha256.New, []byte(secret))
		h.Write(stamp)
		h.Write(data)
		if !hmac.Equal([]byte(hex.EncodeToString(h.Sum(nil))), []byte(want)) {
			b.Fatal("not equal")
		}
	}
}

// unseen is a Memory to which every delivery is new, so that one signed request can be sent again and again.
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

func benchDelivery(b *testing.B, body []byte, v2 bool) {
	store := &unseen{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Store: store, MaxBodyBytes: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	handler := v.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	header := http.Header{}
	webhookmw.Sign(header, secret, "dlv_1", time.Now(), body)
	if signature := header.Get("Webhook-Signature"); !v2 {
		header.Set("Webhook-Signature", signature[:strings.Index(signature, ",v2=")])
	}
	var in closer
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(body)
		r := &http.Request{Method: "POST", Header: header, Body: &in, ContentLength: int64(len(body)), ProtoMajor: 1}
		handler.ServeHTTP(w, r)
		if w.status != 0 || w.header["Webhook-Duplicate"] != nil {
			b.Fatal(w.status)
		}
	}
}

// BenchmarkRefusal is what somebody costs who can't sign. Only the last one gets the body read.
func BenchmarkRefusal(b *testing.B) {
	body := eventOf("text", 1<<10)
	now := time.Now()
	good := http.Header{}
	webhookmw.Sign(good, secret, "dlv_1", now, body)
	stale := http.Header{}
	webhookmw.Sign(stale, secret, "dlv_1", now.Add(-time.Hour), body)
	forged := http.Header{}
	webhookmw.Sign(forged, "another-secret-0123456789", "dlv_1", now, body)
	cases := []struct {
		why    string
		header http.Header
		length int64
	}{
		{"unsigned", http.Header{}, 1 << 10},
		{"stale", stale, 1 << 10},
		{"too-large", good, 1 << 20},
		{"forged", forged, 1 << 10},
	}
	for _, c := range cases {
		b.Run("why="+c.why, func(b *testing.B) {
			h := webhookmw.Verify(secret)(http.NotFoundHandler())
			var in closer
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				in.Reset(body)
				h.ServeHTTP(w, &http.Request{Method: "POST", Header: c.header, Body: &in, ContentLength: c.length, ProtoMajor: 1})
				if w.status/100 != 4 {
					b.Fatal(w.status)
				}
			}
		})
	}
}
