package roundtripper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
)

// answers is a base transport for the examples: it gives one status after the
// other, and then the last one for ever. It reads the request body, as a server
// would.
func answers(statuses ...int) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.Body != nil {
			io.Copy(io.Discard, req.Body)
			req.Body.Close()
		}
		status := statuses[0]
		if len(statuses) > 1 {
			statuses = statuses[1:]
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// now is Standard without waits, so that the examples run at once.
func now() roundtripper.Policy {
	p := roundtripper.Standard()
	p.Backoff = backoff.None()
	return p
}

func ExampleNew() {
	p := roundtripper.Standard()
	p.TotalTimeout = 10 * time.Second // as long as someone will wait
	p.Backoff = backoff.None()
	client := &http.Client{Transport: roundtripper.New(answers(503, 200), p)}

	resp, err := client.Get("http://api.example.com/orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Println(resp.StatusCode, "after", len(report.Attempts), "attempts")
	// Output: 200 after 2 attempts
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

// A wrong policy fails every call before anything is sent; Validate says so
// early.
func ExamplePolicy_Validate() {
	p := roundtripper.Headless()
	p.MaxRetries = -1
	fmt.Println(p.Validate())
	// Output: roundtripper: invalid MaxRetries: -1 is negative
}

// A response is a response, whatever its status. CheckStatus makes an error of
// those that are not 2xx.
func ExampleCheckStatus() {
	client := &http.Client{Transport: roundtripper.New(answers(503), now())}
	resp, err := client.Get("http://api.example.com/orders")
	if err == nil {
		err = roundtripper.CheckStatus(resp)
	}
	fmt.Println(err)
	if failed, ok := errors.AsType[*roundtripper.StatusError](err); ok {
		fmt.Println("may heal:", failed.Retryable())
	}
	// Output:
	// roundtripper: status 503 service unavailable after 4 attempts
	// may heal: true
}

// A write is repeated if it carries an idempotency key: one for each thing that
// the user wants, made when they want it.
func ExampleWithKey() {
	client := &http.Client{Transport: roundtripper.New(answers(503, 200), now())}
	pay := func(ctx context.Context) {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://api.example.com/charges", strings.NewReader(`{"amount":4200}`))
		resp, err := client.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		report, _ := roundtripper.ReportFrom(resp)
		fmt.Println(resp.StatusCode, "attempts:", len(report.Attempts))
	}
	pay(roundtripper.WithKey(context.Background(), roundtripper.NewKey()))
	// Output: 200 attempts: 2
}

// Without a key a write is sent once, and its failure is the caller's to judge.
func Example_writeWithoutKey() {
	client := &http.Client{Transport: roundtripper.New(answers(503, 200), now())}
	resp, err := client.Post("http://api.example.com/charges", "application/json", strings.NewReader(`{"amount":4200}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Println(resp.StatusCode, report.Stop)
	// Output: 503 not-repeatable
}

// The common mistake: a body that can be read only once, here since its type
// hides what is in it, can't be sent again. http.NewRequest gives a GetBody to
// bytes.Reader, bytes.Buffer and strings.Reader; for others, set ReplayBuffer.
func Example_bodyWithoutGetBody() {
	put := func(p roundtripper.Policy) {
		client := &http.Client{Transport: roundtripper.New(answers(503, 200), p)}
		req, _ := http.NewRequest(http.MethodPut, "http://api.example.com/notes/1", io.MultiReader(strings.NewReader("a note")))
		resp, err := client.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		report, _ := roundtripper.ReportFrom(resp)
		fmt.Println(resp.StatusCode, report.Stop)
	}
	p := now()
	put(p)
	p.ReplayBuffer = 64 << 10
	put(p)
	// Output:
	// 503 not-replayable
	// 200 ok
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
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Println(len(report.Attempts), report.Stop)
	// Output: 2 retries-spent
}

// Log writes a line for each retry and for each call that failed.
func ExampleLog() {
	p := now()
	p.Observe = roundtripper.Log(slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "elapsed" {
				return slog.Attr{}
			}
			return a
		},
	})))
	client := &http.Client{Transport: roundtripper.New(answers(503, 404), p)}
	resp, err := client.Get("http://user:secret@api.example.com/orders?token=secret")
	if err == nil {
		resp.Body.Close()
	}
	// Output:
	// level=WARN msg="request will be sent again" method=GET url=http://api.example.com/orders attempt=1 status=503 reason=status wait=0s
	// level=WARN msg="request failed" method=GET url=http://api.example.com/orders attempt=2 status=404 reason=status
}

// A budget and a breaker serve all clients of a process.
func Example_sharedGuards() {
	p := now()
	p.Budget = budget.New(budget.Config{})
	p.Breaker = breaker.PerHost(breaker.Config{})
	client := &http.Client{Transport: roundtripper.New(answers(503), p)}

	for range 3 {
		resp, err := client.Get("http://api.example.com/")
		if open, ok := errors.AsType[*breaker.OpenError](err); ok {
			fmt.Println("refused without a request:", open.Key)
			continue
		}
		report, _ := roundtripper.ReportFrom(resp)
		fmt.Println(resp.StatusCode, "attempts:", len(report.Attempts), report.Stop)
		resp.Body.Close()
	}
	fmt.Println("tokens left:", p.Budget.Tokens(""))
	// Output:
	// 503 attempts: 4 retries-spent
	// 503 attempts: 1 breaker-open
	// refused without a request: http://api.example.com:80
	// tokens left: 7
}
