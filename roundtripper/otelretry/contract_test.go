package otelretry_test

// This file tests that what a RoundTripper owes its caller still holds, and
// that a span ends when what it stands for does.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/otelretry"
)

// Each attempt carries the context of its own span, and the caller's request
// keeps the headers that it came with, be they none.
func TestPropagation(t *testing.T) {
	for name, header := range map[string]http.Header{
		"no header":  nil,
		"header":     {"Accept": {"text/plain"}},
		"of another": {"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab()
				var carried []trace.SpanContext
				base := script(func(req *http.Request) (*http.Response, error) {
					ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(req.Header))
					carried = append(carried, trace.SpanContextFromContext(ctx))
					assert.Equal(t, header.Get("Accept"), req.Header.Get("Accept"))
					return answer(req, 503, ""), nil
				})
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
				require.NoError(t, err)
				req.Header = header
				before := header.Clone()
				resp, err := otelretry.New(base, policy(), l.config).RoundTrip(req)
				require.NoError(t, err)
				resp.Body.Close()
				assert.Equal(t, before, req.Header)
				spans := l.exporter.GetSpans()
				require.Len(t, spans, 4)
				for i, c := range carried {
					assert.Equal(t, spans[i].SpanContext.SpanID(), c.SpanID())
					assert.Equal(t, spans[3].SpanContext.TraceID(), c.TraceID())
				}
			})
		})
	}
}

// sampled is a span context to be a parent of.
var sampled = trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})

// The call is a child of the span in the caller's context.
func TestParent(t *testing.T) {
	l := newLab()
	l.get(t, otelretry.New(script(200), policy(), l.config), trace.ContextWithSpanContext(t.Context(), sampled), target)
	spans := l.exporter.GetSpans()
	require.Len(t, spans, 2)
	assert.Equal(t, sampled.SpanID(), spans[1].Parent.SpanID())
	assert.Equal(t, spans[1].SpanContext.SpanID(), spans[0].Parent.SpanID())
}

// Without a tracer that records, what the caller's context says goes on, and
// without a propagator nothing does.
func TestNoTracer(t *testing.T) {
	var header http.Header
	base := script(func(req *http.Request) (*http.Response, error) {
		header = req.Header
		return answer(req, 200, ""), nil
	})
	ctx := trace.ContextWithSpanContext(t.Context(), sampled)
	l := newLab()
	l.get(t, otelretry.New(base, policy(), otelretry.Config{TracerProvider: tracenoop.NewTracerProvider(), Propagators: propagation.TraceContext{}}), ctx, target)
	assert.Equal(t, "00-01000000000000000000000000000000-0200000000000000-01", header.Get("Traceparent"))
	l.get(t, otelretry.New(base, policy(), otelretry.Config{Propagators: propagation.NewCompositeTextMapPropagator()}), ctx, target)
	assert.Empty(t, header)
}

// The zero Config is for the global providers.
func TestGlobalProviders(t *testing.T) {
	l := newLab()
	otel.SetTracerProvider(l.config.TracerProvider)
	otel.SetMeterProvider(l.config.MeterProvider)
	otel.SetTextMapPropagator(l.config.Propagators)
	var header http.Header
	base := script(func(req *http.Request) (*http.Response, error) {
		header = req.Header
		return answer(req, 200, ""), nil
	})
	l.get(t, otelretry.New(base, policy(), otelretry.Config{}), t.Context(), target)
	assert.Len(t, l.exporter.GetSpans(), 2)
	assert.NotEmpty(t, header.Get("Traceparent"))
	assert.Contains(t, l.measured(t, "rebound.client.attempts"), ": 1\n")
}

// watched is a response body that counts its Closes.
type watched struct {
	io.Reader
	closes atomic.Int32
}

func (w *watched) Close() error {
	w.closes.Add(1)
	return nil
}

// streaming answers with a body that gives a piece a second, three times, and
// then ends with err.
func streaming(err error) http.RoundTripper {
	return baseFunc(func(req *http.Request) (*http.Response, error) {
		pr, pw := io.Pipe()
		context.AfterFunc(req.Context(), func() { pw.CloseWithError(req.Context().Err()) })
		go func() {
			for range 3 {
				time.Sleep(time.Second)
				fmt.Fprint(pw, "piece")
			}
			pw.CloseWithError(err)
		}()
		resp := answer(req, 200, "")
		resp.Body, resp.ContentLength = pr, -1
		return resp, nil
	})
}

// The spans end with the body: at its end, at its failure, or when it is closed
// before, and once.
func TestSpansEndWithTheBody(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error // of the body
		use  func(io.ReadCloser)
		want string
	}{
		{"read to the end, closed later", io.EOF, func(b io.ReadCloser) {
			io.Copy(io.Discard, b)
			time.Sleep(time.Minute)
			b.Close()
		}, `
GET call internal 0s-3s http.response.status_code=200 rebound.attempts=1 rebound.stop=ok
  GET client 0s-3s http.response.status_code=200
`},
		{"closed in the middle, twice", io.EOF, func(b io.ReadCloser) {
			b.Read(make([]byte, 100))
			time.Sleep(500 * time.Millisecond)
			b.Close()
			time.Sleep(time.Minute)
			b.Close()
		}, `
GET call internal 0s-1.5s http.response.status_code=200 rebound.attempts=1 rebound.stop=ok
  GET client 0s-1.5s http.response.status_code=200
`},
		{"breaks off", io.ErrUnexpectedEOF, func(b io.ReadCloser) {
			io.Copy(io.Discard, b)
			time.Sleep(time.Minute)
			b.Close()
		}, `
GET call internal 0s-3s Error error.type=eof http.response.status_code=200 rebound.attempts=1 rebound.stop=ok
  GET client 0s-3s Error error.type=eof http.response.status_code=200
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab()
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
				resp, err := otelretry.New(streaming(tt.err), policy(), l.config).RoundTrip(req)
				require.NoError(t, err)
				assert.Empty(t, l.spans())
				tt.use(resp.Body)
				assert.Equal(t, strings.TrimPrefix(tt.want, "\n"), l.spans())
			})
		})
	}
}

// counting is a provider of one tracer, which counts the Ends of each span.
type counting struct {
	tracenoop.TracerProvider
	tracer countingTracer
}

type countingTracer struct {
	tracenoop.Tracer
	spans []*counted
}

type counted struct {
	tracenoop.Span
	ends atomic.Int32
}

func (c *counting) Tracer(string, ...trace.TracerOption) trace.Tracer { return &c.tracer }

func (c *countingTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := new(counted)
	c.spans = append(c.spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

func (c *counted) End(...trace.SpanEndOption) { c.ends.Add(1) }

// A span ends once, whatever is done to the body, and by how many goroutines.
func TestSpansEndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := new(counting)
		l := newLab()
		l.config.TracerProvider = provider
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		resp, err := otelretry.New(script(200), policy(), l.config).RoundTrip(req)
		require.NoError(t, err)
		go resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
		resp.Body.Read(make([]byte, 1))
		resp.Body.Close()
		synctest.Wait()
		require.Len(t, provider.tracer.spans, 2)
		for _, s := range provider.tracer.spans {
			assert.EqualValues(t, 1, s.ends.Load())
		}
	})
}

// What is read inside the attempt is part of the attempt; the call goes on until
// the caller is done with it.
func TestBodyReadAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		p := policy()
		p.ReadJSON = 1 << 10
		base := streaming(io.EOF)
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		resp, err := otelretry.New(baseFunc(func(req *http.Request) (*http.Response, error) {
			resp, err := base.RoundTrip(req)
			resp.Header.Set("Content-Type", "application/json")
			return resp, err
		}), p, l.config).RoundTrip(req)
		require.NoError(t, err)
		time.Sleep(time.Second)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "piecepiecepiece", string(body))
		assert.Equal(t, `GET call internal 0s-4s http.response.status_code=200 rebound.attempts=1 rebound.stop=ok
  GET client 0s-3s http.response.status_code=200
`, l.spans())
	})
}

// The attempt timeout still covers the body, and both spans say so.
func TestTimeoutInTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		p := policy()
		p.AttemptTimeout = 1500 * time.Millisecond
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		resp, err := otelretry.New(streaming(io.EOF), p, l.config).RoundTrip(req)
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		resp.Body.Close()
		assert.Equal(t, `GET call internal 0s-1.5s Error error.type=timeout http.response.status_code=200 rebound.attempts=1 rebound.stop=ok
  GET client 0s-1.5s Error error.type=timeout http.response.status_code=200
`, l.spans())
		time.Sleep(time.Minute)
	})
}

// What is wrong with a response is its status, not that its body was given up or
// broke off.
func TestStatusBeforeBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		body := streaming(io.ErrUnexpectedEOF)
		base := script(func(req *http.Request) (*http.Response, error) { return failing(body, req, 503) },
			func(req *http.Request) (*http.Response, error) { return failing(body, req, 404) })
		l.get(t, otelretry.New(base, policy(), l.config), t.Context(), target)
		assert.Equal(t, `GET call internal 0s-3.15s Error error.type=404 http.response.status_code=404 rebound.attempts=2 rebound.stop=status
  @50ms rebound.wait http.response.status_code=503 rebound.attempt=1 rebound.reason=status rebound.wait.duration=0.1 rebound.wait.kind=retry
  GET client 0s-50ms Error error.type=503 http.response.status_code=503
  GET client 150ms-3.15s Error error.type=404 http.request.resend_count=1 http.response.status_code=404
`, l.spans())
		time.Sleep(time.Minute)
	})
}

func failing(base http.RoundTripper, req *http.Request, status int) (*http.Response, error) {
	resp, err := base.RoundTrip(req)
	resp.StatusCode = status
	return resp, err
}

// A response without a body keeps http.NoBody, by which callers know it, and
// there is nothing to wait for.
func TestNoBody(t *testing.T) {
	for _, body := range []io.ReadCloser{nil, http.NoBody} {
		l := newLab()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		resp, err := otelretry.New(baseFunc(func(req *http.Request) (*http.Response, error) {
			resp := answer(req, 204, "")
			resp.Body = body
			return resp, nil
		}), policy(), l.config).RoundTrip(req)
		require.NoError(t, err)
		assert.Equal(t, http.NoBody, resp.Body)
		assert.Len(t, l.exporter.GetSpans(), 2)
	}
}

// connection is the body of a 101.
type connection struct {
	*watched
	io.Writer
}

// A 101 hands its connection over as it is, and is over as a call.
func TestSwitchingProtocols(t *testing.T) {
	l := newLab()
	conn := &connection{&watched{Reader: strings.NewReader("hello")}, io.Discard}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	resp, err := otelretry.New(baseFunc(func(req *http.Request) (*http.Response, error) {
		resp := answer(req, 101, "")
		resp.Body = conn
		return resp, nil
	}), roundtripper.Standard(), l.config).RoundTrip(req)
	require.NoError(t, err)
	require.Same(t, conn, resp.Body)
	assert.Zero(t, conn.closes.Load())
	assert.Len(t, l.exporter.GetSpans(), 2)
	r, ok := roundtripper.ReportFrom(resp)
	require.True(t, ok)
	assert.Equal(t, roundtripper.ReasonOK, r.Stop)
}

// A URL that was put together by hand may have its user info in the wrong place.
func TestUserInfoInHost(t *testing.T) {
	l := newLab()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	req.URL.Host = "user:secret@api.example.com:8443"
	resp, err := otelretry.New(script(200), policy(), l.config).RoundTrip(req)
	require.NoError(t, err)
	resp.Body.Close()
	for _, s := range l.exporter.GetSpans() {
		assert.Contains(t, texts(s.Attributes, nil), "server.address=api.example.com server.port=8443 url.full=http://api.example.com:8443/things")
	}
	assert.NotContains(t, l.measured(t, ""), "secret")
}

// The request body is sent with each attempt, and closed.
func TestRequestBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		p := policy()
		p.Methods = []string{http.MethodPut}
		p.ReplayBuffer = 1 << 10
		var sent []string
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			req.Body.Close()
			sent = append(sent, string(body))
			return answer(req, 503, ""), err
		})
		body := &watched{Reader: strings.NewReader("a note")}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, target, body)
		resp, err := otelretry.New(base, p, l.config).RoundTrip(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, []string{"a note", "a note", "a note"}, sent)
		assert.EqualValues(t, 1, body.closes.Load())

		body = &watched{Reader: strings.NewReader("a note")}
		req, _ = http.NewRequestWithContext(t.Context(), http.MethodPut, target, body)
		req.URL = nil // nothing can be sent
		_, err = otelretry.New(base, p, l.config).RoundTrip(req)
		require.Error(t, err)
		assert.EqualValues(t, 1, body.closes.Load())
	})
}

// A panic goes on, and leaves no span open.
func TestPanic(t *testing.T) {
	l := newLab()
	body := &watched{Reader: strings.NewReader("a note")}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, target, body)
	base := baseFunc(func(*http.Request) (*http.Response, error) { panic("base") })
	assert.PanicsWithValue(t, "base", func() { otelretry.New(base, policy(), l.config).RoundTrip(req) })
	assert.EqualValues(t, 1, body.closes.Load())
	spans := l.exporter.GetSpans()
	require.Len(t, spans, 2)
	for _, s := range spans {
		assert.Contains(t, texts(s.Attributes, nil), "error.type=panic")
	}
}

type idler struct {
	http.RoundTripper
	closed int
}

func (i *idler) CloseIdleConnections() { i.closed++ }

func TestCloseIdleConnections(t *testing.T) {
	base := &idler{RoundTripper: script(200)}
	client := &http.Client{Transport: otelretry.New(base, policy(), newLab().config)}
	client.CloseIdleConnections()
	assert.Equal(t, 1, base.closed)
	otelretry.New(script(200), policy(), newLab().config).CloseIdleConnections() // can't, and need not
}

// The report is found behind an http.Client, by whatever way the response came.
func TestReport(t *testing.T) {
	for _, p := range []roundtripper.Policy{{}, policy()} {
		synctest.Test(t, func(t *testing.T) {
			client := &http.Client{Transport: otelretry.New(script(503, 200), p, newLab().config)}
			resp, err := client.Get(target)
			require.NoError(t, err)
			defer resp.Body.Close()
			r, ok := roundtripper.ReportFrom(resp)
			require.True(t, ok)
			assert.Len(t, r.Attempts, min(p.MaxRetries, 1)+1)
		})
	}
}

// A context made from an attempt's costs no goroutine, as it costs none without
// the span in between.
func TestNoGoroutineForAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, during int
		base := script(func(req *http.Request) (*http.Response, error) {
			before = runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(req.Context())
			defer cancel()
			inner, stop := context.WithTimeout(ctx, time.Hour)
			defer stop()
			during = runtime.NumGoroutine()
			return answer(req, 200, ""), inner.Err()
		})
		l := newLab()
		p := policy()
		p.AttemptTimeout = time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		inner := otelretry.New(base, p, l.config)
		l.get(t, otelretry.New(inner, p, l.config), ctx, target)
		assert.Equal(t, before, during)
	})
}

// Many calls at once, over sockets, some of which need a retry; what they leave
// behind is nothing.
func TestParallel(t *testing.T) {
	const calls = 64
	before := runtime.NumGoroutine()
	l := newLab()
	var seen sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, again := seen.LoadOrStore(r.URL.Path, true); !again && strings.HasSuffix(r.URL.Path, "7") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if r.Header.Get("Traceparent") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		io.WriteString(w, r.URL.Path)
	}))
	p := roundtripper.Standard()
	p.Backoff = nil
	client := &http.Client{Transport: otelretry.New(nil, p, l.config)}
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			path := fmt.Sprintf("/%d", i)
			resp, err := client.Get(server.URL + path)
			if !assert.NoError(t, err) {
				return
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			assert.NoError(t, err)
			assert.Equal(t, path, string(body))
		})
	}
	wg.Wait()
	client.CloseIdleConnections()
	server.Close()
	spans := l.exporter.GetSpans()
	assert.Len(t, spans, 2*calls+6) // 7, 17, ... 57
	parents := map[trace.SpanID]bool{}
	for _, s := range spans {
		if s.SpanKind == trace.SpanKindInternal {
			parents[s.SpanContext.SpanID()] = true
		}
	}
	for _, s := range spans {
		if s.SpanKind == trace.SpanKindClient {
			assert.True(t, parents[s.Parent.SpanID()])
			assert.Contains(t, texts(s.Attributes, nil), "network.protocol.version=1.1")
		}
	}
	// Eventually looks from a goroutine of its own.
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, 10*time.Second, time.Millisecond)
}

// otelhttp as the base, for its metrics alone: its spans go nowhere, the server
// is told of the attempt's, and http.client.request.duration counts attempts.
func TestOtelhttpBelow(t *testing.T) {
	l := newLab()
	var carried []string
	base := script(func(req *http.Request) (*http.Response, error) {
		carried = append(carried, req.Header.Get("Traceparent"))
		return answer(req, 503, ""), nil
	}, func(req *http.Request) (*http.Response, error) {
		carried = append(carried, req.Header.Get("Traceparent"))
		return answer(req, 200, ""), nil
	})
	below := otelhttp.NewTransport(base,
		otelhttp.WithTracerProvider(tracenoop.NewTracerProvider()),
		otelhttp.WithMeterProvider(l.config.MeterProvider),
		otelhttp.WithPropagators(l.config.Propagators))
	p := policy()
	p.Backoff = nil
	resp, err := l.get(t, otelretry.New(below, p, l.config), t.Context(), target)
	require.NoError(t, err)
	assert.Equal(t, 200, resp.StatusCode)
	spans := l.exporter.GetSpans()
	require.Len(t, spans, 3)
	for i, c := range carried {
		assert.Contains(t, c, spans[i].SpanContext.SpanID().String())
	}
	got := l.measured(t, "http.client.request.duration")
	assert.Contains(t, got, "http.response.status_code=503")
	assert.Contains(t, got, "http.response.status_code=200")
}

// otelhttp as the base as it comes: its spans stand inside the attempts'.
func TestOtelhttpBelowWithSpans(t *testing.T) {
	l := newLab()
	below := otelhttp.NewTransport(script(200),
		otelhttp.WithTracerProvider(l.config.TracerProvider), otelhttp.WithPropagators(l.config.Propagators))
	_, err := l.get(t, otelretry.New(below, policy(), l.config), t.Context(), target)
	require.NoError(t, err)
	spans := l.exporter.GetSpans()
	require.Len(t, spans, 3)
	assert.Equal(t, spans[1].SpanContext.SpanID(), spans[0].Parent.SpanID())
	assert.Equal(t, spans[2].SpanContext.SpanID(), spans[1].Parent.SpanID())
}

var errBase = errors.New("base")

// The error is what it would be without telemetry.
func TestError(t *testing.T) {
	p := policy()
	p.MaxRetries = 0
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	_, err := otelretry.New(script(errBase), p, newLab().config).RoundTrip(req)
	failed, ok := err.(*roundtripper.Error)
	require.True(t, ok)
	assert.Equal(t, errBase, failed.Err)
}
