package roundtripper_test

// Examples: a client, and the policy that it follows.

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
)

// A client for one API, tuned from a preset.
func ExampleNew() {
	var requests atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "three orders")
	}))
	defer api.Close()

	p := roundtripper.Standard()
	p.AttemptTimeout = 2 * time.Second // 99 of 100 answers of this API come within half a second
	p.TotalTimeout = 6 * time.Second   // as long as someone will wait
	p.Backoff = backoff.FullJitter(backoff.Exponential(20*time.Millisecond, time.Second))
	p.Observe = func(e roundtripper.Event) {
		if e.State == roundtripper.StateWaiting {
			fmt.Println("attempt", e.Attempt.Number, "got", e.Attempt.StatusCode, "and will be repeated")
		}
	}
	client := &http.Client{Transport: roundtripper.New(nil, p)} // one for the whole program

	resp, err := client.Get(api.URL + "/orders")
	if err == nil {
		err = roundtripper.CheckStatus(resp)
	}
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%s %v\n", body, err)
	// Output:
	// attempt 1 got 503 and will be repeated
	// three orders <nil>
}

// What a policy comes to, for people.
func ExamplePolicy_Explain() {
	fmt.Print(roundtripper.Headless().Explain())
	// Output:
	// attempt  wait before it  limit
	// 1        -               8s
	// 2        100ms           8s
	// 3        200ms           8s
	//
	// repeated     GET
	// may heal     429 500 502 503 504, network errors, attempt timeouts; not if the body says "retryable": false
	// Retry-After  replaces the wait, at most 5s
	// silence      no limit
	// in all       no limit
	// worst case   34s
}

// How long can a call take? Nothing but the context bounds a transfer.
func ExamplePolicy_WorstCase() {
	fmt.Println(roundtripper.Headless().WorstCase())
	fmt.Println(roundtripper.Standard().WorstCase())
	fmt.Println(roundtripper.Transfer().WorstCase())
	// Output:
	// 34s true
	// 20s true
	// 0s false
}

// A wrong policy fails every call before anything is sent; Validate says so
// early.
func ExamplePolicy_Validate() {
	p := roundtripper.Headless()
	p.MaxRetries = -1
	fmt.Println(p.Validate())
	// Output: roundtripper: invalid MaxRetries: -1 is negative
}

// One call may follow another policy than its client's.
func ExampleWithPolicy() {
	client := &http.Client{Transport: roundtripper.New(answers(503), now())}
	p := now()
	p.MaxRetries = 1
	ctx := roundtripper.WithPolicy(context.Background(), p)
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://api.example.com/", nil)
	resp, err := client.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Println(len(report.Attempts), report.Stop)
	// Output: 2 retries-spent
}

// Code below a Transport can tell which attempt it is part of.
func ExampleAttemptNumber() {
	base := answers(503, 200)
	logs := roundTrip(func(req *http.Request) (*http.Response, error) {
		n, _ := roundtripper.AttemptNumber(req.Context())
		resp, err := base.RoundTrip(req)
		fmt.Println("attempt", n, "got", resp.StatusCode)
		return resp, err
	})
	client := &http.Client{Transport: roundtripper.New(logs, now())}
	resp, err := client.Get("http://api.example.com/")
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
	// Output:
	// attempt 1 got 503
	// attempt 2 got 200
}
