package statuspage_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/statuspage"
)

// A page that stands beside the other pages of the operators, and shows a call that healed.
func ExampleNew() {
	hosts := breaker.PerHost(breaker.Config{})
	page := statuspage.New(statuspage.Config{Breaker: hosts})
	admin := http.NewServeMux()
	admin.Handle("/debug/rebound", page)

	answers := []int{503, 200}
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		status := answers[0]
		answers = answers[1:]
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
	})
	policy := roundtripper.Standard()
	policy.Backoff = nil
	policy.Breaker = hosts
	policy.Observe = page.ObserveCall
	client := &http.Client{Transport: roundtripper.New(base, policy)}
	resp, err := client.Get("https://api.example.com/orders?token=secret")
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()

	w := httptest.NewRecorder()
	admin.ServeHTTP(w, httptest.NewRequest("GET", "/debug/rebound", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	for _, c := range page.Snapshot().Calls {
		fmt.Println(c.Method, c.URL, c.State)
		for _, s := range c.Steps {
			fmt.Println(s.Kind, s.Number, s.Status, s.Reason)
		}
	}
	// Output:
	// 200 text/html; charset=utf-8
	// GET https://api.example.com/orders done
	// attempt 1 503 status
	// attempt 2 200 ok
}

// A policy has one Observe. An observer of your own calls the page's.
func ExamplePage_ObserveCall() {
	page := statuspage.New(statuspage.Config{})
	policy := roundtripper.Policy{
		Observe: func(e roundtripper.Event) {
			page.ObserveCall(e)
			fmt.Println(e.State)
		},
	}
	broken := baseFunc(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })
	client := &http.Client{Transport: roundtripper.New(broken, policy)}
	if _, err := client.Get("https://api.example.com/"); err != nil {
		fmt.Println(page.Snapshot().Totals.Failed, "failed")
	}
	// Output:
	// sending
	// failed
	// 1 failed
}

// Programs ask for JSON under the same path.
func ExamplePage_ServeHTTP() {
	page := statuspage.New(statuspage.Config{})
	r := httptest.NewRequest("GET", "/debug/rebound", nil)
	r.Header.Set("Accept", "application/json")
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Content-Type"), w.Header().Get("Vary"))
	// Output: 200 application/json Accept
}
