package bench_test

// The contenders do what is measured as theirs.

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// claim runs f for all of list on each path that they have.
func claim(t *testing.T, list []contender, f func(t *testing.T, c contender, path string)) {
	for _, path := range []string{"roundtrip", "client"} {
		for _, c := range list {
			if _, ok := c.over(answering(), path); ok {
				t.Run(path+"/"+c.name, func(t *testing.T) { f(t, c, path) })
			}
		}
	}
}

func TestRetriersMakeTwoAttempts(t *testing.T) {
	claim(t, retriers(), func(t *testing.T, c contender, path string) {
		base := new(flaky)
		do, _ := c.over(base, path)
		req := newRequest(t, http.MethodGet, nil)
		for call := range 3 {
			resp, err := do(req)
			finish(t, resp, err, 0)
			assert.Equal(t, 2*(call+1), base.requests)
		}
	})
}

func TestNobodyRepeatsASuccess(t *testing.T) {
	claim(t, everybody(), func(t *testing.T, c contender, path string) {
		requests := 0
		do, _ := c.over(doer(func(req *http.Request) (*http.Response, error) {
			requests++
			return succeed(req)
		}), path)
		resp, err := do(newRequest(t, http.MethodGet, nil))
		finish(t, resp, err, 0)
		assert.Equal(t, 1, requests)
	})
}

func TestThePayloadArrives(t *testing.T) {
	claim(t, everybody(), func(t *testing.T, c contender, path string) {
		var got []byte
		do, _ := c.over(doer(func(req *http.Request) (resp *http.Response, err error) {
			got, err = io.ReadAll(req.Body)
			require.NoError(t, err)
			return succeed(req)
		}), path)
		resp, err := do(newRequest(t, http.MethodPost, bytes.NewReader(payload)))
		finish(t, resp, err, 0)
		assert.Equal(t, payload, got)
	})
}

// stalled is a body that never comes.
type stalled struct {
	ctx  context.Context
	note func()
}

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	s.note()
	return 0, s.ctx.Err()
}

func (stalled) Close() error { return nil }

// An attempt ends after 8 s, whether the headers are what is missing or the
// body, and not before. Where the body is under no timeout, the caller's context
// ends it.
func TestTheTimeoutIsInForce(t *testing.T) {
	limited := slices.DeleteFunc(append(everybody(), retriers()...), func(c contender) bool {
		return c.name == "floor" || c.name == "zero"
	})
	for _, missing := range []string{"headers", "body"} {
		t.Run(missing, func(t *testing.T) {
			claim(t, limited, func(t *testing.T, c contender, path string) {
				want := attemptTimeout
				if missing == "body" && c.headersOnly {
					want = time.Minute
				}
				synctest.Test(t, func(t *testing.T) {
					assert.Equal(t, want, stall(t, c, path, missing == "body"))
				})
			})
		})
	}
}

// stall makes a call that gets no headers, or headers and no body, and says how
// long the first attempt lasted.
func stall(t *testing.T, c contender, path string, headers bool) time.Duration {
	var ended []time.Duration
	do, _ := c.over(doer(func(req *http.Request) (*http.Response, error) {
		begun := time.Now()
		body := stalled{req.Context(), func() { ended = append(ended, time.Since(begun)) }}
		if headers {
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: req}, nil
		}
		_, err := body.Read(nil)
		return nil, err
	}), path)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := do(newRequest(t, http.MethodGet, nil).WithContext(ctx))
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	require.Error(t, err)
	require.NotEmpty(t, ended)
	return ended[0]
}
