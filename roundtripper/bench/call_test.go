package bench_test

// What a call costs: one that succeeds at once, a write, a long answer, one that
// is repeated.

import (
	"bytes"
	"net/http"
	"slices"
	"testing"
)

// everybody is who can send a request; retriers is who repeats one.
func everybody() []contender { return slices.Concat(floors, asTheyCome(), peers) }
func retriers() []contender {
	return slices.Concat([]contender{floorRetries}, withoutWaits(), peers)
}

// each runs f for all of list that have the path, in random order.
func each(b *testing.B, list []contender, path string, base func() http.RoundTripper, f func(*testing.B, doer)) {
	for _, c := range shuffled(list) {
		do, ok := c.over(base(), path)
		if !ok {
			continue
		}
		b.Run("path="+path+"/impl="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			f(b, do)
		})
	}
}

func answering() http.RoundTripper { return doer(succeed) }

// BenchmarkCall is a GET that succeeds at once.
func BenchmarkCall(b *testing.B) {
	serial := func(b *testing.B, do doer) {
		req := newRequest(b, http.MethodGet, nil)
		for b.Loop() {
			resp, err := do(req)
			finish(b, resp, err, 0)
		}
	}
	each(b, everybody(), "roundtrip", answering, serial)
	each(b, everybody(), "client", answering, serial)
	each(b, everybody(), "parallel", answering, func(b *testing.B, do doer) {
		b.RunParallel(func(pb *testing.PB) {
			req := newRequest(b, http.MethodGet, nil)
			for pb.Next() {
				resp, err := do(req)
				if err = consume(resp, err, 0); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

var payload = bytes.Repeat([]byte("x"), 4<<10)

// BenchmarkPost is a write of 4 KiB that could be sent again, and succeeds at
// once. Each call needs a request of its own; making it is part of the figure.
func BenchmarkPost(b *testing.B) {
	for _, path := range []string{"roundtrip", "client"} {
		each(b, everybody(), path, answering, func(b *testing.B, do doer) {
			for b.Loop() {
				resp, err := do(newRequest(b, http.MethodPost, bytes.NewReader(payload)))
				finish(b, resp, err, 0)
			}
		})
	}
}

// BenchmarkStream is an answer of 1 MiB.
func BenchmarkStream(b *testing.B) {
	data := make([]byte, 1<<20)
	base := func() http.RoundTripper { return stream(data) }
	for _, path := range []string{"roundtrip", "client"} {
		each(b, everybody(), path, base, func(b *testing.B, do doer) {
			req := newRequest(b, http.MethodGet, nil)
			for b.Loop() {
				resp, err := do(req)
				finish(b, resp, err, int64(len(data)))
			}
		})
	}
}

// BenchmarkRetry is a 503 and then a 200, with no wait.
func BenchmarkRetry(b *testing.B) {
	base := func() http.RoundTripper { return new(flaky) }
	for _, path := range []string{"roundtrip", "client"} {
		each(b, retriers(), path, base, func(b *testing.B, do doer) {
			req := newRequest(b, http.MethodGet, nil)
			for b.Loop() {
				resp, err := do(req)
				finish(b, resp, err, 0)
			}
		})
	}
}
