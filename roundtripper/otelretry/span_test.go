package otelretry_test

// This file tests the spans: which there are, whose children they are, when
// they begin and end, and what they say.

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
	"github.com/rebound-go/rebound/roundtripper/otelretry"
)

const target = "http://api.example.com/things"

// after answers with a status once the time has passed or the request's context
// has ended.
func after(d time.Duration, status int) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d):
			return answer(req, status, ""), nil
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
}

func TestSpans(t *testing.T) {
	for _, tt := range []struct {
		name   string
		base   http.RoundTripper
		policy func(*roundtripper.Policy)
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		want   string
	}{
		{
			name: "success at once",
			base: script(after(time.Second, 200)),
			want: `
GET call internal 0s-1s http.response.status_code=200 rebound.attempts=1 rebound.stop=ok
  GET client 0s-1s http.response.status_code=200
`,
		},
		{
			name: "503, 200",
			base: script(503, after(time.Second, 200)),
			want: `
GET call internal 0s-1.1s http.response.status_code=200 rebound.attempts=2 rebound.stop=ok
  @0s rebound.wait http.response.status_code=503 rebound.attempt=1 rebound.reason=status rebound.wait.duration=0.1 rebound.wait.kind=retry
  GET client 0s-0s Error error.type=503 http.response.status_code=503
  GET client 100ms-1.1s http.request.resend_count=1 http.response.status_code=200
`,
		},
		{
			name: "errors until the retries are spent",
			base: script(io.ErrUnexpectedEOF, &net.OpError{Op: "dial", Err: errors.New("refused")}, &timeout{}),
			want: `
GET call internal 0s-300ms Error error.type=retries-spent rebound.attempts=3 rebound.stop=retries-spent
  @0s rebound.wait rebound.attempt=1 rebound.reason=network rebound.wait.duration=0.1 rebound.wait.kind=retry
  @100ms rebound.wait rebound.attempt=2 rebound.reason=network rebound.wait.duration=0.2 rebound.wait.kind=retry
  GET client 0s-0s Error error.type=eof
  GET client 100ms-100ms Error error.type=*net.OpError http.request.resend_count=1
  GET client 300ms-300ms Error error.type=timeout http.request.resend_count=2
`,
		},
		{
			name: "final at once",
			base: script(404),
			want: `
GET call internal 0s-0s Error error.type=404 http.response.status_code=404 rebound.attempts=1 rebound.stop=status
  GET client 0s-0s Error error.type=404 http.response.status_code=404
`,
		},
		{
			name:   "attempt timeout",
			base:   script(after(time.Minute, 200), 200),
			policy: func(p *roundtripper.Policy) { p.AttemptTimeout = time.Second },
			want: `
GET call internal 0s-1.1s http.response.status_code=200 rebound.attempts=2 rebound.stop=ok
  @1s rebound.wait rebound.attempt=1 rebound.reason=attempt-timeout rebound.wait.duration=0.1 rebound.wait.kind=retry
  GET client 0s-1s Error error.type=timeout
  GET client 1.1s-1.1s http.request.resend_count=1 http.response.status_code=200
`,
		},
		{
			name: "canceled in an attempt",
			base: script(after(time.Minute, 200)),
			ctx:  endAfter(time.Second),
			want: `
GET call internal 0s-1s Error error.type=canceled rebound.attempts=1 rebound.stop=canceled
  GET client 0s-1s Error error.type=canceled
`,
		},
		{
			name: "canceled in a wait",
			base: script(503),
			ctx:  endAfter(40 * time.Millisecond),
			want: `
GET call internal 0s-40ms Error error.type=canceled rebound.attempts=1 rebound.stop=canceled
  @0s rebound.wait http.response.status_code=503 rebound.attempt=1 rebound.reason=status rebound.wait.duration=0.04 rebound.wait.kind=retry
  GET client 0s-0s Error error.type=503 http.response.status_code=503
`,
		},
		{
			name: "canceled before anything",
			base: script(200),
			ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return ctx, cancel
			},
			want: `
GET call internal 0s-0s Error error.type=canceled rebound.attempts=0 rebound.stop=canceled
`,
		},
		{
			name:   "invalid policy",
			base:   script(200),
			policy: func(p *roundtripper.Policy) { p.MaxRetries = -1 },
			want: `
GET call internal 0s-0s Error error.type=invalid rebound.attempts=0 rebound.stop=invalid
`,
		},
		{
			name: "budget spent",
			base: script(503),
			policy: func(p *roundtripper.Policy) {
				p.Budget = budget.New(budget.Config{Initial: 1})
			},
			want: `
GET call internal 0s-100ms Error error.type=503 http.response.status_code=503 rebound.attempts=2 rebound.stop=budget-spent
  @0s rebound.wait http.response.status_code=503 rebound.attempt=1 rebound.reason=status rebound.wait.duration=0.1 rebound.wait.kind=retry
  GET client 0s-0s Error error.type=503 http.response.status_code=503
  GET client 100ms-100ms Error error.type=503 http.request.resend_count=1 http.response.status_code=503
`,
		},
		{
			name: "contract",
			base: script(200),
			policy: func(p *roundtripper.Policy) {
				p.Accept = func(*http.Response) error { return errors.New("no") }
			},
			want: `
GET call internal 0s-0s Error error.type=contract rebound.attempts=1 rebound.stop=contract
  GET client 0s-0s http.response.status_code=200
`,
		},
		{
			name: "fallback",
			base: script(404),
			policy: func(p *roundtripper.Policy) {
				p.Fallback = func(req *http.Request, _ *roundtripper.Report, _ error) (*http.Response, error) {
					return answer(req, 200, "cached"), nil
				}
			},
			want: `
GET call internal 0s-0s http.response.status_code=200 rebound.attempts=1 rebound.fallback=true rebound.stop=status
  GET client 0s-0s Error error.type=404 http.response.status_code=404
`,
		},
		{
			name: "request ID, Retry-After",
			base: script(func(req *http.Request) (*http.Response, error) {
				resp := answer(req, 503, "")
				resp.Header.Set("Retry-After", "7")
				return resp, nil
			}),
			policy: func(p *roundtripper.Policy) { p.RequestIDHeader = "X-Request-Id" },
			want: `
GET call internal 0s-0s Error error.type=503 http.response.status_code=503 rebound.attempts=1 rebound.request_id=... rebound.retry_after=7 rebound.stop=retry-after-too-long
  GET client 0s-0s Error error.type=503 http.response.status_code=503
`,
		},
		{
			name:   "slow",
			base:   script(after(3*time.Second, 200)),
			policy: func(p *roundtripper.Policy) { p.SlowAfter = time.Second },
			want: `
GET call internal 0s-3s http.response.status_code=200 rebound.attempts=1 rebound.stop=ok
  @1s rebound.slow
  GET client 0s-3s http.response.status_code=200
`,
		},
		{
			name: "neither a response nor an error",
			base: script(func(*http.Request) (*http.Response, error) { return nil, nil }),
			want: `
GET call internal 0s-0s Error error.type=permanent rebound.attempts=1 rebound.stop=permanent
  GET client 0s-0s Error error.type=no_response
`,
		},
		{
			name: "both a response and an error",
			base: script(func(req *http.Request) (*http.Response, error) {
				return answer(req, 200, ""), http.ErrSchemeMismatch
			}),
			want: `
GET call internal 0s-0s Error error.type=permanent rebound.attempts=1 rebound.stop=permanent
  GET client 0s-0s Error error.type=*errors.errorString http.response.status_code=200
`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab()
				p := policy()
				if tt.policy != nil {
					tt.policy(&p)
				}
				ctx := t.Context()
				if tt.ctx != nil {
					var cancel context.CancelFunc
					ctx, cancel = tt.ctx(ctx)
					defer cancel()
				}
				resp, err := l.get(t, otelretry.New(tt.base, p, l.config), ctx, target)
				got := l.spans()
				if r := reportOf(t, resp, err); r.RequestID != "" {
					got = strings.ReplaceAll(got, r.RequestID, "...")
				}
				assert.Equal(t, strings.TrimPrefix(tt.want, "\n"), got)
			})
		})
	}
}

type timeout struct{}

func (*timeout) Error() string   { return "took too long" }
func (*timeout) Timeout() bool   { return true }
func (*timeout) Temporary() bool { return true }

func endAfter(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(d, cancel)
		return ctx, cancel
	}
}

func reportOf(t *testing.T, resp *http.Response, err error) *roundtripper.Report {
	t.Helper()
	if failed, ok := errors.AsType[*roundtripper.Error](err); ok {
		return failed.Report
	}
	require.NoError(t, err)
	r, ok := roundtripper.ReportFrom(resp)
	require.True(t, ok, "the response has no report")
	return r
}

// All the attributes that a span has, and its parent's.
func TestSpanAttributes(t *testing.T) {
	for _, tt := range []struct {
		name, method, url, want string
		proto                   [2]int
	}{
		{"plain", "GET", "http://api.example.com/a%2Fb/c",
			"http.request.method=GET http.response.status_code=200 network.protocol.version=1.1 server.address=api.example.com server.port=80 url.full=http://api.example.com/a%2Fb/c", [2]int{1, 1}},
		{"secrets", "POST", "https://user:secret@api.example.com:8443/a?token=secret#secret",
			"http.request.method=POST http.response.status_code=200 network.protocol.version=2 server.address=api.example.com server.port=8443 url.full=https://api.example.com:8443/a", [2]int{2, 0}},
		{"no method, IPv6", "", "https://[::1]/",
			"http.request.method=GET http.response.status_code=200 network.protocol.version=3 server.address=::1 server.port=443 url.full=https://[::1]/", [2]int{3, 0}},
		{"unknown method", "PROPFIND", "http://api.example.com",
			"http.request.method=_OTHER http.request.method_original=PROPFIND http.response.status_code=200 server.address=api.example.com server.port=80 url.full=http://api.example.com", [2]int{0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab()
			l.config.Attributes = []attribute.KeyValue{attribute.String("client", "billing")}
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				resp := answer(req, 200, "")
				resp.ProtoMajor, resp.ProtoMinor = tt.proto[0], tt.proto[1]
				return resp, nil
			})
			req, err := http.NewRequestWithContext(t.Context(), "GET", tt.url, nil)
			require.NoError(t, err)
			req.Method = tt.method
			resp, err := otelretry.New(base, policy(), l.config).RoundTrip(req)
			require.NoError(t, err)
			resp.Body.Close()
			spans := l.exporter.GetSpans()
			require.Len(t, spans, 2)
			assert.Equal(t, " client=billing "+tt.want, texts(spans[0].Attributes, nil))
			assert.Subset(t, spans[1].Attributes, []attribute.KeyValue{attribute.String("client", "billing")})
			assert.NotContains(t, texts(spans[1].Attributes, nil), "secret")
			for _, s := range spans {
				assert.Contains(t, s.InstrumentationScope.Name, "otelretry")
				assert.NotEmpty(t, s.InstrumentationScope.SchemaURL)
			}
		})
	}
}

// Nothing of an error's text gets out: a base may quote the URL in it.
func TestSpanQuotesNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		base := script(errors.New("Get http://user:secret@api.example.com/?token=secret: EOF"))
		l.get(t, otelretry.New(base, policy(), l.config), t.Context(), target)
		for _, s := range l.exporter.GetSpans() {
			assert.Empty(t, s.Status.Description)
			assert.NotContains(t, texts(s.Attributes, nil), "secret")
		}
	})
}

// An open breaker refuses without an attempt, and there is no span of one.
func TestBreakerOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		p := policy()
		p.MaxRetries = 0
		p.Breaker = breaker.PerHost(breaker.Config{Consecutive: 1})
		rt := otelretry.New(script(503), p, l.config)
		l.get(t, rt, t.Context(), target)
		time.Sleep(time.Second)
		l.exporter.Reset()
		_, err := l.get(t, rt, t.Context(), target)
		require.Error(t, err)
		got := l.spans()
		assert.Regexp(t, `^GET call internal 1s-1s Error error\.type=breaker-open rebound\.attempts=0 rebound\.retry_after=\d+\.\d+ rebound\.stop=breaker-open\n$`, got)
	})
}

// Waiting for a network is no attempt. It is an event of its call also when no
// attempt was ever made, before or after.
func TestOffline(t *testing.T) {
	noPath := &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no route", IsTemporary: true}}
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		p := policy()
		p.Offline = offline.New(offline.Config{Hint: new(hint)})
		rt := otelretry.New(script(noPath, 200), p, l.config)

		ctx, cancel := endAfter(100 * time.Millisecond)(t.Context()) // before the first probe
		defer cancel()
		l.get(t, rt, ctx, target)
		assert.Equal(t, `GET call internal 0s-100ms Error error.type=canceled rebound.attempts=0 rebound.stop=canceled
  @0s rebound.wait rebound.wait.duration=0.1 rebound.wait.kind=offline
`, l.spans())
		assert.Equal(t, `rebound.client.call.duration http.request.method=GET rebound.stop=canceled server.address=api.example.com server.port=80: 1, 0.1 s
rebound.client.wait.duration http.request.method=GET rebound.wait.kind=offline server.address=api.example.com server.port=80: 1, 0.1 s
`, l.measured(t, "rebound.client."))

		l.exporter.Reset()
		l.get(t, rt, t.Context(), target)
		assert.Regexp(t, `^GET call internal 100ms-.*s http\.response\.status_code=200 rebound\.attempts=2 rebound\.stop=ok
  @100ms rebound\.wait rebound\.wait\.duration=0\.\d+ rebound\.wait\.kind=offline
  @.* rebound\.wait rebound\.attempt=1 rebound\.reason=network rebound\.wait\.duration=0 rebound\.wait\.kind=retry
  @.* rebound\.wait rebound\.attempt=1 rebound\.wait\.duration=[1-9].* rebound\.wait\.kind=offline
  GET client .* Error error\.type=\*net\.DNSError
  GET client .* http\.request\.resend_count=1 http\.response\.status_code=200
$`, l.spans())
	})
}

// hint says whether there is a network.
type hint struct{ up bool }

func (h *hint) Online() (up, known bool) { return h.up, true }
func (h *hint) Changed() <-chan struct{} { return nil }

// later answers 429 with a Retry-After of two seconds.
func later(req *http.Request) (*http.Response, error) {
	resp := answer(req, 429, "")
	resp.Header.Set("Retry-After", "2")
	return resp, nil
}

// A call holds back where its host told another one to come later. That is no
// attempt either, and it may be followed by a wait for the network.
func TestHeldBack(t *testing.T) {
	for _, tt := range []struct {
		name      string
		up        bool          // the network, when the pause is over
		patience  time.Duration // of the caller
		wantSpans string
	}{
		{"and is sent", true, time.Minute, `^GET call internal 0s-2(\.\d+)?s http.response.status_code=200 rebound.attempts=1 rebound.stop=ok
  @0s rebound.wait rebound.wait.duration=2(\.\d+)? rebound.wait.kind=held-back
  GET client 2(\.\d+)?s-2(\.\d+)?s http.response.status_code=200
$`},
		{"and is canceled in it", true, time.Second, `^GET call internal 0s-1s Error error.type=canceled rebound.attempts=0 rebound.stop=canceled
  @0s rebound.wait rebound.wait.duration=1 rebound.wait.kind=held-back
$`},
		{"and then there is no network", false, 2400 * time.Millisecond, `^GET call internal 0s-2.4s Error error.type=canceled rebound.attempts=0 rebound.stop=canceled
  @0s rebound.wait rebound.wait.duration=2(\.[01]\d*)? rebound.wait.kind=held-back
  @2(\.[01]\d*)?s rebound.wait rebound.wait.duration=0\.[234]\d* rebound.wait.kind=offline
$`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab()
				h := &hint{up: true}
				p := policy()
				p.MaxRetries = 0
				p.ShareRetryAfter = true
				p.Offline = offline.New(offline.Config{Hint: h})
				rt := otelretry.New(script(later, 200), p, l.config)
				l.get(t, rt, t.Context(), target)
				l.exporter.Reset()
				h.up = tt.up
				ctx, cancel := endAfter(tt.patience)(t.Context())
				defer cancel()
				l.get(t, rt, ctx, target)
				assert.Regexp(t, tt.wantSpans, l.spans())
			})
		})
	}
}

// A call inside an attempt of another: each span below the one that it is part
// of, and only the outer call repeats.
func TestNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		inner := otelretry.New(script(503, 200), policy(), l.config)
		l.get(t, otelretry.New(inner, policy(), l.config), t.Context(), target)
		assert.Equal(t, `GET call internal 0s-100ms http.response.status_code=200 rebound.attempts=2 rebound.stop=ok
  @0s rebound.wait http.response.status_code=503 rebound.attempt=1 rebound.reason=status rebound.wait.duration=0.1 rebound.wait.kind=retry
  GET client 0s-0s Error error.type=503 http.response.status_code=503
    GET call internal 0s-0s Error error.type=503 http.response.status_code=503 rebound.attempts=1 rebound.stop=nested
      GET client 0s-0s Error error.type=503 http.response.status_code=503
  GET client 100ms-100ms http.request.resend_count=1 http.response.status_code=200
    GET call internal 100ms-100ms http.response.status_code=200 rebound.attempts=1 rebound.stop=ok
      GET client 100ms-100ms http.response.status_code=200
`, l.spans())
	})
}

// A policy that the context brings is followed, and its calls are told as all
// are, but for the waits; with Transport.Observe, those too.
func TestWithPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		rt := otelretry.New(script(503, 200), roundtripper.Policy{}, l.config)
		l.get(t, rt, roundtripper.WithPolicy(t.Context(), policy()), target)
		want := `GET call internal 0s-100ms http.response.status_code=200 rebound.attempts=2 rebound.stop=ok
  GET client 0s-0s Error error.type=503 http.response.status_code=503
  GET client 100ms-100ms http.request.resend_count=1 http.response.status_code=200
`
		assert.Equal(t, want, l.spans())
	})
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		rt := otelretry.New(script(503, 200), roundtripper.Policy{}, l.config)
		p := policy()
		var states []roundtripper.State
		p.Observe = rt.Observe(func(e roundtripper.Event) { states = append(states, e.State) })
		l.get(t, rt, roundtripper.WithPolicy(t.Context(), p), target)
		assert.Contains(t, l.spans(), "@0s rebound.wait")
		assert.Equal(t, []roundtripper.State{"sending", "waiting", "sending", "done"}, states)
	})
	synctest.Test(t, func(t *testing.T) { // the Observe of another Transport does not know this one's calls
		l := newLab()
		rt := otelretry.New(script(503, 200), roundtripper.Policy{}, l.config)
		p := policy()
		p.Observe = otelretry.New(script(200), policy(), newLab().config).Observe(nil)
		l.get(t, rt, roundtripper.WithPolicy(t.Context(), p), target)
		assert.NotContains(t, l.spans(), "rebound.wait")
	})
}

// The policy's own observer hears all that it would hear without telemetry.
func TestOwnObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var states []roundtripper.State
		p := policy()
		p.Observe = func(e roundtripper.Event) { states = append(states, e.State) }
		l := newLab()
		l.get(t, otelretry.New(script(503, 200), p, l.config), t.Context(), target)
		assert.Equal(t, []roundtripper.State{"sending", "waiting", "sending", "done"}, states)
	})
}
