package examples_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/stripe/stripe-go/v85"

	"github.com/rebound-go/rebound/roundtripper"
)

// An SDK that repeats by itself: its own retries are turned off, so that one layer repeats and not two. It gives each
// write an Idempotency-Key, which every attempt then carries.
func Example_stripe() {
	api := serve(`{"id":"cus_1"}`, map[string][]int{"/v1/customers": {503, 200}})
	defer api.Close()
	keys := map[string]int{}
	p := now()
	p.Observe = func(e roundtripper.Event) {
		if e.State == roundtripper.StateSending {
			keys[e.Attempt.Request.Header.Get("Idempotency-Key")]++
		}
	}
	client := stripe.NewClient("sk_test_1", stripe.WithBackends(&stripe.Backends{
		API: stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
			URL:               stripe.String(api.URL),
			HTTPClient:        &http.Client{Transport: roundtripper.New(nil, p)},
			MaxNetworkRetries: stripe.Int64(0),
		}),
	}))
	customer, err := client.V1Customers.Create(context.Background(), &stripe.CustomerCreateParams{})
	fmt.Println("client:", customer.ID, err, "keys:", len(keys))
	// Output:
	// server: POST /v1/customers 503
	// server: POST /v1/customers 200
	// client: cus_1 <nil> keys: 1
}
