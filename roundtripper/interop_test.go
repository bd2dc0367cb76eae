package roundtripper_test

// This file holds what a caller of net/http takes for granted of any transport: the types of errors, and what a body is.

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
)

// silentBody says nothing until its context ends.
type silentBody struct{ ctx context.Context }

func (b silentBody) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (silentBody) Close() error { return nil }

// An error of a body that ran out of time, whosever time it was, is a net.Error as it stands: many callers look no
// further than its own type, and context.DeadlineExceeded is one.
func TestBodyTimeoutIsNetError(t *testing.T) {
	for _, tc := range []struct {
		name    string
		policy  roundtripper.Policy
		timeout time.Duration // of the context
	}{
		{"AttemptTimeout", roundtripper.Policy{AttemptTimeout: time.Second}, time.Hour},
		{"IdleTimeout", roundtripper.Policy{IdleTimeout: time.Second}, time.Hour},
		{"TotalTimeout", roundtripper.Policy{TotalTimeout: time.Second}, time.Hour},
		{"the caller's deadline", roundtripper.Policy{MaxRetries: 1}, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
				defer cancel()
				req := newRequest(t, "GET", anyURL, nil).WithContext(ctx)
				base := baseFunc(func(req *http.Request) (*http.Response, error) {
					resp := answer(req, 200, "")
					resp.Body = silentBody{req.Context()}
					return resp, nil
				})
				resp, err := roundtripper.New(base, tc.policy).RoundTrip(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				_, err = resp.Body.Read(make([]byte, 1))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				ne, ok := err.(net.Error)
				require.Truef(t, ok, "%T is no net.Error", err)
				assert.True(t, ne.Timeout())
			})
		})
	}
}

// A response without a body has http.NoBody, which callers compare with. Under the zero Policy its place is taken by the
// mark that the report hangs on.
func TestResponseWithoutBodyHasNoBody(t *testing.T) {
	for _, p := range []roundtripper.Policy{{}, {MaxRetries: 1}, roundtripper.Standard()} {
		for _, body := range []io.ReadCloser{http.NoBody, nil} {
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				resp := answer(req, 304, "")
				resp.Body = body
				return resp, nil
			})
			resp, err := roundtripper.New(base, p).RoundTrip(newRequest(t, "GET", anyURL, nil))
			require.NoError(t, err)
			data, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Empty(t, data)
			assert.Equal(t, p.MaxRetries > 0, resp.Body == http.NoBody)
			report, ok := roundtripper.ReportFrom(resp)
			require.True(t, ok)
			assert.Equal(t, roundtripper.ReasonOK, report.Stop)
			assert.Len(t, report.Attempts, 1)
		}
	}
}

// What http.Client says of a server that does not speak TLS, it says only of a bare tls.RecordHeaderError; a call says
// it itself.
func TestPlainServerUnderHTTPS(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for _, p := range []roundtripper.Policy{{}, roundtripper.Standard()} {
		base := &http.Transport{}
		client := &http.Client{Transport: roundtripper.New(base, p)}
		_, err := client.Get("https" + server.URL[len("http"):])
		require.ErrorIs(t, err, http.ErrSchemeMismatch)
		failure, ok := errors.AsType[*roundtripper.Error](err)
		require.True(t, ok)
		assert.Equal(t, roundtripper.ReasonPermanent, failure.Reason)
		assert.Len(t, failure.Report.Attempts, 1)
		base.CloseIdleConnections()
	}
}

// hiccup is an error that calls itself temporary.
type hiccup struct{}

func (hiccup) Error() string   { return "hiccup" }
func (hiccup) Timeout() bool   { return false }
func (hiccup) Temporary() bool { return true }

// An Error is a net.Error, and says of itself what the base's own error said: retrying layers further out ask it.
func TestErrorIsNetError(t *testing.T) {
	for _, tc := range []struct {
		name               string
		err                error
		timeout, temporary bool
	}{
		{"neither", errors.New("broken"), false, false},
		{"temporary", hiccup{}, false, true},
		{"a timeout", context.DeadlineExceeded, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := baseFunc(func(*http.Request) (*http.Response, error) { return nil, tc.err })
			_, err := roundtripper.New(base, roundtripper.Policy{}).RoundTrip(newRequest(t, "GET", anyURL, nil))
			ne, ok := err.(net.Error)
			require.Truef(t, ok, "%T is no net.Error", err)
			assert.Equal(t, tc.timeout, ne.Timeout())
			//lint:ignore SA1019 it is what the callers in question ask
			assert.Equal(t, tc.temporary, ne.Temporary())
		})
	}
}
