package statuspage_test

// What the tests share: a base transport that answers by a script, and ways to ask a page.

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/statuspage"
)

// reply is what the base does with one attempt.
type reply struct {
	after  time.Duration
	status int
	err    error
	header http.Header
}

// script is a base transport that gives the n-th attempt its n-th reply, and all later ones the last.
type script struct {
	replies []reply
	next    int
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	r := s.replies[min(s.next, len(s.replies)-1)]
	s.next++
	select {
	case <-time.After(r.after):
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
	if r.err != nil {
		return nil, r.err
	}
	return answer(req, r.status, r.header), nil
}

func answer(req *http.Request, status int, header http.Header) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(strings.NewReader("body")), Request: req}
}

// baseFunc is a base transport made of a function.
type baseFunc func(*http.Request) (*http.Response, error)

func (f baseFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// steady is a policy whose waits are known.
func steady(page *statuspage.Page) roundtripper.Policy {
	p := roundtripper.Standard()
	p.Backoff = backoff.Exponential(100*time.Millisecond, time.Second)
	p.Observe = page.ObserveCall
	return p
}

// call makes a call and gives up its response.
func call(ctx context.Context, t testing.TB, base http.RoundTripper, p roundtripper.Policy, method, target string) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	require.NoError(t, err)
	if resp, err := roundtripper.New(base, p).RoundTrip(req); err == nil {
		resp.Body.Close()
	}
}

// get asks a page for target, with that Accept header.
func get(page http.Handler, target, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", target, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	return w
}

// html is the page itself.
func html(t testing.TB, page http.Handler) string {
	t.Helper()
	w := get(page, "/debug/rebound", "text/html")
	require.Equal(t, 200, w.Code, w.Body.String())
	return w.Body.String()
}

// fetched is the page's JSON, read back.
func fetched(t testing.TB, page http.Handler) (s statuspage.Snapshot) {
	t.Helper()
	w := get(page, "/debug/rebound", "application/json")
	require.Equal(t, 200, w.Code, w.Body.String())
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &s))
	return s
}
