package roundtripper_test

// This file tests idempotency keys: where they come from, that every attempt
// carries the same, and the 409 of an earlier attempt that is still at work.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// One key per intent: the same on all attempts, never replaced, never shared
// (gocardless-pro-python#12: a new key for each attempt doubled payments).
func TestKeyOnEveryAttempt(t *testing.T) {
	for _, tc := range []struct {
		name, header, ctx string
		want              string // empty: no key
	}{
		{"from the request", "mine", "", "mine"},
		{"from the context", "", "from-ctx", "from-ctx"},
		{"the request's wins", "mine", "from-ctx", "mine"},
		{"none", "", "", ""},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(twStep{status: 503})
			ctx := t.Context()
			if tc.ctx != "" {
				ctx = roundtripper.WithKey(ctx, tc.ctx)
			}
			req := twRequest("POST", "pay").WithContext(ctx)
			if tc.header != "" {
				req.Header.Set("Idempotency-Key", tc.header)
			}
			before := req.Header.Clone()
			resp, err := twDo(t, base, twAtOnce(), req)
			if tc.want == "" {
				base.wantAttempts(t, 1)
			} else {
				base.wantAttempts(t, 4)
			}
			for i, h := range base.headers {
				if got := h.Values("Idempotency-Key"); tc.want == "" && got != nil || tc.want != "" && (len(got) != 1 || got[0] != tc.want) {
					t.Errorf("attempt %d has key %q, want %q", i+1, got, tc.want)
				}
				if i < len(base.sent) && base.sent[i] != "pay" {
					t.Errorf("attempt %d has body %q", i+1, base.sent[i])
				}
			}
			if got := twReport(t, resp, err).Key; got != tc.want {
				t.Errorf("the report has key %q", got)
			}
			if fmt.Sprint(before) != fmt.Sprint(req.Header) {
				t.Errorf("the caller's headers became %v", req.Header)
			}
		})
	}
}

// An empty key is no key, whichever way it came.
func TestEmptyKeyIsNone(t *testing.T) {
	twRun(t, "header", func(t *testing.T) {
		base := twScript(twStep{status: 503})
		req := twRequest("POST", "")
		req.Header.Set("Idempotency-Key", "")
		twDo(t, base, twAtOnce(), req)
		base.wantAttempts(t, 1)
	})
	twRun(t, "context", func(t *testing.T) {
		base := twScript(twStep{status: 503})
		ctx := roundtripper.WithKey(roundtripper.WithKey(t.Context(), "outer"), "")
		twDo(t, base, twAtOnce(), twRequest("POST", "").WithContext(ctx))
		base.wantAttempts(t, 1)
	})
	twRun(t, "empty header and a key in the context", func(t *testing.T) {
		base := twScript(twStep{status: 503})
		req := twRequest("POST", "").WithContext(roundtripper.WithKey(t.Context(), "k"))
		req.Header.Set("Idempotency-Key", "")
		twDo(t, base, twAtOnce(), req)
		base.wantAttempts(t, 4)
		if got := base.headers[3].Values("Idempotency-Key"); len(got) != 1 || got[0] != "k" {
			t.Errorf("key %q", got)
		}
	})
}

// The header is the policy's: another name, spelled in any way; no name, no
// meaning.
func TestKeyHeader(t *testing.T) {
	for _, tc := range []struct {
		policy, set string
		want        int
	}{
		{"X-Once", "X-Once", 4},
		{"x-oNCE", "X-Once", 4},
		{"X-Once", "Idempotency-Key", 1},
		{"", "Idempotency-Key", 1},
	} {
		twRun(t, tc.policy+" "+tc.set, func(t *testing.T) {
			p := twAtOnce()
			p.KeyHeader = tc.policy
			base := twScript(twStep{status: 503})
			req := twRequest("POST", "")
			req.Header.Set(tc.set, "k")
			twDo(t, base, p, req)
			base.wantAttempts(t, tc.want)
		})
	}
	twRun(t, "WithKey without a KeyHeader", func(t *testing.T) {
		p := twAtOnce()
		p.KeyHeader = ""
		base := twScript(twStep{status: 503})
		twDo(t, base, p, twRequest("POST", "").WithContext(roundtripper.WithKey(t.Context(), "k")))
		base.wantAttempts(t, 1)
		if len(base.headers[0]) != 0 {
			t.Errorf("headers %v", base.headers[0])
		}
	})
}

// A key that would not arrive as it is fails the call before anything is sent.
func TestInvalidKey(t *testing.T) {
	for name, key := range map[string]string{
		"control": "a\nb", "not ASCII": "schlüssel", "space at the end": "a ", "too long": strings.Repeat("k", 256),
	} {
		for _, way := range []string{"header", "context"} {
			twRun(t, name+" in the "+way, func(t *testing.T) {
				base := twScript(twStep{status: 200})
				body := &twClosed{Reader: strings.NewReader("pay")}
				req := twRequest("POST", "")
				req.Body = body
				if way == "header" {
					req.Header["Idempotency-Key"] = []string{key}
				} else {
					req = req.WithContext(roundtripper.WithKey(t.Context(), key))
				}
				_, err := twDo(t, base, twAtOnce(), req)
				base.wantAttempts(t, 0)
				invalid, ok := errors.AsType[*roundtripper.InvalidError](err)
				if !ok || !strings.Contains(invalid.Field, "key") || invalid.Problem == "" || twReport(t, nil, err).Stop != roundtripper.ReasonInvalid {
					t.Errorf("%v", err)
				}
				if body.n != 1 {
					t.Errorf("body closed %d times", body.n)
				}
			})
		}
	}
}

// A key is unguessable: 128 random bits at least, fit for a URL and a header.
func TestNewKey(t *testing.T) {
	shape := regexp.MustCompile(`^[A-Za-z0-9_~.-]+$`)
	seen := make(map[string]bool)
	letters := make([]map[byte]bool, 0)
	for range 2000 {
		key := roundtripper.NewKey()
		if !shape.MatchString(key) || seen[key] {
			t.Fatalf("key %q, seen before: %v", key, seen[key])
		}
		seen[key] = true
		for i := range len(key) {
			if i == len(letters) {
				letters = append(letters, make(map[byte]bool))
			}
			letters[i][key[i]] = true
		}
	}
	// As many bits as the places that vary can hold; 2000 draws show all of 32
	// letters (a letter is missed with probability 3e-28).
	bits := 0
	for _, l := range letters {
		for n := len(l); n > 1; n /= 2 {
			bits++
		}
	}
	if bits < 128 {
		t.Errorf("%d bits", bits)
	}
}

// A 409 may heal if an earlier attempt with this key was sent and never
// answered: it may still be at work. Any other 409 is about the data.
func TestConflict(t *testing.T) {
	lost := twStep{err: io.EOF}
	conflict := twStep{status: 409, body: "in progress"}
	done := twStep{status: 201}
	for _, tc := range []struct {
		name   string
		method string
		key    string
		script []twStep
		want   int
		status int
		stop   roundtripper.Reason
	}{
		{"after a lost answer", "POST", "k", []twStep{lost, conflict, done}, 3, 201, roundtripper.ReasonOK},
		{"after an attempt timeout", "POST", "k", []twStep{{hang: true}, conflict, done}, 3, 201, roundtripper.ReasonOK},
		{"twice", "POST", "k", []twStep{lost, conflict, conflict, done}, 4, 201, roundtripper.ReasonOK},
		{"for ever", "POST", "k", []twStep{lost, conflict}, 4, 409, roundtripper.ReasonRetriesSpent},
		{"after a lost answer and a 503", "POST", "k", []twStep{lost, {status: 503}, conflict, done}, 4, 201, roundtripper.ReasonOK},
		{"PUT with a key", "PUT", "k", []twStep{lost, conflict, done}, 3, 201, roundtripper.ReasonOK},
		{"at first", "POST", "k", []twStep{conflict, done}, 1, 409, roundtripper.ReasonStatus},
		{"after an answer", "POST", "k", []twStep{{status: 503}, conflict, done}, 2, 409, roundtripper.ReasonStatus},
		{"after a dial that failed", "POST", "k", []twStep{{unread: true, err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, conflict, done}, 2, 409, roundtripper.ReasonStatus},
		{"without a key", "PUT", "", []twStep{lost, conflict, done}, 2, 409, roundtripper.ReasonStatus},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(tc.script...)
			req := twRequest(tc.method, "pay")
			if tc.key != "" {
				req.Header.Set("Idempotency-Key", tc.key)
			}
			resp, err := twDo(t, base, twAtOnce(), req)
			if err != nil {
				t.Fatal(err)
			}
			base.wantAttempts(t, tc.want)
			r := twReport(t, resp, err)
			if resp.StatusCode != tc.status || r.Stop != tc.stop {
				t.Errorf("%d, stop %q, want %d, %q", resp.StatusCode, r.Stop, tc.status, tc.stop)
			}
			for _, a := range r.Attempts {
				if a.StatusCode == 409 && a.Verdict.Retry != (a.Verdict.Reason == roundtripper.ReasonConflict) {
					t.Errorf("attempt %d: %+v", a.Number, a.Verdict)
				}
			}
		})
	}
}

// A conflict whose body says that it will not heal is final.
func TestConflictEnvelope(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{err: io.EOF}, twStep{status: 409, header: twJSON, body: `{"error": {"retryable": false}}`})
		p := twAtOnce()
		p.Envelope = true
		req := twRequest("POST", "pay")
		req.Header.Set("Idempotency-Key", "k")
		resp, err := twDo(t, base, p, req)
		if err != nil {
			t.Fatal(err)
		}
		base.wantAttempts(t, 2)
		if r := twReport(t, resp, err); r.Stop != roundtripper.ReasonEnvelope {
			t.Errorf("stop %q", r.Stop)
		}
	})
}

// The 409 is worth a retry "after a short wait": it waits as any failure does,
// and honours a Retry-After.
func TestConflictWaits(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		p := roundtripper.Standard()
		p.Backoff = twBackoff(100*twTick, 200*twTick)
		base := twScript(twStep{err: io.EOF}, twStep{status: 409, header: []string{"Retry-After", "1"}}, twStep{status: 201})
		twDo(t, base, p, twRequest("POST", "pay").WithContext(roundtripper.WithKey(context.Background(), "k")))
		base.wantStarts(t, 0, 100*twTick, 1300*twTick)
	})
}

// What an SDK does with the request on the way is its business: the key of the
// context still reaches the wire, through any wrapper and over http.Client.
func TestKeyThroughClient(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{err: io.EOF}, twStep{status: 201})
		client := http.Client{Transport: roundtripper.New(base, twAtOnce()), Timeout: time.Minute}
		ctx := roundtripper.WithKey(t.Context(), "k")
		req, _ := http.NewRequestWithContext(ctx, "POST", "http://example.com/pay", strings.NewReader("pay"))
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if base.wantAttempts(t, 2); base.headers[1].Get("Idempotency-Key") != "k" || base.sent[1] != "pay" {
			t.Errorf("%v %q", base.headers, base.sent)
		}
	})
}
