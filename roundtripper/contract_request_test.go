package roundtripper_test

// The caller's request stays the caller's: nothing in it changes, at any time,
// and once the response is closed nothing of it is looked at any more.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// everything is a policy with all that touches a request.
func everything() roundtripper.Policy {
	p := quick(roundtripper.Standard())
	p.RequestIDHeader = "X-Request-Id"
	p.AttemptHeader = "X-Attempt"
	p.ReplayBuffer = 1 << 10
	p.IdleTimeout = time.Minute
	p.ShareRetryAfter = true
	p.SlowAfter = time.Minute
	p.Observe = func(roundtripper.Event) {}
	p.Decide = func(a *roundtripper.Attempt) roundtripper.Verdict { return a.Verdict }
	p.Accept = roundtripper.ValidJSON
	p.Prepare = func(req *http.Request, attempt int) error {
		req.Header.Set("Authorization", fmt.Sprint("signed ", attempt))
		req.Header.Del("X-Plain")
		req.Header["X-Many"][0] = "changed"
		req.Header.Add("X-Many", "more")
		req.URL.Host = "elsewhere.example"
		req.URL.RawQuery = fmt.Sprint("attempt=", attempt)
		req.Host = "other.example"
		return nil
	}
	return p
}

// snapshot is what a request must still be later.
type snapshot struct {
	req     *http.Request
	shallow http.Request
	url     url.URL
	header  http.Header
	trailer http.Header
}

func snap(req *http.Request) *snapshot {
	return &snapshot{req, *req, *req.URL, req.Header.Clone(), req.Trailer.Clone()}
}

// changed says what is not as it was; "" is nothing.
func (s *snapshot) changed() string {
	same := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	now, then := s.req, &s.shallow
	switch {
	case now.Method != then.Method, now.Host != then.Host, now.ContentLength != then.ContentLength, now.Close != then.Close,
		now.Proto != then.Proto, now.RequestURI != then.RequestURI, now.Pattern != then.Pattern:
		return fmt.Sprintf("a plain field: %+v", now)
	case now.URL != then.URL, *now.URL != s.url:
		return fmt.Sprintf("URL: %v", now.URL)
	case !same(now.Header, then.Header), !reflect.DeepEqual(now.Header, s.header):
		return fmt.Sprintf("Header: %v", now.Header)
	case !same(now.Trailer, then.Trailer), !reflect.DeepEqual(now.Trailer, s.trailer):
		return fmt.Sprintf("Trailer: %v", now.Trailer)
	case now.Body != then.Body:
		return fmt.Sprintf("Body: %T", now.Body)
	case !same(now.GetBody, then.GetBody):
		return "GetBody"
	case now.Context() != then.Context():
		return "the context"
	case !reflect.DeepEqual(now.TransferEncoding, then.TransferEncoding):
		return fmt.Sprintf("TransferEncoding: %v", now.TransferEncoding)
	case now.Response != then.Response, now.TLS != then.TLS:
		return "Response or TLS"
	}
	return ""
}

// A fault elsewhere: the transport writes to the caller's request (caddyserver/caddy#1045,
// containerd/containerd#4795).
func TestRequestIsNotChanged(t *testing.T) {
	for _, body := range []string{"nil", "NoBody", "GetBody", "once"} {
		for name, policy := range map[string]roundtripper.Policy{
			"none": {}, "Headless": quick(roundtripper.Headless()), "Standard": quick(roundtripper.Standard()), "everything": everything(),
		} {
			t.Run(body+"/"+name, func(t *testing.T) {
				ctx := roundtripper.WithKey(t.Context(), "key from the context")
				var r io.Reader
				switch body {
				case "NoBody":
					r = http.NoBody
				case "GetBody":
					r = strings.NewReader("hello")
				case "once":
					r = once{strings.NewReader("hello")}
				}
				req := newRequest(t, "PUT", "http://user:pass@example.com/a%2fb?c=d#e", r).WithContext(ctx)
				req.Header = http.Header{"X-Plain": {"1"}, "X-Many": {"1", "2"}, "x-raw": {"odd"}}
				req.Trailer = http.Header{"X-Trailer": nil}
				req.TransferEncoding = []string{"identity"}
				req.Host = "virtual.example"
				before := snap(req)
				attempts := 0
				base := baseFunc(func(got *http.Request) (*http.Response, error) {
					attempts++
					if what := before.changed(); what != "" {
						t.Errorf("during attempt %d: %s", attempts, what)
					}
					take(got)
					if attempts == 2 {
						return nil, errReset
					}
					return answer(got, []int{503, 0, 200, 200}[attempts-1], "{}", "Content-Type", "application/json"), nil
				})
				resp, err := roundtripper.New(base, policy).RoundTrip(req)
				outcome(t, resp, err)
				if what := before.changed(); what != "" {
					t.Errorf("after RoundTrip: %s", what)
				}
				drink(t, resp)
				if what := before.changed(); what != "" {
					t.Errorf("at the end: %s", what)
				}
			})
		}
	}
}

// Each attempt has a copy of its own: what Prepare did to the one before is not
// in it, and what it did to this one reaches the base.
func TestPrepareGetsAFreshCopy(t *testing.T) {
	var seen []string
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		h := req.Header
		seen = append(seen, fmt.Sprintf("%v %v %v %v %v %v", h["Authorization"], h["X-Plain"], h["X-Many"], h["X-Attempt"], req.URL, req.Host))
		return answer(req, 503, ""), nil
	})
	policy := everything()
	policy.MaxRetries = 1
	req := newRequest(t, "GET", "http://example.com/path", nil)
	req.Header = http.Header{"X-Plain": {"1"}, "X-Many": {"1", "2"}}
	resp, err := roundtripper.New(base, policy).RoundTrip(req)
	outcome(t, resp, err)
	want := []string{
		"[signed 1] [] [changed 2 more] [1] http://elsewhere.example/path?attempt=1 other.example",
		"[signed 2] [] [changed 2 more] [2] http://elsewhere.example/path?attempt=2 other.example",
	}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("the base saw\n%q\nwant\n%q", seen, want)
	}
}

// Prepare runs after the wait, right before the attempt is sent; its error ends
// the call.
func TestPrepareRunsAfterTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var steps []string
		policy := roundtripper.Headless()
		policy.Prepare = func(req *http.Request, attempt int) error {
			steps = append(steps, fmt.Sprint("prepare ", attempt, " at ", time.Since(start)))
			if attempt == 3 {
				return errOwn
			}
			return nil
		}
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			n, _ := roundtripper.AttemptNumber(req.Context())
			steps = append(steps, fmt.Sprint("send ", n, " at ", time.Since(start)))
			return nil, errReset
		})
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
		outcome(t, resp, err)
		if !errors.Is(err, errOwn) {
			t.Errorf("error = %v, want Prepare's own", err)
		}
		if want := "[prepare 1 at 0s send 1 at 0s prepare 2 at 100ms send 2 at 100ms prepare 3 at 300ms]"; fmt.Sprint(steps) != want {
			t.Errorf("steps = %v, want %s", steps, want)
		}
	})
}

// A GET request may be used by several goroutines at once (run with -race).
func TestOneRequestInManyCalls(t *testing.T) {
	for name, policy := range map[string]roundtripper.Policy{
		"none": {}, "Headless": quick(roundtripper.Headless()), "Standard": quick(roundtripper.Standard()), "everything": everything(),
	} {
		var calls atomic.Int32
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			if calls.Add(1)%2 == 0 {
				return answer(req, 503, ""), nil
			}
			return answer(req, 200, "ok"), nil
		})
		tr := roundtripper.New(base, policy)
		req := newRequest(t, "GET", anyURL, nil)
		req.Header = http.Header{"X-Plain": {"1"}, "X-Many": {"1", "2"}}
		before := snap(req)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					resp, err := tr.RoundTrip(req)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					roundtripper.ReportFrom(resp)
				}
			})
		}
		wg.Wait()
		if what := before.changed(); what != "" {
			t.Errorf("%s: %s", name, what)
		}
	}
}

// Once the body of the response is closed the request is the caller's again, to
// change and to send anew (run with -race); and the body may be used again
// after its Close.
func TestRequestIsFreeAfterClose(t *testing.T) {
	for name, policy := range map[string]roundtripper.Policy{"none": {}, "Headless": roundtripper.Headless(), "everything": everything()} {
		srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(w, r.Body)
		}))
		if policy.Prepare != nil {
			policy.Prepare = func(*http.Request, int) error { return nil }
		}
		tr := roundtripper.New(base, policy)
		req := newRequest(t, "PUT", srv.URL, nil)
		for i := range 5 {
			body := newProbe(fmt.Sprint("body ", i))
			req.Method = []string{"PUT", "POST"}[i%2]
			req.URL.Path = fmt.Sprint("/", i)
			req.Header.Set("X-Round", fmt.Sprint(i))
			req.Body, req.ContentLength = body, 6
			resp, err := tr.RoundTrip(req)
			outcome(t, resp, err)
			if got := drink(t, resp); got != fmt.Sprint("body ", i) {
				t.Errorf("%s: got %q", name, got)
			}
			req.Header.Set("X-Round", "over")
			clear(req.Header)
			if _, ok := roundtripper.ReportFrom(resp); !ok {
				t.Errorf("%s: no report after the request was changed", name)
			}
			body.check(t, name)
		}
	}
}

// A request without a Header map is no reason to panic, nor to make one for the
// caller.
func TestNilHeader(t *testing.T) {
	for name, policy := range map[string]roundtripper.Policy{
		"none": {}, "Headless": roundtripper.Headless(), "Standard": roundtripper.Standard(),
		"attempt header": {AttemptHeader: "X-Attempt", MaxRetries: 1},
	} {
		base := &script{statuses: []int{200}}
		req := newRequest(t, "GET", anyURL, nil)
		req.Header = nil
		resp, err := roundtripper.New(base, policy).RoundTrip(req)
		outcome(t, resp, err)
		if req.Header != nil {
			t.Errorf("%s: the caller's request has got a Header: %v", name, req.Header)
		}
	}
}

// Headers that are the caller's arrive as they are, and ours beside them.
func TestHeadersThatArrive(t *testing.T) {
	base := &script{statuses: []int{503, 200}}
	policy := everything()
	policy.Prepare = nil
	req := newRequest(t, "GET", anyURL, nil).WithContext(roundtripper.WithKey(t.Context(), "k1"))
	req.Header = http.Header{"X-Plain": {"1"}, "X-Many": {"1", "2"}}
	resp, err := roundtripper.New(base, policy).RoundTrip(req)
	report := outcome(t, resp, err)
	for i, got := range base.seen {
		want := http.Header{"X-Plain": {"1"}, "X-Many": {"1", "2"}, "Idempotency-Key": {"k1"},
			"X-Request-Id": {report.RequestID}, "X-Attempt": {fmt.Sprint(i + 1)}}
		if !maps.EqualFunc(got.Header, want, func(a, b []string) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("attempt %d: %v, want %v", i+1, got.Header, want)
		}
	}
}

// The caller's own client trace goes on working, in every attempt.
func TestCallersTraceIsCalled(t *testing.T) {
	requests := 0
	srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.WriteHeader(103)
		if requests < 3 {
			w.WriteHeader(503)
		}
	}))
	for name, policy := range map[string]roundtripper.Policy{"Headless": quick(roundtripper.Headless()), "Standard": quick(roundtripper.Standard())} {
		requests = 0
		var mu sync.Mutex
		got := map[string]int{}
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			got[what]++
		}
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GetConn:              func(string) { note("get") },
			GotConn:              func(httptrace.GotConnInfo) { note("got") },
			WroteRequest:         func(httptrace.WroteRequestInfo) { note("wrote") },
			GotFirstResponseByte: func() { note("first byte") },
			Got1xxResponse:       func(int, textproto.MIMEHeader) error { note("1xx"); return nil },
		})
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", srv.URL, nil).WithContext(ctx))
		wantEnd(t, outcome(t, resp, err), 3, roundtripper.ReasonOK)
		drink(t, resp)
		mu.Lock()
		if want := map[string]int{"get": 3, "got": 3, "wrote": 3, "first byte": 3, "1xx": 3}; !maps.Equal(got, want) {
			t.Errorf("%s: the trace saw %v, want %v", name, got, want)
		}
		mu.Unlock()
	}
}

// What the caller put into the context is there for the base.
func TestContextValuesReachTheBase(t *testing.T) {
	type key struct{}
	for _, policy := range []roundtripper.Policy{{}, roundtripper.Headless()} {
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			if v := req.Context().Value(key{}); v != "value" {
				t.Errorf("value = %v", v)
			}
			return answer(req, 200, ""), nil
		})
		ctx := context.WithValue(t.Context(), key{}, "value")
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
		outcome(t, resp, err)
	}
}
