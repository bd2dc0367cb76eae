package roundtripper_test

// This file holds what the examples share: a base transport that answers as it
// is told.

import (
	"io"
	"net/http"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
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
