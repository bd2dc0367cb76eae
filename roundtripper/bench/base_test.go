package bench_test

// What answers, without sockets, and what is written by hand over it: the
// floors.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const target = "http://example.com/"

// doer is a RoundTrip or a Do.
type doer func(*http.Request) (*http.Response, error)

func (do doer) RoundTrip(req *http.Request) (*http.Response, error) { return do(req) }

// succeed takes the body and answers at once.
func succeed(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		io.Copy(io.Discard, req.Body)
		req.Body.Close()
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

// flaky answers every other request with a 503.
type flaky struct{ requests int }

func (f *flaky) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := succeed(req)
	if f.requests++; f.requests%2 == 1 {
		resp.StatusCode = http.StatusServiceUnavailable
	}
	return resp, err
}

// stream answers with a body that can only be read.
func stream(data []byte) doer {
	return func(req *http.Request) (*http.Response, error) {
		body := io.NopCloser(struct{ io.Reader }{bytes.NewReader(data)})
		return &http.Response{StatusCode: http.StatusOK, Body: body, Request: req}, nil
	}
}

const attemptTimeout = 8 * time.Second

// timed is the least that a transport written by hand does for a timeout that
// holds until the body is closed.
type timed struct{ base http.RoundTripper }

func (t timed) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), attemptTimeout)
	resp, err := t.base.RoundTrip(req.Clone(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = canceling{resp.Body, cancel}
	return resp, nil
}

type canceling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c canceling) Close() error {
	err := c.ReadCloser.Close()
	c.cancel()
	return err
}

// again is the least that a transport written by hand does to repeat a GET,
// without a wait.
type again struct{ base http.RoundTripper }

func (a again) RoundTrip(req *http.Request) (*http.Response, error) {
	for retry := 0; ; retry++ {
		resp, err := a.base.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable || retry == maxRetries {
			return resp, err
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// consume is what a caller does with a response; its body must have size bytes.
func consume(resp *http.Response, err error, size int64) error {
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err != nil || n != size || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d, %d bytes: %v", resp.StatusCode, n, err)
	}
	return nil
}

func finish(tb testing.TB, resp *http.Response, err error, size int64) {
	if err := consume(resp, err, size); err != nil {
		tb.Fatal(err)
	}
}

func newRequest(tb testing.TB, method string, body io.Reader) *http.Request {
	req, err := http.NewRequest(method, target, body)
	require.NoError(tb, err)
	return req
}

// shuffled gives list in another order each time, so that none of it owes its
// figure to its place.
func shuffled[E any](list []E) []E {
	list = slices.Clone(list)
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
