package otelretry_test

// This file holds what the tests share: a base that follows a script, and
// providers that keep what they are told, as text.

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/otelretry"
)

// baseFunc is a base transport made of a function.
type baseFunc func(*http.Request) (*http.Response, error)

func (f baseFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// answer is a response as a base transport makes it.
func answer(req *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       req,
	}
}

// script is a base that takes its steps one after the other, the last one for
// ever: a status, an error, or a function.
func script(steps ...any) http.RoundTripper {
	var mu sync.Mutex
	return baseFunc(func(req *http.Request) (*http.Response, error) {
		if req.Body != nil {
			io.Copy(io.Discard, req.Body)
			req.Body.Close()
		}
		mu.Lock()
		step := steps[0]
		if len(steps) > 1 {
			steps = steps[1:]
		}
		mu.Unlock()
		switch step := step.(type) {
		case int:
			return answer(req, step, ""), nil
		case error:
			return nil, step
		}
		return step.(func(*http.Request) (*http.Response, error))(req)
	})
}

// policy repeats GET twice, after 100 ms and 200 ms.
func policy() roundtripper.Policy {
	return roundtripper.Policy{
		MaxRetries: 2,
		Statuses:   []int{429, 503},
		Methods:    []string{http.MethodGet},
		Backoff:    backoff.Exponential(100*time.Millisecond, time.Second),
		MaxDelay:   5 * time.Second,
	}
}

// lab keeps what is told.
type lab struct {
	exporter *tracetest.InMemoryExporter
	reader   *metric.ManualReader
	config   otelretry.Config
	start    time.Time
}

func newLab() *lab {
	l := &lab{exporter: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader(), start: time.Now()}
	l.config = otelretry.Config{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(l.exporter)),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(l.reader)),
		Propagators:    propagation.TraceContext{},
	}
	return l
}

// get makes a call and reads its response to the end.
func (l *lab) get(t *testing.T, rt http.RoundTripper, ctx context.Context, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := rt.RoundTrip(req)
	if err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	return resp, err
}

// plain are the attributes that all spans of a test share.
var plain = []attribute.Key{"http.request.method", "url.full", "server.address", "server.port", "network.protocol.version"}

// spans are the spans that have ended, each below its parent, in the order in
// which they began, with times from the start of the lab.
func (l *lab) spans() string {
	var out strings.Builder
	all := l.exporter.GetSpans()
	slices.SortStableFunc(all, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	var below func(parent trace.SpanID, indent string)
	below = func(parent trace.SpanID, indent string) {
		for _, s := range all {
			if s.Parent.SpanID() != parent {
				continue
			}
			fmt.Fprintf(&out, "%s%s %s %v-%v", indent, s.Name, s.SpanKind, s.StartTime.Sub(l.start), s.EndTime.Sub(l.start))
			if s.Status.Code != codes.Unset {
				fmt.Fprintf(&out, " %s", s.Status.Code)
			}
			fmt.Fprintf(&out, "%s\n", texts(s.Attributes, plain))
			for _, e := range s.Events {
				fmt.Fprintf(&out, "%s  @%v %s%s\n", indent, e.Time.Sub(l.start), e.Name, texts(e.Attributes, nil))
			}
			below(s.SpanContext.SpanID(), indent+"  ")
		}
	}
	below(trace.SpanID{}, "")
	return out.String()
}

// texts writes attributes, sorted, without those to leave out.
func texts(as []attribute.KeyValue, out []attribute.Key) string {
	as = slices.DeleteFunc(slices.Clone(as), func(a attribute.KeyValue) bool { return slices.Contains(out, a.Key) })
	slices.SortFunc(as, func(a, b attribute.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
	var text strings.Builder
	for _, a := range as {
		fmt.Fprintf(&text, " %s=%v", a.Key, a.Value.AsInterface())
	}
	return text.String()
}

// measured are the metrics whose names begin with prefix, a line each: sums and
// gauges with their value, histograms with count and sum.
func (l *lab) measured(t *testing.T, prefix string) string {
	t.Helper()
	var rm metricdata.ResourceMetrics
	require.NoError(t, l.reader.Collect(t.Context(), &rm))
	var lines []string
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			if !strings.HasPrefix(m.Name, prefix) {
				continue
			}
			line := func(set attribute.Set, value string) {
				lines = append(lines, fmt.Sprintf("%s%s: %s\n", m.Name, texts(set.ToSlice(), nil), value))
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, fmt.Sprint(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, fmt.Sprint(p.Value))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, fmt.Sprintf("%d, %.3g %s", p.Count, p.Sum, m.Unit))
				}
			default:
				t.Fatalf("%s is a %T", m.Name, data)
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
