package roundtripper_test

// This file tests the report of a call: what it says of each attempt and of the
// end, and that it is found behind whatever stands in front of the response.

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

func TestReportOfEachAttempt(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		start := time.Now()
		refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		p := roundtripper.Headless()
		p.MaxRetries, p.AttemptTimeout = 5, 2*time.Second
		base := twScript(
			twStep{after: time.Second, status: 503},
			twStep{err: refused, after: 10 * twTick},
			twStep{err: io.EOF, after: 20 * twTick},
			twStep{hang: true},
			twStep{status: 200, header: twJSON, body: "[1", pace: 30 * twTick, cut: io.ErrUnexpectedEOF},
			twStep{after: 5 * twTick, status: 200, header: twJSON, body: "[]"},
		)
		resp, err := twDo(t, base, p, twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		r := twReport(t, resp, err)
		network := roundtripper.Verdict{Retry: true, Reason: roundtripper.ReasonNetwork}
		want := []roundtripper.Attempt{
			{StatusCode: 503, Elapsed: time.Second, Sent: true, Verdict: roundtripper.Verdict{Retry: true, Reason: roundtripper.ReasonStatus}, Wait: 100 * twTick},
			{Err: refused, Elapsed: 10 * twTick, Verdict: network, Wait: 200 * twTick},
			{Err: io.EOF, Elapsed: 20 * twTick, Sent: true, Verdict: network, Wait: 400 * twTick},
			{Err: r.Attempts[3].Err, Elapsed: 2 * time.Second, Sent: true, Verdict: roundtripper.Verdict{Retry: true, Reason: roundtripper.ReasonAttemptTimeout}, Wait: 800 * twTick},
			{StatusCode: 200, Err: io.ErrUnexpectedEOF, Elapsed: 90 * twTick, Sent: true, Verdict: network, Wait: 1600 * twTick},
			{StatusCode: 200, Elapsed: 5 * twTick, Sent: true, Verdict: roundtripper.Verdict{Reason: roundtripper.ReasonOK}},
		}
		if len(r.Attempts) != len(want) {
			t.Fatalf("%d attempts, want %d", len(r.Attempts), len(want))
		}
		at := start
		for i, w := range want {
			w.Number, w.Charged, w.Start = i+1, true, at
			if got := r.Attempts[i]; got != w {
				t.Errorf("attempt %d is\n\t%+v, want\n\t%+v", i+1, got, w)
			}
			at = at.Add(w.Elapsed + w.Wait)
		}
		if r.Stop != roundtripper.ReasonOK || r.Elapsed != time.Since(start) || r.RequestID == "" || r.Key != "" || r.Fallback {
			t.Errorf("report %+v", r)
		}
	})
}

// A call that succeeds at once has the report that it would have had.
func TestReportOfASuccessAtOnce(t *testing.T) {
	for name, p := range map[string]roundtripper.Policy{"Headless": roundtripper.Headless(), "Standard": roundtripper.Standard(), "MaxRetries": {MaxRetries: 1}} {
		twRun(t, name, func(t *testing.T) {
			start := time.Now()
			base := twScript(twStep{after: time.Second, status: 202, header: []string{"Retry-After", "3"}, body: "later"})
			resp, err := twDo(t, base, p, twRequest("GET", ""))
			time.Sleep(time.Hour) // the report is of the call, whenever one asks
			r := twReport(t, resp, err)
			want := roundtripper.Attempt{Number: 1, StatusCode: 202, Start: start, Elapsed: time.Second, Sent: true, Charged: true,
				Verdict: roundtripper.Verdict{Reason: roundtripper.ReasonOK}}
			if len(r.Attempts) != 1 || r.Attempts[0] != want || r.Stop != roundtripper.ReasonOK || r.Elapsed != time.Second {
				t.Errorf("report %+v", r)
			}
			if d, ok := r.RetryAfter(); d != 3*time.Second || !ok {
				t.Errorf("RetryAfter %v %v", d, ok)
			}
			if at, ok := r.RetryAt(); !ok || !at.Equal(start.Add(4*time.Second)) {
				t.Errorf("RetryAt %v %v", at.Sub(start), ok)
			}
		})
	}
}

// The zero Policy gives a report too, of success and of failure.
func TestReportUnderTheZeroPolicy(t *testing.T) {
	for status, stop := range map[int]roundtripper.Reason{200: roundtripper.ReasonOK, 302: roundtripper.ReasonOK, 404: roundtripper.ReasonStatus, 503: roundtripper.ReasonStatus} {
		for _, body := range []string{"", "x"} {
			twRun(t, fmt.Sprint(status, body), func(t *testing.T) {
				base := twScript(twStep{status: status, header: []string{"Retry-After", "9"}})
				resp, err := twDo(t, base, roundtripper.Policy{}, twRequest("POST", body))
				r := twReport(t, resp, err)
				if len(r.Attempts) != 1 || r.Stop != stop || r.Attempts[0].Number != 1 || r.Attempts[0].StatusCode != status ||
					!r.Attempts[0].Sent || !r.Attempts[0].Charged || r.Attempts[0].Verdict != (roundtripper.Verdict{Reason: stop}) {
					t.Errorf("report %+v", r)
				}
				if d, ok := r.RetryAfter(); d != 9*time.Second || !ok {
					t.Errorf("RetryAfter %v %v", d, ok)
				}
			})
		}
	}
	twRun(t, "error", func(t *testing.T) {
		_, err := twDo(t, twScript(twStep{after: time.Second, err: io.EOF}), roundtripper.Policy{}, twRequest("GET", ""))
		if r := twReport(t, nil, err); len(r.Attempts) != 1 || r.Attempts[0].Err != io.EOF {
			t.Errorf("report %+v", r)
		}
	})
}

// The report is found behind http.Client, behind a body that somebody wrapped,
// after the body is closed, and by many goroutines at once. Under the zero
// Policy alone, which marks nothing but the body, a wrapper hides it.
func TestReportIsFound(t *testing.T) {
	for name, tc := range map[string]struct {
		policy  roundtripper.Policy
		timeout time.Duration // with one the client wraps the body, too
		wrap    bool
	}{
		"Headless": {roundtripper.Headless(), time.Minute, true},
		"Standard": {roundtripper.Standard(), 0, true},
		"zero":     {roundtripper.Policy{}, 0, false},
	} {
		twRun(t, name, func(t *testing.T) {
			base := twScript(twStep{status: 200, body: "b"})
			client := http.Client{Transport: roundtripper.New(base, tc.policy), Timeout: tc.timeout}
			resp, err := client.Do(twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			found := func(when string) {
				t.Helper()
				if r, ok := roundtripper.ReportFrom(resp); !ok || len(r.Attempts) != 1 || r.Attempts[0].StatusCode != 200 || r.Stop != roundtripper.ReasonOK {
					t.Errorf("%s: %+v %v", when, r, ok)
				}
			}
			found("at once")
			if tc.wrap {
				resp.Body = struct {
					io.Reader
					io.Closer
				}{bufio.NewReader(resp.Body), resp.Body}
				found("behind a wrapper")
			}
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { found("at once by many") })
			}
			wg.Wait()
			resp.Body.Close()
			found("after Close")
		})
	}
}
