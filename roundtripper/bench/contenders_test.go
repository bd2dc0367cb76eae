package bench_test

// Who is measured, and how each of them is set up: up to three retries of a 503
// and of an error, without a wait, and 8 s for each attempt with its body.

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/PuerkitoBio/rehttp"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/go-resty/resty/v2"
	"github.com/gojek/heimdall/v7/httpclient"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/rebound-go/rebound/roundtripper"
)

const maxRetries = 3

// contender is one way to send a request over a base.
type contender struct {
	name        string
	transport   func(base http.RoundTripper) http.RoundTripper // nil: it is a client
	client      func(base http.RoundTripper) doer              // nil: an http.Client over transport
	headersOnly bool                                           // its timeout leaves out the response body
}

// over gives the contender's RoundTrip, or its Do. There may be no RoundTrip.
func (c contender) over(base http.RoundTripper, path string) (do doer, ok bool) {
	switch {
	case path == "roundtrip":
		if c.transport == nil {
			return nil, false
		}
		return c.transport(base).RoundTrip, true
	case c.client != nil:
		return c.client(base), true
	}
	return (&http.Client{Transport: c.transport(base)}).Do, true
}

// floors neither retry nor report. The first of them has no timeout either.
var floors = []contender{
	{name: "floor", transport: func(base http.RoundTripper) http.RoundTripper { return base }},
	{name: "floor+8s", transport: func(base http.RoundTripper) http.RoundTripper { return timed{base} }},
	{name: "client-timeout", client: func(base http.RoundTripper) doer {
		return (&http.Client{Transport: base, Timeout: attemptTimeout}).Do
	}},
}

// floorRetries is the floor where retries are measured.
var floorRetries = contender{name: "floor+8s", transport: func(base http.RoundTripper) http.RoundTripper {
	return again{timed{base}}
}}

func ours(name string, p roundtripper.Policy) contender {
	return contender{name: name, transport: func(base http.RoundTripper) http.RoundTripper {
		return roundtripper.New(base, p)
	}}
}

// asTheyCome are our presets, waits and all, and the policy that adds nothing.
func asTheyCome() []contender {
	return []contender{
		ours("standard", roundtripper.Standard()),
		ours("headless", roundtripper.Headless()),
		ours("zero", roundtripper.Policy{}),
	}
}

// withoutWaits are our presets where a retry is measured.
func withoutWaits() []contender {
	standard, headless := roundtripper.Standard(), roundtripper.Headless()
	standard.MaxDelay, headless.MaxDelay = 0, 0
	return []contender{ours("standard", standard), ours("headless", headless)}
}

// peers are not quite alike in what they do for a call:
//
//   - all of them read a request body into memory before they send it, azcore
//     unless it can seek; resty can repeat one only if it gets it as bytes;
//   - go-retryablehttp has an http.Client of its own inside its RoundTripper, so
//     through http.Client there are two of them;
//   - heimdall, resty and azcore are clients, and have no RoundTripper. resty
//     makes the request from method and URL, and resty and azcore read the whole
//     response into memory before they return;
//   - 8 s are http.Client.Timeout in go-retryablehttp, heimdall and resty, and end
//     with the headers in failsafe-go;
//   - resty and azcore know no wait of 0: theirs is a nanosecond.
var peers = []contender{
	{name: "rehttp+8s", transport: func(base http.RoundTripper) http.RoundTripper {
		t := rehttp.NewTransport(base,
			rehttp.RetryAll(
				rehttp.RetryMaxRetries(maxRetries),
				rehttp.RetryHTTPMethods(http.MethodGet),
				rehttp.RetryAny(
					rehttp.RetryStatuses(408, 429, 502, 503, 504),
					rehttp.RetryIsErr(func(err error) bool { return err != nil }))),
			rehttp.ConstDelay(0))
		t.PerAttemptTimeout = attemptTimeout
		return t
	}},
	{name: "failsafe-go+8s", headersOnly: true, transport: func(base http.RoundTripper) http.RoundTripper {
		return failsafehttp.NewRoundTripper(base,
			failsafehttp.NewRetryPolicyBuilder().WithMaxRetries(maxRetries).Build(),
			timeout.New[*http.Response](attemptTimeout))
	}},
	{name: "go-retryablehttp+8s", transport: func(base http.RoundTripper) http.RoundTripper {
		return &retryablehttp.RoundTripper{Client: &retryablehttp.Client{
			HTTPClient: &http.Client{Transport: base, Timeout: attemptTimeout},
			RetryMax:   maxRetries,
			CheckRetry: retryablehttp.DefaultRetryPolicy,
			Backoff:    retryablehttp.DefaultBackoff,
		}}
	}},
	{name: "heimdall+8s", client: func(base http.RoundTripper) doer {
		return httpclient.NewClient(
			httpclient.WithHTTPClient(&http.Client{Transport: base, Timeout: attemptTimeout}),
			httpclient.WithRetryCount(maxRetries)).Do
	}},
	{name: "resty+8s", client: func(base http.RoundTripper) doer {
		client := resty.New().SetTransport(base).SetTimeout(attemptTimeout).
			SetRetryCount(maxRetries).SetRetryWaitTime(0).SetRetryMaxWaitTime(0).
			SetLogger(silent{}).AddRetryCondition(func(resp *resty.Response, err error) bool {
			return err != nil || resp.StatusCode() == http.StatusServiceUnavailable
		})
		return func(req *http.Request) (*http.Response, error) {
			r := client.R().SetContext(req.Context())
			switch {
			case req.GetBody != nil:
				r.SetBody(payload)
			case req.Body != nil:
				r.SetBody(req.Body)
			}
			resp, err := r.Execute(req.Method, target)
			if err != nil {
				return nil, err
			}
			resp.RawResponse.Body = io.NopCloser(bytes.NewReader(resp.Body()))
			return resp.RawResponse, nil
		}
	}},
	{name: "azcore+8s", client: func(base http.RoundTripper) doer {
		pipeline := runtime.NewPipeline("", "", runtime.PipelineOptions{}, &policy.ClientOptions{
			Transport: &http.Client{Transport: base},
			Telemetry: policy.TelemetryOptions{Disabled: true},
			Retry: policy.RetryOptions{
				MaxRetries: maxRetries,
				TryTimeout: attemptTimeout,
				// Of either, 0 would be the default.
				RetryDelay:    time.Nanosecond,
				MaxRetryDelay: time.Nanosecond,
			},
		})
		return func(req *http.Request) (*http.Response, error) {
			r, err := runtime.NewRequestFromRequest(req)
			if err != nil {
				return nil, err
			}
			return pipeline.Do(r)
		}
	}},
}

// silent is a logger for resty, which has one unless it is given another.
type silent struct{}

func (silent) Errorf(string, ...any) {}
func (silent) Warnf(string, ...any)  {}
func (silent) Debugf(string, ...any) {}
