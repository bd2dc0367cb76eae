package roundtripper_test

// This file tests what comes back: exactly one of a response and an *Error, and
// what errors.Is finds in it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
)

// errors.Is finds everything that applies: the context's error, its cause, and
// what went wrong last.
func TestErrorHoldsAllCauses(t *testing.T) {
	cause, broken := errors.New("the user went away"), errors.New("the network broke")
	waits := roundtripper.Headless()
	for _, tc := range []struct {
		name    string
		cancel  time.Duration // -1: before the call
		timeout bool          // a deadline instead, that nobody can foresee
		step    twStep
		stop    roundtripper.Reason
		is      []error
		isNot   error
		sent    int
	}{
		{"canceled before", -1, false, twStep{status: 200}, roundtripper.ReasonCanceled, []error{context.Canceled, cause}, context.DeadlineExceeded, 0},
		{"canceled in an attempt", 50 * twTick, false, twStep{hang: true}, roundtripper.ReasonCanceled, []error{context.Canceled, cause}, context.DeadlineExceeded, 1},
		{"canceled in the first wait", 50 * twTick, false, twStep{err: broken}, roundtripper.ReasonCanceled, []error{context.Canceled, cause, broken}, context.DeadlineExceeded, 1},
		{"canceled in the second wait", 150 * twTick, false, twStep{err: broken}, roundtripper.ReasonCanceled, []error{context.Canceled, cause, broken}, context.DeadlineExceeded, 2},
		{"canceled in a wait after a response", 50 * twTick, false, twStep{status: 503}, roundtripper.ReasonCanceled, []error{context.Canceled, cause}, context.DeadlineExceeded, 1},
		{"late before", -1, true, twStep{status: 200}, roundtripper.ReasonDeadline, []error{context.DeadlineExceeded, cause}, context.Canceled, 0},
		{"late in an attempt", 50 * twTick, true, twStep{hang: true}, roundtripper.ReasonDeadline, []error{context.DeadlineExceeded, cause}, context.Canceled, 1},
		{"late in a wait", 50 * twTick, true, twStep{err: broken}, roundtripper.ReasonDeadline, []error{context.DeadlineExceeded, cause, broken}, context.Canceled, 1},
		{"the network", time.Hour, false, twStep{err: broken}, roundtripper.ReasonRetriesSpent, []error{broken}, context.Canceled, 3},
		{"attempt timeouts", time.Hour, false, twStep{hang: true}, roundtripper.ReasonRetriesSpent, []error{context.DeadlineExceeded}, context.Canceled, 3},
	} {
		for _, client := range []bool{false, true} {
			twRun(t, fmt.Sprintf("%s/client=%v", tc.name, client), func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if tc.timeout {
					var stop func()
					ctx, stop = context.WithTimeoutCause(t.Context(), max(tc.cancel, 0), cause)
					defer stop()
					ctx = twHidden{ctx}
				} else if tc.cancel < 0 {
					cancel(cause)
				} else {
					defer time.AfterFunc(tc.cancel, func() { cancel(cause) }).Stop()
				}
				base := twScript(tc.step)
				req := twRequest("GET", "").WithContext(ctx)
				var err error
				if client {
					_, err = (&http.Client{Transport: roundtripper.New(base, waits)}).Do(req)
				} else {
					_, err = twDo(t, base, waits, req)
				}
				e, ok := errors.AsType[*roundtripper.Error](err)
				if !ok {
					t.Fatalf("%v is no *Error", err)
				}
				base.wantAttempts(t, tc.sent)
				if e.Reason != tc.stop || e.Report.Stop != tc.stop || len(e.Report.Attempts) != tc.sent {
					t.Errorf("stop %q, report %+v", e.Reason, e.Report)
				}
				for _, want := range tc.is {
					if !errors.Is(err, want) {
						t.Errorf("%v is not %v", err, want)
					}
				}
				if errors.Is(err, tc.isNot) {
					t.Errorf("%v is %v too", err, tc.isNot)
				}
				if want := errors.Is(err, context.DeadlineExceeded); e.Timeout() != want || twIsTimeout(err) != want {
					t.Errorf("%v: Timeout() is not %v", err, want)
				}
				if e.Unwrap() != e.Err || !strings.HasPrefix(err.Error(), "roundtripper: ") && !client {
					t.Errorf("%q", err)
				}
			})
		}
	}
}

// The text says what one reads first: why, and after how many attempts.
func TestErrorText(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		_, err := twDo(t, twScript(twStep{err: io.EOF}), roundtripper.Headless(), twRequest("GET", ""))
		for _, want := range []string{"retries-spent", "3 attempts", "EOF"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q says nothing of %q", err, want)
			}
		}
	})
}

// CheckStatus makes an error of everything but 200 to 299.
func TestCheckStatus(t *testing.T) {
	for status, fails := range map[int]bool{200: false, 201: false, 204: false, 299: false, 199: true, 300: true, 304: true, 404: true, 503: true} {
		twRun(t, fmt.Sprint(status), func(t *testing.T) {
			base := twScript(twStep{status: status, body: "the body"})
			resp, err := twDo(t, base, roundtripper.Policy{MaxRetries: 1}, twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			err = roundtripper.CheckStatus(resp)
			if (err != nil) != fails {
				t.Fatal(err)
			}
			if err == nil {
				if got := twRead(t, resp); got != "the body" {
					t.Errorf("body %q", got)
				}
				return
			}
			e, ok := errors.AsType[*roundtripper.StatusError](err)
			if !ok || e.StatusCode != status || string(e.Body) != "the body" || e.Report == nil || len(e.Report.Attempts) != 1 {
				t.Errorf("%+v", e)
			}
			if !strings.Contains(err.Error(), fmt.Sprint(status)) || strings.Contains(err.Error(), "the body") {
				t.Errorf("%q", err)
			}
			base.wantClosed(t)
		})
	}
}

// A body is kept up to 64 KiB and closed; one that breaks off or never ends
// does not hide the status.
func TestCheckStatusOfHardBodies(t *testing.T) {
	const most = 64 << 10
	for _, tc := range []struct {
		name string
		step twStep
		want int
	}{
		{"64 KiB", twStep{status: 404, body: strings.Repeat("x", most)}, most},
		{"one more", twStep{status: 404, body: strings.Repeat("x", most+1)}, most},
		{"breaks off", twStep{status: 404, body: "half", cut: io.ErrUnexpectedEOF}, 4},
		{"stalls", twStep{status: 404, body: "half", stall: true}, 4},
		{"empty", twStep{status: 404}, 0},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(tc.step)
			resp, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			e, ok := errors.AsType[*roundtripper.StatusError](roundtripper.CheckStatus(resp))
			if !ok || e.StatusCode != 404 || len(e.Body) != tc.want {
				t.Errorf("%d, %d bytes, want %d", e.StatusCode, len(e.Body), tc.want)
			}
			base.wantClosed(t)
		})
	}
}

// Retryable says whether another call may succeed: the kind of failure counts,
// not that the retries are spent.
func TestStatusErrorRetryable(t *testing.T) {
	for _, tc := range []struct {
		step twStep
		want bool
	}{
		{twStep{status: 503}, true},
		{twStep{status: 503, header: []string{"Retry-After", "1"}}, true},
		{twStep{status: 503, header: twJSON, body: `{"retryable":false}`}, false},
		{twStep{status: 404}, false},
		{twStep{status: 408}, false},
	} {
		twRun(t, fmt.Sprint(tc.step.status, tc.step.body), func(t *testing.T) {
			resp, _ := twDo(t, twScript(tc.step), roundtripper.Headless(), twRequest("GET", ""))
			e, ok := errors.AsType[*roundtripper.StatusError](roundtripper.CheckStatus(resp))
			if !ok || e.Retryable() != tc.want {
				t.Errorf("%v: Retryable %v, want %v", e, e.Retryable(), tc.want)
			}
		})
	}
}

// A response of some other client is judged all the same, and has no report.
func TestForeignResponse(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "no", http.StatusServiceUnavailable)
	}))
	defer srv.Close()
	resp, err := srv.Client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := roundtripper.ReportFrom(resp); r != nil || ok {
		t.Errorf("report %+v", r)
	}
	e, ok := errors.AsType[*roundtripper.StatusError](roundtripper.CheckStatus(resp))
	if !ok || e.StatusCode != 503 || string(e.Body) != "no\n" || e.Report != nil || e.Retryable() {
		t.Errorf("%+v", e)
	}
	e.RetryAfter() // must not panic
	for _, resp := range []*http.Response{nil, {}, {StatusCode: 200, Body: http.NoBody}, {Request: &http.Request{URL: &url.URL{}}}} {
		if r, ok := roundtripper.ReportFrom(resp); r != nil || ok {
			t.Errorf("report %+v of %v", r, resp)
		}
	}
	if e, ok := errors.AsType[*roundtripper.StatusError](roundtripper.CheckStatus(&http.Response{StatusCode: 500})); !ok || e.StatusCode != 500 {
		t.Errorf("%v of a response without a body", e)
	}
}

// An Error that somebody else made, as a test's own transport does, says what it can.
func TestErrorWithoutReport(t *testing.T) {
	err := &roundtripper.Error{Reason: roundtripper.ReasonPermanent, Err: io.EOF}
	require.EqualError(t, err, "roundtripper: permanent after 0 attempts: EOF")
	_, ok := err.RetryAfter()
	require.False(t, ok)
}

// What is invalid says so once.
func TestErrorOfInvalidPolicy(t *testing.T) {
	rt := roundtripper.New(http.DefaultTransport, roundtripper.Policy{AttemptTimeout: -1})
	req, err := http.NewRequest(http.MethodGet, "http://h.example.com/", nil)
	require.NoError(t, err)
	_, err = rt.RoundTrip(req)
	var invalid *roundtripper.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.EqualError(t, err, invalid.Error())
}
