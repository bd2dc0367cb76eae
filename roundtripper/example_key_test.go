package roundtripper_test

// Examples: writes, and the key that makes them safe to repeat.

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rebound-go/rebound/roundtripper"
)

// A key is made when somebody wants something, here to pay for an order, and is
// kept with it. Every attempt carries the same one: so the server knows the
// second attempt, although its answer to the first was lost.
func ExampleNewKey() {
	charged := map[string]bool{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if charged[key] {
			fmt.Println("server: that one is paid for")
			return
		}
		charged[key] = true
		fmt.Println("server: takes the money, and loses the connection")
		panic(http.ErrAbortHandler)
	}))
	defer api.Close()
	client := &http.Client{Transport: roundtripper.New(nil, now())}
	order := struct{ Key string }{Key: roundtripper.NewKey()}

	req, _ := http.NewRequest(http.MethodPost, api.URL+"/charges", strings.NewReader(`{"amount":4200}`))
	req.Header.Set("Idempotency-Key", order.Key)
	resp, err := client.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Println(resp.StatusCode, "attempts:", len(report.Attempts), "charges:", len(charged))
	// Output:
	// server: takes the money, and loses the connection
	// server: that one is paid for
	// 200 attempts: 2 charges: 1
}

// The key may come from the context, for a library that hides its requests.
func ExampleWithKey() {
	client := &http.Client{Transport: roundtripper.New(answers(503, 200), now())}
	library := func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://api.example.com/charges", strings.NewReader("42"))
		if err != nil {
			return nil, err
		}
		return client.Do(req)
	}
	resp, err := library(roundtripper.WithKey(context.Background(), "order-4711"))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Println(resp.StatusCode, "attempts:", len(report.Attempts), "key:", report.Key)
	// Output: 200 attempts: 2 key: order-4711
}

// Without a key a write is sent once, and its failure is the caller's to judge.
func Example_writeWithoutKey() {
	client := &http.Client{Transport: roundtripper.New(answers(503, 200), now())}
	resp, err := client.Post("http://api.example.com/charges", "application/json", strings.NewReader(`{"amount":4200}`))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Println(resp.StatusCode, report.Stop)
	// Output: 503 not-repeatable
}
