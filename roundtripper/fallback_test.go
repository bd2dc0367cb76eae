package roundtripper_test

// This file tests Fallback: what is served instead of a final failure.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// twServed is a response from a cache, whose body notes that it was closed.
func twServed(body *twClosed) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"X-Cache": {"stale"}}, Body: body}
}

func TestFallbackServes(t *testing.T) {
	for _, tc := range []struct {
		name     string
		step     twStep
		attempts int
		stop     roundtripper.Reason
		status   int // 0: the failure is an *Error
	}{
		{"network", twStep{err: io.EOF}, 3, roundtripper.ReasonRetriesSpent, 0},
		{"timeout", twStep{hang: true}, 3, roundtripper.ReasonRetriesSpent, 0},
		{"permanent", twStep{err: http.ErrSchemeMismatch}, 1, roundtripper.ReasonPermanent, 0},
		{"contract", twStep{status: 200, header: twJSON, body: "{"}, 1, roundtripper.ReasonContract, 0},
		{"503 for ever", twStep{status: 503, body: "busy"}, 3, roundtripper.ReasonRetriesSpent, 503},
		{"404", twStep{status: 404, body: "gone"}, 1, roundtripper.ReasonStatus, 404},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			base := twScript(tc.step)
			body := &twClosed{Reader: strings.NewReader("from the cache")}
			req := twRequest("GET", "")
			asked := 0
			w := &twWatch{start: time.Now()}
			p := roundtripper.Headless()
			p.Observe = w.observe
			p.Fallback = func(r *http.Request, report *roundtripper.Report, err error) (*http.Response, error) {
				asked++
				if r != req || report.Stop != tc.stop || len(report.Attempts) != tc.attempts || report.Fallback || report.Elapsed != time.Since(base.start) {
					t.Errorf("asked with %p, %+v", r, report)
				}
				if e, ok := errors.AsType[*roundtripper.Error](err); tc.status == 0 && (!ok || e.Report != report || e.Reason != tc.stop) {
					t.Errorf("asked with %#v", err)
				}
				if e, ok := errors.AsType[*roundtripper.StatusError](err); tc.status != 0 && (!ok || e.Report != report || e.StatusCode != tc.status) {
					t.Errorf("asked with %#v", err)
				}
				return twServed(body), nil
			}
			resp, err := twDo(t, base, p, req)
			if err != nil {
				t.Fatal(err)
			}
			base.wantAttempts(t, tc.attempts)
			base.wantClosed(t)
			r := twReport(t, resp, err)
			if asked != 1 || !r.Fallback || r.Stop != tc.stop || len(r.Attempts) != tc.attempts {
				t.Errorf("asked %d times, report %+v", asked, r)
			}
			if err := roundtripper.CheckStatus(resp); err != nil {
				t.Errorf("CheckStatus: %v", err)
			}
			if got := twRead(t, resp); got != "from the cache" || resp.Header.Get("X-Cache") != "stale" || body.n != 1 {
				t.Errorf("body %q, closed %d times", got, body.n)
			}
			if last := w.lines[len(w.lines)-1]; !strings.HasPrefix(last, "done") {
				t.Errorf("the last event is %q", last)
			}
		})
	}
}

// It is asked for failures alone, and not when there is nobody to serve.
func TestFallbackIsNotAsked(t *testing.T) {
	for _, tc := range []struct {
		name   string
		step   twStep
		change func(*roundtripper.Policy)
		cancel time.Duration // -1: before the call
	}{
		{"success", twStep{status: 200}, nil, time.Hour},
		{"redirection", twStep{status: 304}, nil, time.Hour},
		{"the caller gave up before", twStep{status: 200}, nil, -1},
		{"the caller gave up in an attempt", twStep{hang: true}, nil, twTick},
		{"the caller gave up in a wait", twStep{status: 503}, nil, 50 * twTick},
		{"an invalid policy", twStep{status: 200}, func(p *roundtripper.Policy) { p.MaxRetries = -1 }, time.Hour},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.cancel < 0 {
				cancel()
			} else {
				defer time.AfterFunc(tc.cancel, cancel).Stop()
			}
			p := roundtripper.Headless()
			if tc.change != nil {
				tc.change(&p)
			}
			p.Fallback = func(_ *http.Request, _ *roundtripper.Report, err error) (*http.Response, error) {
				t.Errorf("asked with %v", err)
				return nil, nil
			}
			twDo(t, twScript(tc.step), p, twRequest("GET", "").WithContext(ctx))
		})
	}
}

// Nor where the caller gave up just as the answer came, which stays what it is.
func TestFallbackIsNotAskedBehindTheCallersEnd(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		base := twFunc(func(req *http.Request) (*http.Response, error) {
			cancel()
			return answer(req, 503, ""), nil
		})
		p := roundtripper.Headless()
		p.Fallback = func(_ *http.Request, _ *roundtripper.Report, err error) (*http.Response, error) {
			t.Errorf("asked with %v", err)
			return nil, nil
		}
		resp, err := twDo(t, base, p, twRequest("GET", "").WithContext(ctx))
		if r := twReport(t, resp, err); err != nil || resp.StatusCode != 503 || r.Stop != roundtripper.ReasonCanceled {
			t.Errorf("%v, %v", resp, err)
		}
	})
}

// With nothing to serve the failure stays as it is; an error of the fallback's
// own is joined to one.
func TestFallbackHasNothing(t *testing.T) {
	empty := errors.New("the cache is empty")
	for name, ferr := range map[string]error{"nil": nil, "error": empty} {
		twRun(t, name+" after a response", func(t *testing.T) {
			p := roundtripper.Headless()
			p.Fallback = func(*http.Request, *roundtripper.Report, error) (*http.Response, error) { return nil, ferr }
			resp, err := twDo(t, twScript(twStep{status: 503, body: "busy"}), p, twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			if r := twReport(t, resp, err); r.Fallback || resp.StatusCode != 503 {
				t.Errorf("%d, %+v", resp.StatusCode, r)
			}
			if got := twRead(t, resp); got != "busy" {
				t.Errorf("body %q", got)
			}
		})
		twRun(t, name+" after an error", func(t *testing.T) {
			p := roundtripper.Headless()
			p.Fallback = func(*http.Request, *roundtripper.Report, error) (*http.Response, error) { return nil, ferr }
			_, err := twDo(t, twScript(twStep{err: io.EOF}), p, twRequest("GET", ""))
			if !errors.Is(err, io.EOF) || errors.Is(err, empty) != (ferr != nil) || twReport(t, nil, err).Fallback {
				t.Errorf("%v", err)
			}
		})
	}
}

// A response and an error at once is a mistake that loses nothing: the response
// is served or closed. One without a body is served with an empty one.
func TestFallbackThatIsOdd(t *testing.T) {
	twRun(t, "both", func(t *testing.T) {
		body := &twClosed{Reader: strings.NewReader("x")}
		p := roundtripper.Headless()
		p.Fallback = func(*http.Request, *roundtripper.Report, error) (*http.Response, error) {
			return twServed(body), errors.New("and an error")
		}
		resp, err := twDo(t, twScript(twStep{err: io.EOF}), p, twRequest("GET", ""))
		if err == nil {
			resp.Body.Close()
		}
		if body.n == 0 {
			t.Error("its body is open")
		}
	})
	twRun(t, "no body", func(t *testing.T) {
		p := roundtripper.Headless()
		p.Fallback = func(*http.Request, *roundtripper.Report, error) (*http.Response, error) {
			return &http.Response{StatusCode: 204}, nil
		}
		resp, err := twDo(t, twScript(twStep{err: io.EOF}), p, twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := twRead(t, resp); got != "" {
			t.Errorf("body %q", got)
		}
	})
	twRun(t, "one for many", func(t *testing.T) {
		shared := &http.Response{StatusCode: 204}
		p := roundtripper.Headless()
		p.Fallback = func(*http.Request, *roundtripper.Report, error) (*http.Response, error) { return shared, nil }
		for range 2 {
			resp, err := twDo(t, twScript(twStep{err: io.EOF}), p, twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := roundtripper.ReportFrom(resp); !ok || !r.Fallback || len(r.Attempts) != 3 {
				t.Errorf("report %+v %v", r, ok)
			}
		}
		if shared.Body != nil || shared.Header != nil || shared.Request != nil {
			t.Errorf("the response that is served was written to: %+v", shared)
		}
	})
	twRun(t, "through http.Client, with the body read after the timeouts", func(t *testing.T) {
		p := roundtripper.Headless()
		p.MaxRetries = 0
		p.Fallback = func(*http.Request, *roundtripper.Report, error) (*http.Response, error) {
			return twServed(&twClosed{Reader: strings.NewReader("from the cache")}), nil
		}
		client := http.Client{Transport: roundtripper.New(twScript(twStep{hang: true}), p)}
		resp, err := client.Do(twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if got := twRead(t, resp); got != "from the cache" {
			t.Errorf("body %q", got)
		}
		if r, ok := roundtripper.ReportFrom(resp); !ok || !r.Fallback {
			t.Errorf("report %+v %v", r, ok)
		}
	})
}
