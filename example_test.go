package rebound_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"github.com/rebound-go/rebound/roundtripper"
)

// A client that gets through two failures, over one connection.
func Example() {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) <= 2 {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()

	client := &http.Client{Transport: roundtripper.New(nil, roundtripper.Headless())}
	resp, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%s %v\n", body, err)

	report, _ := roundtripper.ReportFrom(resp)
	for _, a := range report.Attempts {
		fmt.Println(a.Number, a.StatusCode, a.Verdict.Reason, a.Wait)
	}
	// Output:
	// hello <nil>
	// 1 503 status 100ms
	// 2 503 status 200ms
	// 3 200 ok 0s
}
