package bench_test

// How much of a large request body is kept in memory.

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper"
)

// uploaders is who can send a body that can be read once.
func uploaders() []contender {
	replay := roundtripper.Standard()
	replay.ReplayBuffer = 1 << 20
	return append(everybody(), ours("standard+replay=1MiB", replay))
}

// keepsAll reports whether a contender keeps the whole body, so that it had
// better not be given a GiB.
func keepsAll(c contender) bool {
	return slices.ContainsFunc(peers, func(p contender) bool { return p.name == c.name })
}

// BenchmarkUpload is a PUT without a GetBody. peak-heap-B is how far the heap
// rose above what it was before, with what is garbage but not collected yet. It
// is the point here: the time has a collection in it.
func BenchmarkUpload(b *testing.B) {
	for _, size := range []int64{64 << 20, 1 << 30} {
		for _, c := range shuffled(uploaders()) {
			if size > 64<<20 && keepsAll(c) {
				continue
			}
			b.Run(fmt.Sprintf("body=%dMiB/impl=%s", size>>20, c.name), func(b *testing.B) {
				b.ReportAllocs()
				var peak uint64
				for b.Loop() {
					peak = max(peak, upload(b, c, size))
				}
				b.ReportMetric(float64(peak), "peak-heap-B")
			})
		}
	}
}

// What the table says of us holds, and the gauge notices one that keeps it all.
func TestUploadKeepsLittle(t *testing.T) {
	const size = 32 << 20
	for _, c := range uploaders() {
		peak := upload(t, c, size)
		if keepsAll(c) {
			assert.GreaterOrEqual(t, peak, uint64(size), c.name)
		} else {
			assert.Less(t, peak, uint64(size/4), c.name)
		}
	}
}

// upload sends size bytes and says how far the heap rose meanwhile.
func upload(tb testing.TB, c contender, size int64) uint64 {
	runtime.GC()
	g := &gauge{sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}
	g.floor = g.read()
	got := int64(0)
	do, _ := c.over(doer(func(req *http.Request) (resp *http.Response, err error) {
		if got, err = io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		g.read()
		req.Body.Close()
		return succeed(&http.Request{Method: req.Method})
	}), "client")
	req := newRequest(tb, http.MethodPut, &endless{left: size, gauge: g})
	req.ContentLength = size
	resp, err := do(req)
	finish(tb, resp, err, 0)
	if got != size {
		tb.Fatal(got)
	}
	return g.peak - g.floor
}

// gauge watches the heap.
type gauge struct {
	sample      []metrics.Sample
	floor, peak uint64
}

func (g *gauge) read() uint64 {
	metrics.Read(g.sample)
	now := g.sample[0].Value.Uint64()
	g.peak = max(g.peak, now)
	return now
}

// endless is a body that can be read once. It looks at the gauge every MiB.
type endless struct {
	left  int64
	gauge *gauge
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	if (e.left-n)>>20 != e.left>>20 {
		e.gauge.read()
	}
	e.left -= n
	return int(n), nil
}
