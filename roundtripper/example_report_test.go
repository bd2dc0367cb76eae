package roundtripper_test

// Examples: what came of a call, when to call again, and what to serve instead.

import (
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/rebound-go/rebound/roundtripper"
)

// Every response of a Transport has a report: what was tried, and why it
// stopped.
func ExampleReportFrom() {
	client := &http.Client{Transport: roundtripper.New(answers(503, 429, 404), roundtripper.Headless())}
	resp, err := client.Get("http://api.example.com/orders")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	for _, a := range report.Attempts {
		fmt.Println("attempt", a.Number, "got", a.StatusCode, "may heal:", a.Verdict.Retry, "waited:", a.Wait)
	}
	fmt.Println("stopped:", report.Stop)
	// Output:
	// attempt 1 got 503 may heal: true waited: 100ms
	// attempt 2 got 429 may heal: true waited: 200ms
	// attempt 3 got 404 may heal: false waited: 0s
	// stopped: status
}

// A call that got no response has its report in the error.
func ExampleError() {
	nobody := roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	})
	client := &http.Client{Transport: roundtripper.New(nobody, now())}
	_, err := client.Get("http://api.example.com/orders")
	if failed, ok := errors.AsType[*roundtripper.Error](err); ok {
		fmt.Println(failed.Reason, "attempts:", len(failed.Report.Attempts), "sent:", failed.Report.Attempts[3].Sent)
	}
	fmt.Println(errors.Is(err, syscall.ECONNREFUSED), err)
	// Output:
	// retries-spent attempts: 4 sent: false
	// true Get "http://api.example.com/orders": roundtripper: retries-spent after 4 attempts: dial tcp: connection refused
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

// Retryable says that a failure may heal, not that the request may be sent
// again: of a write without a key nobody knows whether it was done.
func ExampleStatusError_Retryable() {
	client := &http.Client{Transport: roundtripper.New(answers(503), now())}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		req, _ := http.NewRequest(method, "http://api.example.com/orders", nil)
		resp, err := client.Do(req)
		if err == nil {
			err = roundtripper.CheckStatus(resp)
		}
		if failed, ok := errors.AsType[*roundtripper.StatusError](err); ok {
			again := failed.Retryable() && failed.Report.Stop != roundtripper.ReasonNotRepeatable
			fmt.Println(method, "may heal:", failed.Retryable(), "stopped:", failed.Report.Stop, "call again later:", again)
		}
	}
	// Output:
	// GET may heal: true stopped: retries-spent call again later: true
	// POST may heal: true stopped: not-repeatable call again later: false
}

// A server that wants to be left alone for longer than MaxDelay, 30 s here, is
// not waited for: the call ends at once, and says when to make the next one.
func ExampleStatusError_RetryAfter() {
	busy := roundTrip(func(req *http.Request) (*http.Response, error) {
		h := http.Header{"Retry-After": {"120"}}
		return &http.Response{StatusCode: 429, Header: h, Body: http.NoBody, Request: req}, nil
	})
	client := &http.Client{Transport: roundtripper.New(busy, roundtripper.Standard())}
	resp, err := client.Get("http://api.example.com/orders")
	if err == nil {
		err = roundtripper.CheckStatus(resp)
	}
	if failed, ok := errors.AsType[*roundtripper.StatusError](err); ok {
		wait, _ := failed.RetryAfter()
		at, _ := failed.Report.RetryAt() // the same as a time, for a job queue
		fmt.Println(failed.Report.Stop, "- again in", wait, at.After(failed.Report.Attempts[0].Start))
	}
	// Output: retry-after-too-long - again in 2m0s true
}

// While the service is down, yesterday's list is better than none.
func ExamplePolicy_fallback() {
	p := now()
	p.Fallback = func(req *http.Request, _ *roundtripper.Report, failure error) (*http.Response, error) {
		if req.Method != http.MethodGet || req.URL.Path != "/orders" {
			return nil, nil // nothing to serve: the failure stays what it is
		}
		fmt.Println("instead of:", failure)
		cached := io.NopCloser(strings.NewReader("from the cache"))
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: cached}, nil
	}
	client := &http.Client{Transport: roundtripper.New(answers(503), p)}
	resp, err := client.Get("http://api.example.com/orders")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Printf("%d %s; fallback: %t, stopped: %s\n", resp.StatusCode, body, report.Fallback, report.Stop)
	// Output:
	// instead of: roundtripper: status 503 service unavailable after 4 attempts
	// 200 from the cache; fallback: true, stopped: retries-spent
}

// Log writes a line for each retry and for each call that failed, without what
// may be secret in a URL.
func ExampleLog() {
	p := now()
	p.Observe = roundtripper.Log(slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "elapsed" {
				return slog.Attr{} // differs each time
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
