package roundtripper_test

// This file tests calls inside calls, what a context can say about a call, and
// how an attempt knows its number: retries belong in one layer.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// Two layers of three attempts make three requests, not nine (nanobot#2760,
// openai-go#829: 45), however the failure looks.
func TestNestedLayersDoNotMultiply(t *testing.T) {
	for name, step := range map[string]twStep{
		"503": {status: 503}, "EOF": {err: io.EOF}, "timeout": {hang: true}, "cut JSON": {status: 200, header: twJSON, body: "[", cut: io.ErrUnexpectedEOF},
	} {
		for layers := 2; layers <= 3; layers++ {
			twRun(t, name, func(t *testing.T) {
				base := twScript(step)
				var rt http.RoundTripper = base
				for range layers {
					rt = roundtripper.New(rt, roundtripper.Headless())
				}
				resp, err := twCall(t, rt.(*roundtripper.Transport), twRequest("GET", ""))
				base.wantAttempts(t, 3)
				r := twReport(t, resp, err)
				if len(r.Attempts) != 3 || r.Stop != roundtripper.ReasonRetriesSpent {
					t.Errorf("the outer report: %d attempts, stop %q", len(r.Attempts), r.Stop)
				}
			})
		}
	}
}

// Also with something in between that makes requests of its own, as an OAuth
// transport does, and through http.Client.
func TestNestedBehindAWrapper(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{status: 503})
		inner := http.Client{Transport: roundtripper.New(base, roundtripper.Headless())}
		between := twFunc(func(req *http.Request) (*http.Response, error) {
			own, err := http.NewRequestWithContext(req.Context(), "GET", "http://token.example.com/", nil)
			if err != nil {
				return nil, err
			}
			return inner.Do(own)
		})
		resp, err := twDo(t, between, roundtripper.Headless(), twRequest("GET", ""))
		base.wantAttempts(t, 3)
		if r := twReport(t, resp, err); len(r.Attempts) != 3 {
			t.Errorf("the outer report: %d attempts", len(r.Attempts))
		}
	})
}

// The inner call says why it made one attempt only, and its success is a
// success.
func TestNestedInnerReport(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		var stops []roundtripper.Reason
		base := twScript(twStep{status: 503}, twStep{err: io.EOF}, twStep{status: 200})
		inner := roundtripper.New(base, roundtripper.Headless())
		watch := twFunc(func(req *http.Request) (*http.Response, error) {
			resp, err := inner.RoundTrip(req)
			stops = append(stops, twReport(t, resp, err).Stop)
			return resp, err
		})
		resp, err := twDo(t, watch, roundtripper.Headless(), twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		want := []roundtripper.Reason{roundtripper.ReasonNested, roundtripper.ReasonNested, roundtripper.ReasonOK}
		if !slices.Equal(stops, want) {
			t.Errorf("inner stops %q, want %q", stops, want)
		}
		if r := twReport(t, resp, err); len(r.Attempts) != 3 || r.Stop != roundtripper.ReasonOK {
			t.Errorf("outer report %+v", r)
		}
	})
}

// An inner failure that is final is final outside; what an inner layer found
// out about a write that never left is not lost.
func TestNestedVerdicts(t *testing.T) {
	for _, tc := range []struct {
		name string
		step twStep
		want int
	}{
		{"inner contract failure", twStep{status: 200, header: twJSON, body: "{"}, 1},
		{"inner permanent error", twStep{err: http.ErrSchemeMismatch}, 1},
		{"inner final status", twStep{status: 404}, 1},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(tc.step)
			twDo(t, roundtripper.New(base, roundtripper.Headless()), roundtripper.Headless(), twRequest("GET", ""))
			base.wantAttempts(t, tc.want)
		})
	}
}

// A Transport that adds nothing behaves as its base does: the one inside
// retries, and its report is lost on nobody.
func TestZeroPolicyOutside(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{status: 503}, twStep{status: 503}, twStep{status: 200})
		inner := roundtripper.New(base, roundtripper.Headless())
		resp, err := twDo(t, inner, roundtripper.Policy{}, twRequest("GET", ""))
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("%v, %v", resp, err)
		}
		base.wantStarts(t, 0, 100*twTick, 300*twTick)
	})
}

// A redirect is a request of its own, outside of the call that was redirected.
func TestRedirectIsNotNested(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		base := twScript(twStep{status: 503}, twStep{status: 302, header: []string{"Location", "/b"}},
			twStep{status: 503}, twStep{status: 503}, twStep{status: 200, body: "b"})
		client := http.Client{Transport: roundtripper.New(base, roundtripper.Headless())}
		resp, err := client.Do(twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		base.wantStarts(t, 0, 100*twTick, 100*twTick, 200*twTick, 400*twTick)
		if got := twRead(t, resp); got != "b" || resp.Request.URL.Path != "/b" {
			t.Errorf("%q of %v", got, resp.Request.URL)
		}
		if r := twReport(t, resp, err); len(r.Attempts) != 3 {
			t.Errorf("report of %d attempts, want the last hop's", len(r.Attempts))
		}
	})
}

// WithoutRetry is one attempt, in every layer; all else of the policy holds.
func TestWithoutRetry(t *testing.T) {
	for layers := 1; layers <= 2; layers++ {
		twRun(t, "", func(t *testing.T) {
			base := twScript(twStep{hang: true})
			var rt http.RoundTripper = base
			for range layers {
				rt = roundtripper.New(rt, roundtripper.Headless())
			}
			req := twRequest("GET", "").WithContext(roundtripper.WithoutRetry(t.Context()))
			_, err := twCall(t, rt.(*roundtripper.Transport), req)
			base.wantAttempts(t, 1)
			base.wantNow(t, 8*time.Second)
			if !twIsTimeout(err) {
				t.Errorf("%v is no timeout", err)
			}
			if id := base.headers[0].Get("X-Request-Id"); id == "" {
				t.Error("no request ID")
			}
		})
	}
	twRun(t, "a zero policy outside", func(t *testing.T) {
		base := twScript(twStep{status: 503})
		inner := roundtripper.New(base, roundtripper.Headless())
		twDo(t, inner, roundtripper.Policy{}, twRequest("GET", "").WithContext(roundtripper.WithoutRetry(t.Context())))
		base.wantAttempts(t, 1)
	})
	twRun(t, "together with a policy and a key", func(t *testing.T) {
		ctx := roundtripper.WithKey(t.Context(), "k")
		ctx = roundtripper.WithoutRetry(ctx)
		ctx = roundtripper.WithPolicy(ctx, twAtOnce())
		base := twScript(twStep{status: 503})
		resp, err := twDo(t, base, roundtripper.Policy{}, twRequest("POST", "").WithContext(ctx))
		base.wantAttempts(t, 1)
		if base.headers[0].Get("Idempotency-Key") != "k" || twReport(t, resp, err).Key != "k" {
			t.Errorf("headers %v", base.headers[0])
		}
	})
}

// WithPolicy replaces the Transport's policy whole, for calls under the context
// and for no other; the innermost one set counts.
func TestWithPolicy(t *testing.T) {
	one := roundtripper.Policy{MaxRetries: 1, Statuses: []int{404}, Methods: []string{"POST"}}
	for _, tc := range []struct {
		name   string
		own    roundtripper.Policy
		ctx    func(context.Context) context.Context
		status int
		want   int
	}{
		{"over Headless", roundtripper.Headless(), func(ctx context.Context) context.Context {
			return roundtripper.WithPolicy(ctx, one)
		}, 404, 2},
		{"over the zero Policy", roundtripper.Policy{}, func(ctx context.Context) context.Context {
			return roundtripper.WithPolicy(ctx, one)
		}, 404, 2},
		{"whole: what the own policy retries is not", roundtripper.Headless(), func(ctx context.Context) context.Context {
			return roundtripper.WithPolicy(ctx, one)
		}, 503, 1},
		{"the zero Policy over another", roundtripper.Headless(), func(ctx context.Context) context.Context {
			return roundtripper.WithPolicy(ctx, roundtripper.Policy{})
		}, 503, 1},
		{"the last one set", roundtripper.Policy{}, func(ctx context.Context) context.Context {
			return roundtripper.WithPolicy(roundtripper.WithPolicy(ctx, roundtripper.Policy{}), one)
		}, 404, 2},
		{"over an invalid policy", roundtripper.Policy{MaxRetries: -1}, func(ctx context.Context) context.Context {
			return roundtripper.WithPolicy(ctx, one)
		}, 404, 2},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(twStep{status: tc.status})
			tr := roundtripper.New(base, tc.own)
			if _, err := twCall(t, tr, twRequest("POST", "x").WithContext(tc.ctx(t.Context()))); err != nil {
				t.Fatal(err)
			}
			base.wantAttempts(t, tc.want)
		})
	}
	twRun(t, "an invalid one fails the call", func(t *testing.T) {
		base := twScript(twStep{status: 200})
		tr := roundtripper.New(base, roundtripper.Headless())
		ctx := roundtripper.WithPolicy(t.Context(), roundtripper.Policy{MaxDelay: -1})
		_, err := twCall(t, tr, twRequest("GET", "").WithContext(ctx))
		base.wantAttempts(t, 0)
		if e, ok := errors.AsType[*roundtripper.InvalidError](err); !ok || e.Field != "MaxDelay" {
			t.Errorf("%v", err)
		}
		if _, err := twCall(t, tr, twRequest("GET", "")); err != nil {
			t.Errorf("a call without it: %v", err)
		}
	})
	twRun(t, "it is copied", func(t *testing.T) {
		p := one
		p.Statuses = []int{404}
		ctx := roundtripper.WithPolicy(t.Context(), p)
		p.Statuses[0] = 418
		base := twScript(twStep{status: 404})
		twDo(t, base, roundtripper.Policy{}, twRequest("POST", "").WithContext(ctx))
		base.wantAttempts(t, 2)
	})
}

// AttemptNumber tells code below which attempt it is part of, AttemptHeader
// tells the server.
func TestAttemptNumber(t *testing.T) {
	if n, ok := roundtripper.AttemptNumber(context.Background()); n != 0 || ok {
		t.Errorf("outside of a call: %d %v", n, ok)
	}
	twRun(t, "", func(t *testing.T) {
		var numbers []int
		base := twScript(twStep{status: 503})
		watch := twFunc(func(req *http.Request) (*http.Response, error) {
			// What a library derives from the context knows it as well.
			ctx, cancel := context.WithTimeout(req.Context(), time.Minute)
			defer cancel()
			n, ok := roundtripper.AttemptNumber(ctx)
			if !ok {
				t.Error("no number")
			}
			numbers = append(numbers, n)
			return base.RoundTrip(req)
		})
		p := twAtOnce()
		p.AttemptHeader = "x-attempt"
		p.Prepare = func(req *http.Request, attempt int) error {
			if n, ok := roundtripper.AttemptNumber(req.Context()); n != attempt || !ok {
				t.Errorf("in Prepare: %d %v, want %d", n, ok, attempt)
			}
			return nil
		}
		req := twRequest("GET", "")
		req.Header.Set("X-Attempt", "7") // the caller's own says nothing
		twDo(t, watch, p, req)
		if !slices.Equal(numbers, []int{1, 2, 3, 4}) {
			t.Errorf("numbers %v", numbers)
		}
		var sent []string
		for _, h := range base.headers {
			sent = append(sent, strings.Join(h.Values("X-Attempt"), "+"))
		}
		if want := []string{"1", "2", "3", "4"}; !slices.Equal(sent, want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
		if req.Header.Get("X-Attempt") != "7" {
			t.Error("the caller's header changed")
		}
	})
	twRun(t, "the outer one's, where two count", func(t *testing.T) {
		base := twScript(twStep{status: 503})
		p := twAtOnce()
		p.AttemptHeader = "X-Attempt"
		twDo(t, roundtripper.New(base, p), p, twRequest("GET", ""))
		var sent []string
		for _, h := range base.headers {
			sent = append(sent, strings.Join(h.Values("X-Attempt"), "+"))
		}
		if want := []string{"1", "2", "3", "4"}; !slices.Equal(sent, want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
	})
	twRun(t, "none by default", func(t *testing.T) {
		base := twScript(twStep{status: 503})
		twDo(t, base, twAtOnce(), twRequest("GET", ""))
		for _, h := range base.headers {
			if len(h) != 0 {
				t.Errorf("headers %v", h)
			}
		}
	})
}
