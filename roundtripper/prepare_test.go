package roundtripper_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
)

// Whatever Prepare does to them, every attempt carries the call's own key and
// request ID, and no others.
func TestPrepareKeepsNames(t *testing.T) {
	for name, prepare := range map[string]func(*http.Request){
		"set":        func(r *http.Request) { r.Header.Set("Idempotency-Key", roundtripper.NewKey()) },
		"set the ID": func(r *http.Request) { r.Header.Set("X-Request-Id", roundtripper.NewKey()) },
		"set both in place": func(r *http.Request) {
			r.Header["Idempotency-Key"][0], r.Header["X-Request-Id"][0] = "another", "another"
		},
		"add":            func(r *http.Request) { r.Header.Add("Idempotency-Key", "another") },
		"delete":         func(r *http.Request) { r.Header.Del("Idempotency-Key"); r.Header.Del("X-Request-Id") },
		"another header": func(r *http.Request) { r.Header = http.Header{"X-Mine": {"1"}} },
		"no header":      func(r *http.Request) { r.Header = nil },
	} {
		t.Run(name, func(t *testing.T) {
			var keys, ids [][]string
			statuses := answers(503, 200)
			base := roundTrip(func(req *http.Request) (*http.Response, error) {
				keys, ids = append(keys, req.Header["Idempotency-Key"]), append(ids, req.Header["X-Request-Id"])
				return statuses.RoundTrip(req)
			})
			p := now()
			p.RequestIDHeader = "X-Request-Id"
			p.Prepare = func(req *http.Request, _ int) error { prepare(req); return nil }
			req, _ := http.NewRequest(http.MethodPost, "http://api.example.com/", strings.NewReader("42"))
			req.Header.Set("Idempotency-Key", "order-4711")
			resp, err := roundtripper.New(base, p).RoundTrip(req)
			require.NoError(t, err)
			resp.Body.Close()
			report, _ := roundtripper.ReportFrom(resp)
			require.Equal(t, [][]string{{"order-4711"}, {"order-4711"}}, keys)
			require.Equal(t, [][]string{{report.RequestID}, {report.RequestID}}, ids)
			require.Equal(t, "order-4711", report.Key)
			require.Equal(t, "order-4711", req.Header.Get("Idempotency-Key"))
		})
	}
}

// A base may still read the header of an attempt that it has failed, as
// net/http's writing goroutine may, while Prepare has the next one.
func TestPrepareHasItsOwnNames(t *testing.T) {
	var readers sync.WaitGroup
	base := roundTrip(func(req *http.Request) (*http.Response, error) {
		readers.Go(func() {
			for range 100 {
				assert.Equal(t, "order-4711", req.Header["Idempotency-Key"][0])
				assert.Len(t, req.Header["X-Request-Id"][0], 32)
			}
		})
		return nil, errors.New("broken")
	})
	p := now()
	p.RequestIDHeader = "X-Request-Id"
	p.Prepare = func(req *http.Request, _ int) error {
		req.Header["Idempotency-Key"][0], req.Header["X-Request-Id"][0] = "another", "another"
		return nil
	}
	req, _ := http.NewRequest(http.MethodPost, "http://api.example.com/", strings.NewReader("42"))
	req.Header.Set("Idempotency-Key", "order-4711")
	_, err := roundtripper.New(base, p).RoundTrip(req)
	require.Error(t, err)
	readers.Wait()
}

// Prepare has the call's time: where that runs out in it, that is why the call
// ends, and not the error that Prepare made of it.
func TestPrepareThatTakesAllOfTheTime(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		p := now()
		p.TotalTimeout = time.Second
		p.Prepare = func(req *http.Request, _ int) error {
			<-req.Context().Done()
			return errOwn
		}
		start := time.Now()
		resp, err := twDo(t, twScript(twStep{status: 200}), p, twRequest("GET", ""))
		r := twReport(t, resp, err)
		assert.Equal(t, roundtripper.ReasonDeadline, r.Stop)
		assert.ErrorIs(t, err, errOwn)
		assert.Equal(t, time.Second, time.Since(start))
	})
}
