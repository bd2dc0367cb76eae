package roundtripper_test

import (
	"net/http"
	"strings"
	"testing"

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
