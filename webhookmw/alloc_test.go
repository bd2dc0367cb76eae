//go:build !race

package webhookmw_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// How much a delivery allocates. The race detector empties pools at random, so that these hold without it alone.

func TestStrictEventAllocatesNothingButTheStrings(t *testing.T) {
	body := []byte(`{"id":"evt_1","type":"order.paid",` + manyNames(300, "") + `,"\u0041":"\u00e9"}`)
	webhookmw.StrictEvent(body)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { webhookmw.StrictEvent(body) }), 1.0)
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

// A whole delivery: the body once, and a few small things beside it.
func TestDeliveryAllocations(t *testing.T) {
	body := eventOf("members", 64<<10)
	header := http.Header{}
	webhookmw.Sign(header, secret, "dlv_1", time.Now(), body)
	store := &unseen{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	rec, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Store: store})
	require.NoError(t, err)
	handler := rec.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w := &discard{header: http.Header{}}
	r := &http.Request{Method: "POST", Header: header, ContentLength: int64(len(body)), ProtoMajor: 1}
	in := &closer{}
	r.Body = in
	deliver := func() {
		in.Reset(body)
		handler.ServeHTTP(w, r)
	}
	for range 5000 {
		deliver() // until the tables are there
	}
	require.LessOrEqual(t, testing.AllocsPerRun(200, deliver), 5.0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 200 {
		deliver()
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/200, uint64(len(body)+8<<10), "the body is there once")
	require.Zero(t, w.status)
}

// What the headers give away costs next to nothing, and the body is not looked at.
func TestRefusalAllocations(t *testing.T) {
	handler := webhookmw.Verify(secret)(http.NotFoundHandler())
	header := http.Header{}
	webhookmw.Sign(header, secret, "dlv_1", time.Now().Add(-time.Hour), []byte(plain))
	w := &discard{header: http.Header{}}
	in := &closer{}
	r := &http.Request{Method: "POST", Header: header, Body: in, ContentLength: int64(len(plain)), ProtoMajor: 1}
	in.Reset([]byte(plain))
	allocs := testing.AllocsPerRun(100, func() { handler.ServeHTTP(w, r) })
	require.LessOrEqual(t, allocs, 6.0)
	require.Equal(t, len(plain), in.Len())
	require.Equal(t, 401, w.status)
}
