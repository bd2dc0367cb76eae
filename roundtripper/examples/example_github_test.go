package examples_test

import (
	"context"
	"fmt"
	"log"

	"github.com/google/go-github/v88/github"

	"github.com/rebound-go/rebound/roundtripper"
)

// GitHub's client over a Transport. What it reads is repeated; an issue is opened once, since GitHub knows no keys and
// two attempts may be two issues. The client's own errors stay what they are, and its response has the report.
func Example_github() {
	api := serve(`{"full_name":"o/r"}`, map[string][]int{
		"/repos/o/r":        {503, 200},
		"/repos/o/r/issues": {503},
	})
	defer api.Close()
	base := api.URL + "/"
	client, err := github.NewClient(
		github.WithTransport(roundtripper.New(nil, now())),
		github.WithURLs(&base, nil),
	)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	repo, _, err := client.Repositories.Get(ctx, "o", "r")
	fmt.Println("client:", repo.GetFullName(), err)

	_, resp, _ := client.Issues.Create(ctx, "o", "r", &github.IssueRequest{Title: github.Ptr("broken")})
	report, _ := roundtripper.ReportFrom(resp.Response)
	fmt.Println("client:", resp.StatusCode, report.Stop)
	// Output:
	// server: GET /repos/o/r 503
	// server: GET /repos/o/r 200
	// client: o/r <nil>
	// server: POST /repos/o/r/issues 503
	// client: 503 not-repeatable
}
