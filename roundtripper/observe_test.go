package roundtripper_test

// This file tests Observe: what it is told of a call, at each step.

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// twWatch writes each event down as it comes, as one line.
type twWatch struct {
	mu    sync.Mutex
	start time.Time
	lines []string
}

func (w *twWatch) observe(e roundtripper.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := string(e.State)
	if a := e.Attempt; a != nil {
		line += fmt.Sprintf(" %d", a.Number)
		switch {
		case e.State == roundtripper.StateSending:
		case a.Err != nil:
			line += " error"
		case a.StatusCode != 0:
			line += fmt.Sprintf(" %d", a.StatusCode)
		}
		if a.Wait != 0 {
			line += " wait " + a.Wait.String()
		}
	}
	if e.Report.Stop != "" {
		line += " stop " + string(e.Report.Stop)
	}
	w.lines = append(w.lines, fmt.Sprintf("%s at %v", line, time.Since(w.start)))
}

func (w *twWatch) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(w.lines, want) {
		t.Errorf("events\n\t%s\nwant\n\t%s", strings.Join(w.lines, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// Events come in the order in which things happen, and a call ends as done with
// a 2xx or 3xx, as failed otherwise.
func TestObserveOrder(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script []twStep
		want   []string
	}{
		{"success at once", []twStep{{after: time.Second, status: 200}}, []string{
			"sending 1 at 0s", "done 1 200 stop ok at 1s"}},
		{"redirection", []twStep{{status: 304}}, []string{
			"sending 1 at 0s", "done 1 304 stop ok at 0s"}},
		{"404", []twStep{{status: 404}}, []string{
			"sending 1 at 0s", "failed 1 404 stop status at 0s"}},
		{"503, EOF, 200", []twStep{{status: 503}, {err: io.EOF}, {status: 200}}, []string{
			"sending 1 at 0s", "waiting 1 503 wait 100ms at 0s",
			"sending 2 at 100ms", "waiting 2 error wait 200ms at 100ms",
			"sending 3 at 300ms", "done 3 200 stop ok at 300ms"}},
		{"503 for ever", []twStep{{status: 503}}, []string{
			"sending 1 at 0s", "waiting 1 503 wait 100ms at 0s",
			"sending 2 at 100ms", "waiting 2 503 wait 200ms at 100ms",
			"sending 3 at 300ms", "failed 3 503 stop retries-spent at 300ms"}},
		{"EOF and a mismatch", []twStep{{err: io.EOF}, {status: 200, header: []string{"X-Request-Id", "other"}}}, []string{
			"sending 1 at 0s", "waiting 1 error wait 100ms at 0s",
			"sending 2 at 100ms", "failed 2 error stop contract at 100ms"}},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			w := &twWatch{start: time.Now()}
			p := roundtripper.Headless()
			p.Observe = w.observe
			twDo(t, twScript(tc.script...), p, twRequest("GET", ""))
			w.want(t, tc.want...)
		})
	}
	twRun(t, "canceled in a wait", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(40*twTick, cancel)
		w := &twWatch{start: time.Now()}
		p := roundtripper.Headless()
		p.Observe = w.observe
		twDo(t, twScript(twStep{status: 503}), p, twRequest("GET", "").WithContext(ctx))
		w.want(t, "sending 1 at 0s", "waiting 1 503 wait 100ms at 0s", "failed 1 503 wait 100ms stop canceled at 40ms")
	})
	twRun(t, "a wait of nothing is told too", func(t *testing.T) {
		w := &twWatch{start: time.Now()}
		p := twPlain()
		p.Observe = w.observe
		twDo(t, twScript(twStep{status: 503}, twStep{status: 200}), p, twRequest("GET", ""))
		w.want(t, "sending 1 at 0s", "waiting 1 503 at 0s", "sending 2 at 0s", "done 2 200 stop ok at 0s")
	})
}

// While an attempt is judged its request and response are there; once the call
// is over the report keeps neither, and is the one that the caller gets.
func TestObserveSeesTheAttempt(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		var last *roundtripper.Report
		p := roundtripper.Headless()
		p.Observe = func(e roundtripper.Event) {
			last = e.Report
			if e.Attempt == nil || e.Attempt.Request == nil || e.Attempt.Request.URL.Path != "/things" {
				t.Fatalf("%s: no request in %+v", e.State, e.Attempt)
			}
			if n := len(e.Report.Attempts); n != e.Attempt.Number {
				t.Errorf("%s: attempt %d of a report of %d", e.State, e.Attempt.Number, n)
			}
			if e.Report.RequestID == "" || e.Attempt.Request.Header.Get("X-Request-Id") != e.Report.RequestID {
				t.Errorf("%s: request ID %q", e.State, e.Report.RequestID)
			}
			if e.State != roundtripper.StateSending && (e.Attempt.Response == nil || e.Attempt.Response.StatusCode != 503) {
				t.Errorf("%s: response %v", e.State, e.Attempt.Response)
			}
		}
		resp, err := twDo(t, twScript(twStep{status: 503, body: "b"}), p, twRequest("GET", ""))
		r := twReport(t, resp, err)
		if r != last {
			t.Errorf("the caller's report is another than the observer's")
		}
		for _, a := range r.Attempts {
			if a.Request != nil || a.Response != nil {
				t.Errorf("attempt %d keeps its request or response", a.Number)
			}
		}
		if got := twRead(t, resp); got != "b" {
			t.Errorf("body %q", got)
		}
	})
}

// Nothing of a call that is refused, or whose context is over, is told as sent;
// the end is told all the same.
func TestObserveWithoutAnAttempt(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*roundtripper.Policy, *http.Request) *http.Request
		stop   roundtripper.Reason
	}{
		{"context over", func(_ *roundtripper.Policy, r *http.Request) *http.Request {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return r.WithContext(ctx)
		}, roundtripper.ReasonCanceled},
		{"invalid policy", func(p *roundtripper.Policy, r *http.Request) *http.Request {
			p.MaxDelay = -1
			return r
		}, roundtripper.ReasonInvalid},
		{"invalid request ID", func(_ *roundtripper.Policy, r *http.Request) *http.Request {
			r.Header.Set("X-Request-Id", " ")
			return r
		}, roundtripper.ReasonInvalid},
		{"no URL", func(_ *roundtripper.Policy, r *http.Request) *http.Request {
			r.URL = nil
			return r
		}, roundtripper.ReasonInvalid},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			var events []roundtripper.Event
			p := roundtripper.Headless()
			p.Observe = func(e roundtripper.Event) { events = append(events, e) }
			req := tc.change(&p, twRequest("GET", ""))
			twDo(t, twScript(twStep{status: 200}), p, req)
			if len(events) != 1 || events[0].State != roundtripper.StateFailed || events[0].Attempt != nil || events[0].Report.Stop != tc.stop {
				t.Errorf("events %+v", events)
			}
		})
	}
}
