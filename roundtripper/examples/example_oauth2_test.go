package examples_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/rebound-go/rebound/roundtripper"
)

// tokens is a source of tokens from api. It asks for them with a client of its own, which its context names, and not with
// the one that they are for. To ask for one twice does no harm, so that client may repeat a POST.
func tokens(api *httptest.Server) oauth2.TokenSource {
	p := now()
	p.Methods = append(p.Methods, http.MethodPost)
	client := &http.Client{Transport: roundtripper.New(nil, p)}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client)
	config := clientcredentials.Config{
		ClientID: "app", ClientSecret: "secret", TokenURL: api.URL + "/token", AuthStyle: oauth2.AuthStyleInHeader,
	}
	return config.TokenSource(ctx)
}

const token = `{"access_token":"t","token_type":"Bearer","expires_in":3600}`

// The right order: oauth2 around, the Transport as its base. A token is fetched once for a call, each of the two is
// repeated by its own client, and a failure of the one is none of the other.
func Example_oauth2() {
	api := serve(token, map[string][]int{"/token": {503, 200}, "/orders": {503, 200}})
	defer api.Close()
	client := &http.Client{Transport: &oauth2.Transport{
		Source: tokens(api),
		Base:   roundtripper.New(nil, now()),
	}}
	resp, err := client.Get(api.URL + "/orders")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Println("client:", resp.StatusCode, "attempts:", len(report.Attempts))
	// Output:
	// server: POST /token 503
	// server: POST /token 200
	// server: GET /orders 503
	// server: GET /orders 200
	// client: 200 attempts: 2
}

// The reverse order: the Transport around, oauth2 as its base. Each attempt asks for a token, which helps where one runs
// out during the waits. But a token that is refused is a failed attempt like any other: it is tried again with a secret
// that will not get better, and the API's breaker would count it against the API.
func Example_oauth2Reversed() {
	api := serve(token, map[string][]int{"/token": {401}})
	defer api.Close()
	reversed := &http.Client{Transport: roundtripper.New(&oauth2.Transport{Source: tokens(api)}, now())}
	_, err := reversed.Get(api.URL + "/orders")
	fmt.Println("client:", err != nil)

	client := &http.Client{Transport: &oauth2.Transport{Source: tokens(api), Base: roundtripper.New(nil, now())}}
	_, err = client.Get(api.URL + "/orders")
	fmt.Println("client:", err != nil)
	// Output:
	// server: POST /token 401
	// server: POST /token 401
	// server: POST /token 401
	// server: POST /token 401
	// client: true
	// server: POST /token 401
	// client: true
}
