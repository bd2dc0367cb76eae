package statuspage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/statuspage"
)

// BenchmarkCall is a call through a Transport whose base costs nothing: with no observer, with one that does nothing, and
// with the page's. The last two differ by what the page costs.
func BenchmarkCall(b *testing.B) {
	page := statuspage.New(statuspage.Config{})
	for _, observer := range []struct {
		name    string
		observe func(roundtripper.Event)
	}{
		{"none", nil},
		{"empty", func(roundtripper.Event) {}},
		{"page", page.ObserveCall},
	} {
		for _, outcome := range []struct {
			name    string
			answers []int
		}{{"200", []int{200}}, {"503-200", []int{503, 200}}} {
			b.Run(fmt.Sprintf("observe=%s/answers=%s", observer.name, outcome.name), func(b *testing.B) {
				n := 0
				base := baseFunc(func(req *http.Request) (*http.Response, error) {
					status := outcome.answers[n%len(outcome.answers)]
					n++
					return &http.Response{StatusCode: status, Body: http.NoBody, Request: req}, nil
				})
				p := roundtripper.Standard()
				p.Backoff, p.Observe = nil, observer.observe
				transport := roundtripper.New(base, p)
				target := &url.URL{Scheme: "https", Host: "api.example.com", Path: "/v1/orders"}
				req := &http.Request{Method: "GET", URL: target, Header: http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := transport.RoundTrip(req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkDelivery(b *testing.B) {
	page := statuspage.New(statuspage.Config{})
	e := accepted("evt_0123456789", "dlv_0123456789")
	b.ReportAllocs()
	for b.Loop() {
		page.ObserveDelivery(e)
	}
}

// BenchmarkPage is a reader of a full page.
func BenchmarkPage(b *testing.B) {
	page := statuspage.New(statuspage.Config{})
	for i := range 1000 {
		page.ObserveCall(failed(fmt.Sprintf("https://h%d.example.com/", i)))
		page.ObserveDelivery(accepted("evt", "dlv"))
		page.ObserveDelivery(refused("/hook"))
	}
	for _, format := range []string{"html", "json"} {
		b.Run("format="+format, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/?format="+format, nil)
			b.ReportAllocs()
			for b.Loop() {
				page.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
	b.Run("format=none", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page.Snapshot()
		}
	})
}
