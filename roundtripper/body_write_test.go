package roundtripper_test

// This file tests that a body in memory leaves together with its headers, as it
// does without us.

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
)

// writesConn counts what is written to it.
type writesConn struct {
	net.Conn
	writes *atomic.Int32
}

func (c writesConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

func TestBodyInMemoryTakesOneWrite(t *testing.T) {
	statuses := make(chan int, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if string(data) != "forty-two" {
			t.Errorf("the server got %q", data)
		}
		w.WriteHeader(<-statuses)
	}))
	defer server.Close()
	var writes atomic.Int32
	base := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return writesConn{conn, &writes}, err
	}}
	defer base.CloseIdleConnections()
	silenced := now()
	silenced.IdleTimeout = roundtripper.Transfer().IdleTimeout
	for _, tc := range []struct {
		name   string
		policy roundtripper.Policy
		body   io.Reader
		want   int32 // for two attempts
	}{
		{"strings.Reader", now(), strings.NewReader("forty-two"), 2},
		{"bytes.Reader", now(), bytes.NewReader([]byte("forty-two")), 2},
		{"bytes.Buffer", now(), bytes.NewBufferString("forty-two"), 2},
		{"zero Policy", roundtripper.Policy{}, strings.NewReader("forty-two"), 1},
		{"its silence is watched", silenced, strings.NewReader("forty-two"), 4},
		{"a stream", now(), io.MultiReader(strings.NewReader("forty-two")), 2}, // one attempt
	} {
		t.Run(tc.name, func(t *testing.T) {
			writes.Store(0)
			statuses <- http.StatusServiceUnavailable
			if tc.policy.MaxRetries > 0 {
				statuses <- http.StatusOK
			}
			req, err := http.NewRequest(http.MethodPut, server.URL, tc.body)
			require.NoError(t, err)
			if req.GetBody == nil {
				req.ContentLength = 9
			}
			resp, err := roundtripper.New(base, tc.policy).RoundTrip(req)
			require.NoError(t, err)
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			require.Equal(t, tc.want, writes.Load())
			for len(statuses) > 0 {
				<-statuses
			}
		})
	}
}

// A body in memory is none of those if the request does not say how to have it
// anew, or says another length: it is watched, and judged as any stream.
func TestBodyInMemoryThatMustBeWatched(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.ContentLength == 8 { // The base must see the ninth byte first, and hang up.
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	for _, tc := range []struct {
		name     string
		change   func(*http.Request)
		buffer   int64
		attempts int
		stop     roundtripper.Reason
	}{
		{"no GetBody", func(r *http.Request) { r.GetBody = nil }, 0, 1, roundtripper.ReasonNotReplayable},
		{"no GetBody, but a buffer", func(r *http.Request) { r.GetBody = nil }, 9, 2, roundtripper.ReasonRetriesSpent},
		{"shorter than declared", func(r *http.Request) { r.ContentLength = 10 }, 0, 1, roundtripper.ReasonPermanent},
		{"longer than declared", func(r *http.Request) { r.ContentLength = 8 }, 0, 1, roundtripper.ReasonPermanent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodPut, server.URL, strings.NewReader("forty-two"))
			require.NoError(t, err)
			tc.change(req)
			policy := now()
			policy.MaxRetries, policy.ReplayBuffer = 1, tc.buffer
			resp, err := roundtripper.New(base, policy).RoundTrip(req)
			wantEnd(t, outcome(t, resp, err), tc.attempts, tc.stop)
			if err == nil {
				drink(t, resp)
			}
		})
	}
}
