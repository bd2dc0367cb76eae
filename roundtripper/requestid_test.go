package roundtripper_test

// This file tests the request ID: one per call, checked before it is sent, and
// held against the response's.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

func TestRequestIDOnEveryAttempt(t *testing.T) {
	for _, own := range []string{"", "my-request-7", "a b", strings.Repeat("x", 255), "~", "!"} {
		twRun(t, "own="+own, func(t *testing.T) {
			base := twScript(twStep{status: 503}, twStep{err: io.EOF}, twStep{status: 200})
			req := twRequest("GET", "")
			req.Header.Set("Accept", "*/*")
			if own != "" {
				req.Header.Set("X-Request-Id", own)
			}
			before := fmt.Sprint(req.Header)
			resp, err := twDo(t, base, roundtripper.Headless(), req)
			base.wantAttempts(t, 3)
			id := twReport(t, resp, err).RequestID
			if id == "" || own != "" && id != own {
				t.Errorf("request ID %q, want %q", id, own)
			}
			for i, h := range base.headers {
				if got := h.Values("X-Request-Id"); len(got) != 1 || got[0] != id {
					t.Errorf("attempt %d has %q, want %q", i+1, got, id)
				}
			}
			if fmt.Sprint(req.Header) != before {
				t.Errorf("the caller's headers became %v", req.Header)
			}
		})
	}
}

// One ID is for one call, "not across unrelated jobs": also when a request is
// used again.
func TestRequestIDsDiffer(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{status: 200})
		tr := roundtripper.New(base, roundtripper.Headless())
		req := twRequest("GET", "")
		seen := make(map[string]bool)
		for range 100 {
			resp, err := twCall(t, tr, req)
			seen[twReport(t, resp, err).RequestID] = true
		}
		if len(seen) != 100 {
			t.Errorf("%d different IDs of 100", len(seen))
		}
	})
}

// An ID that is refused fails before transport, with the body closed.
func TestRequestIDIsChecked(t *testing.T) {
	for name, ids := range map[string][]string{
		"empty":           {""},
		"only a space":    {" "},
		"leading space":   {" a"},
		"trailing space":  {"a "},
		"line break":      {"a\r\nX-Admin: 1"},
		"NUL":             {"a\x00"},
		"tab":             {"a\tb"},
		"DEL":             {"a\x7f"},
		"not ASCII":       {"caf\u00e9"},
		"not UTF-8":       {"a\xff"},
		"256 characters":  {strings.Repeat("x", 256)},
		"several of them": {"a", "b"},
	} {
		twRun(t, name, func(t *testing.T) {
			base := twScript(twStep{status: 200})
			body := &twClosed{Reader: strings.NewReader("x")}
			req := twRequest("GET", "")
			req.Body = body
			req.Header["X-Request-Id"] = ids
			resp, err := twDo(t, base, roundtripper.Headless(), req)
			base.wantAttempts(t, 0)
			invalid, ok := errors.AsType[*roundtripper.InvalidError](err)
			if !ok || invalid.Field != "request ID" || invalid.Problem == "" {
				t.Errorf("%v", err)
			}
			if r := twReport(t, resp, err); r.Stop != roundtripper.ReasonInvalid || len(r.Attempts) != 0 {
				t.Errorf("report %+v", r)
			}
			if body.n != 1 {
				t.Errorf("body closed %d times", body.n)
			}
		})
	}
}

// A response that carries another ID is somebody else's: terminal, whatever its
// status and whatever may heal. One without an ID is no mismatch.
func TestRequestIDOfTheResponse(t *testing.T) {
	for _, tc := range []struct {
		name     string
		status   int
		id       string
		attempts int
		mismatch bool
	}{
		{"the same", 200, "mine", 1, false},
		{"none", 200, "", 1, false},
		{"another on 200", 200, "theirs", 1, true},
		{"another on 404", 404, "theirs", 1, true},
		{"another on 503", 503, "theirs", 1, true},
		{"in another case", 200, "MINE", 1, true},
		{"the same on 503", 503, "mine", 3, false},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			step := twStep{status: tc.status, body: "b"}
			if tc.id != "" {
				step.header = []string{"X-Request-ID", tc.id}
			}
			base := twScript(step)
			req := twRequest("GET", "")
			req.Header.Set("X-Request-Id", "mine")
			resp, err := twDo(t, base, roundtripper.Headless(), req)
			base.wantAttempts(t, tc.attempts)
			if (err != nil) != tc.mismatch {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				r := twReport(t, resp, err)
				if r.Stop != roundtripper.ReasonContract || r.Attempts[0].Verdict.Retry || r.Attempts[0].StatusCode != tc.status {
					t.Errorf("%+v", r)
				}
				base.wantClosed(t)
				base.wantNow(t, 0)
			}
		})
	}
	twRun(t, "another, after an attempt that failed", func(t *testing.T) {
		base := twScript(twStep{status: 503}, twStep{status: 200, header: []string{"X-Request-Id", "stale"}})
		if _, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", "")); err == nil {
			t.Error("no error")
		}
		base.wantStarts(t, 0, 100*time.Millisecond)
	})
}

// The name of the header is the policy's.
func TestRequestIDHeader(t *testing.T) {
	for _, name := range []string{"X-Correlation-Id", "x-correlation-id"} {
		twRun(t, name, func(t *testing.T) {
			p := roundtripper.Headless()
			p.RequestIDHeader = name
			base := twScript(twStep{status: 200, header: []string{"X-Correlation-Id", "theirs"}})
			req := twRequest("GET", "")
			req.Header.Set("X-Correlation-Id", "mine")
			if _, err := twDo(t, base, p, req); err == nil {
				t.Error("a mismatch was not seen")
			}
			if got := base.headers[0]; got.Get("X-Correlation-Id") != "mine" || got.Get("X-Request-Id") != "" {
				t.Errorf("headers %v", got)
			}
		})
	}
}

// A request without a header map, as some callers make it, gets an ID too and
// keeps its nil map.
func TestRequestIDWithoutHeaders(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{status: 200})
		req := &http.Request{Method: "GET", URL: twRequest("GET", "").URL}
		resp, err := twDo(t, base, roundtripper.Headless(), req)
		if err != nil {
			t.Fatal(err)
		}
		if id := twReport(t, resp, err).RequestID; id == "" || base.headers[0].Get("X-Request-Id") != id || req.Header != nil {
			t.Errorf("ID %q, sent %v, caller's %v", id, base.headers[0], req.Header)
		}
	})
}
