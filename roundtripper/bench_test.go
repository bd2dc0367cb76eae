package roundtripper_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// benchBase answers at once, without sockets: it is the floor.
type benchBase struct{}

func (benchBase) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		io.Copy(io.Discard, req.Body)
		req.Body.Close()
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

// benchFlaky answers every other request with a 503.
type benchFlaky struct{ calls int }

func (b *benchFlaky) RoundTrip(req *http.Request) (*http.Response, error) {
	b.calls++
	status := http.StatusOK
	if b.calls%2 == 1 {
		status = http.StatusServiceUnavailable
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: req}, nil
}

// benchStream answers with 1 MB.
type benchStream struct{ data []byte }

func (b benchStream) RoundTrip(req *http.Request) (*http.Response, error) {
	body := io.NopCloser(struct{ io.Reader }{bytes.NewReader(b.data)})
	return &http.Response{StatusCode: http.StatusOK, Body: body, Request: req}, nil
}

// benchEight is the least that a hand-written transport does for a timeout of
// 8 s: the floor of what the presets do.
type benchEight struct{ base http.RoundTripper }

func (t benchEight) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), 8*time.Second)
	resp, err := t.base.RoundTrip(req.Clone(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = benchCancel{resp.Body, cancel}
	return resp, nil
}

type benchCancel struct {
	io.ReadCloser
	cancel func()
}

func (b benchCancel) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}

func benchTransports(base http.RoundTripper) []struct {
	name string
	rt   http.RoundTripper
} {
	untimed := roundtripper.Standard()
	untimed.AttemptTimeout, untimed.TotalTimeout = 0, 0
	return []struct {
		name string
		rt   http.RoundTripper
	}{
		{"floor", base},
		{"floor+8s", benchEight{base}},
		{"zero", roundtripper.New(base, roundtripper.Policy{})},
		{"untimed", roundtripper.New(base, untimed)},
		{"headless", roundtripper.New(base, roundtripper.Headless())},
		{"standard", roundtripper.New(base, roundtripper.Standard())},
	}
}

func benchFinish(b *testing.B, resp *http.Response, err error) {
	if err != nil {
		b.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// BenchmarkCall is a call that succeeds at once.
func BenchmarkCall(b *testing.B) {
	req, _ := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	for _, t := range benchTransports(benchBase{}) {
		b.Run("via=roundtrip/policy="+t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resp, err := t.rt.RoundTrip(req)
				benchFinish(b, resp, err)
			}
		})
		client := &http.Client{Transport: t.rt}
		b.Run("via=client/policy="+t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resp, err := client.Do(req)
				benchFinish(b, resp, err)
			}
		})
		b.Run("via=parallel/policy="+t.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				req, _ := http.NewRequest(http.MethodGet, "http://example.com/", nil)
				for pb.Next() {
					resp, err := client.Do(req)
					benchFinish(b, resp, err)
				}
			})
		})
	}
}

// BenchmarkPost is a POST of 4 KiB with a GetBody.
func BenchmarkPost(b *testing.B) {
	data := bytes.Repeat([]byte("x"), 4<<10)
	for _, t := range benchTransports(benchBase{}) {
		b.Run("policy="+t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req, _ := http.NewRequest(http.MethodPost, "http://example.com/", bytes.NewReader(data))
				resp, err := t.rt.RoundTrip(req)
				benchFinish(b, resp, err)
			}
		})
	}
}

// BenchmarkStream is a response of 1 MB.
func BenchmarkStream(b *testing.B) {
	req, _ := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	for _, t := range benchTransports(benchStream{make([]byte, 1<<20)}) {
		b.Run("policy="+t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resp, err := t.rt.RoundTrip(req)
				benchFinish(b, resp, err)
			}
		})
	}
}

// BenchmarkRetry is a 503 and then a 200, with no wait.
func BenchmarkRetry(b *testing.B) {
	req, _ := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	for _, p := range []struct {
		name   string
		policy roundtripper.Policy
	}{
		{"headless", roundtripper.Headless()},
		{"standard", roundtripper.Standard()},
	} {
		p.policy.MaxDelay = 0
		rt := roundtripper.New(&benchFlaky{}, p.policy)
		b.Run("policy="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resp, err := rt.RoundTrip(req)
				benchFinish(b, resp, err)
			}
		})
	}
}
