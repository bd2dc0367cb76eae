package otelwebhook_test

// What is told of each kind of request, on the span of the server and in metrics, and what is not.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/otelwebhook"
)

const (
	secret = "rehearsal-secret-0123456789abcdef"
	body   = `{"id":"evt_1","type":"order.paid","amount":4200}`
)

// lab is a receiver inside a server span, with all that was told of it.
type lab struct {
	handler  http.Handler
	exporter *tracetest.InMemoryExporter
	reader   *metric.ManualReader
}

func newLab(t *testing.T, config otelwebhook.Config, receiver webhookmw.Config, next http.HandlerFunc) *lab {
	t.Helper()
	l := &lab{exporter: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	config.MeterProvider = metric.NewMeterProvider(metric.WithReader(l.reader))
	receiver.Secrets = []string{secret}
	receiver.Observe = otelwebhook.Observe(config)
	v, err := webhookmw.New(receiver)
	require.NoError(t, err)
	if next == nil {
		next = func(http.ResponseWriter, *http.Request) {}
	}
	l.handler = otelhttp.NewHandler(v.Handler(next), "hook", otelhttp.WithMeterProvider(metricnoop.NewMeterProvider()),
		otelhttp.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(l.exporter))))
	return l
}

func (l *lab) send(r *http.Request) {
	defer func() { recover() }() // as net/http does
	l.handler.ServeHTTP(httptest.NewRecorder(), r)
}

// spans are what is told of each span, a line each: its status, and the attributes that are ours.
func (l *lab) spans() string {
	var lines strings.Builder
	for _, s := range l.exporter.GetSpans() {
		as := slices.DeleteFunc(slices.Clone(s.Attributes), func(a attribute.KeyValue) bool {
			return a.Key != "error.type" && !strings.HasPrefix(string(a.Key), "rebound.")
		})
		text := texts(as)
		if s.Status.Code == codes.Error {
			text = " Error" + text
		}
		lines.WriteString(strings.TrimPrefix(text, " ") + "\n")
	}
	return lines.String()
}

func texts(as []attribute.KeyValue) string {
	slices.SortFunc(as, func(a, b attribute.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
	var text strings.Builder
	for _, a := range as {
		fmt.Fprintf(&text, " %s=%v", strings.TrimPrefix(string(a.Key), "rebound.webhook."), a.Value.AsInterface())
	}
	return text.String()
}

// measured is what was measured, a line each.
func (l *lab) measured(t *testing.T) string {
	t.Helper()
	var rm metricdata.ResourceMetrics
	require.NoError(t, l.reader.Collect(t.Context(), &rm))
	var lines []string
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			line := func(set attribute.Set, value string) {
				lines = append(lines, strings.TrimPrefix(m.Name, "rebound.webhook.")+texts(set.ToSlice())+": "+value+"\n")
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, fmt.Sprint(p.Value))
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, fmt.Sprintf("%d, %d %s", p.Count, p.Sum, m.Unit))
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

// signed is a delivery, signed now.
func signed(deliveryID, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/hook?token=secret", strings.NewReader(body))
	webhookmw.Sign(r.Header, secret, deliveryID, time.Now(), []byte(body))
	return r
}

// v1Only is r without the signature that covers the delivery ID.
func v1Only(r *http.Request) *http.Request {
	signature, _, _ := strings.Cut(r.Header.Get("Webhook-Signature"), ",v2=")
	r.Header.Set("Webhook-Signature", signature)
	return r
}

// failing is a Memory whose steps fail where an error is set.
type failing struct {
	*webhookmw.Memory
	claim, complete error
}

func (f failing) Claim(ctx context.Context, c webhookmw.Claim) (webhookmw.Status, error) {
	if f.claim != nil {
		return webhookmw.Status{}, f.claim
	}
	return f.Memory.Claim(ctx, c)
}

func (f failing) Complete(ctx context.Context, c webhookmw.Claim) error {
	if f.complete != nil {
		return f.complete
	}
	return f.Memory.Complete(ctx, c)
}

var errStore = errors.New("postgres://user:secret@db.example.com: gone")

func TestObserve(t *testing.T) {
	for _, tt := range []struct {
		name     string
		config   otelwebhook.Config
		receiver webhookmw.Config
		next     http.HandlerFunc
		send     func() []*http.Request
		spans    string
		metrics  string
	}{
		{
			name: "accepted",
			next: func(http.ResponseWriter, *http.Request) { time.Sleep(2 * time.Second) },
			send: func() []*http.Request { return []*http.Request{signed("dlv_1", body)} },
			spans: `
delivery.id=dlv_1 event.id=evt_1 event.type=order.paid reason=accepted
`,
			metrics: `
body.size reason=accepted: 1, 48 By
deliveries http.response.status_code=200 reason=accepted: 1
delivery.duration http.response.status_code=200 reason=accepted: 1, 2 s
`,
		},
		{
			name: "refused",
			send: func() []*http.Request {
				forged := signed("dlv_1", body)
				forged.Header.Set("Webhook-Signature", strings.Replace(forged.Header.Get("Webhook-Signature"), "v1=", "v1=0", 1))
				stale := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
				webhookmw.Sign(stale.Header, secret, "dlv_1", time.Now().Add(-time.Hour), []byte(body))
				return []*http.Request{httptest.NewRequest(http.MethodGet, "/", nil), forged, stale, signed("dlv_1", "[]")}
			},
			spans: `
reason=method
reason=malformed-signature
reason=timestamp-stale
reason=contract
`,
			metrics: `
deliveries http.response.status_code=401 reason=malformed-signature: 1
deliveries http.response.status_code=401 reason=timestamp-stale: 1
deliveries http.response.status_code=405 reason=method: 1
deliveries http.response.status_code=422 reason=contract: 1
delivery.duration http.response.status_code=401 reason=malformed-signature: 1, 0 s
delivery.duration http.response.status_code=401 reason=timestamp-stale: 1, 0 s
delivery.duration http.response.status_code=405 reason=method: 1, 0 s
delivery.duration http.response.status_code=422 reason=contract: 1, 0 s
`,
		},
		{
			name: "a duplicate, another delivery, a recording under another ID",
			send: func() []*http.Request {
				return []*http.Request{signed("dlv_1", body), signed("dlv_1", body), v1Only(signed("dlv_2", body))}
			},
			spans: `
delivery.id=dlv_1 event.id=evt_1 event.type=order.paid reason=accepted
delivery.id=dlv_1 duplicate=true event.id=evt_1 event.seen=true event.type=order.paid reason=duplicate
delivery.id=dlv_2 event.id=evt_1 event.seen=true event.type=order.paid reason=accepted signature.reused=true
`,
			metrics: `
body.size reason=accepted: 2, 96 By
body.size reason=duplicate: 1, 48 By
deliveries http.response.status_code=200 reason=accepted: 2
deliveries http.response.status_code=200 reason=duplicate: 1
delivery.duration http.response.status_code=200 reason=accepted: 2, 0 s
delivery.duration http.response.status_code=200 reason=duplicate: 1, 0 s
duplicates duplicate.of=delivery: 1
duplicates duplicate.of=event: 1
signature_reuses: 1
`,
		},
		{
			name: "types told apart",
			config: otelwebhook.Config{
				Attributes: []attribute.KeyValue{attribute.String("receiver", "orders")},
				EventTypes: []string{"order.paid"},
			},
			send: func() []*http.Request {
				return []*http.Request{signed("dlv_1", body), signed("dlv_1", body),
					signed("dlv_2", `{"id":"evt_2","type":"whatever"}`), httptest.NewRequest(http.MethodGet, "/", nil)}
			},
			spans: `
delivery.id=dlv_1 event.id=evt_1 event.type=order.paid reason=accepted
delivery.id=dlv_1 duplicate=true event.id=evt_1 event.seen=true event.type=order.paid reason=duplicate
delivery.id=dlv_2 event.id=evt_2 event.type=whatever reason=accepted
reason=method
`,
			metrics: `
body.size event.type=_OTHER reason=accepted receiver=orders: 1, 32 By
body.size event.type=order.paid reason=accepted receiver=orders: 1, 48 By
body.size event.type=order.paid reason=duplicate receiver=orders: 1, 48 By
deliveries http.response.status_code=200 event.type=_OTHER reason=accepted receiver=orders: 1
deliveries http.response.status_code=200 event.type=order.paid reason=accepted receiver=orders: 1
deliveries http.response.status_code=200 event.type=order.paid reason=duplicate receiver=orders: 1
deliveries http.response.status_code=405 reason=method receiver=orders: 1
delivery.duration http.response.status_code=200 event.type=_OTHER reason=accepted receiver=orders: 1, 0 s
delivery.duration http.response.status_code=200 event.type=order.paid reason=accepted receiver=orders: 1, 0 s
delivery.duration http.response.status_code=200 event.type=order.paid reason=duplicate receiver=orders: 1, 0 s
delivery.duration http.response.status_code=405 reason=method receiver=orders: 1, 0 s
duplicates duplicate.of=delivery event.type=order.paid receiver=orders: 1
`,
		},
		{
			name: "handler failed",
			next: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
			send: func() []*http.Request { return []*http.Request{signed("dlv_1", body)} },
			spans: `
delivery.id=dlv_1 event.id=evt_1 event.type=order.paid reason=handler-failed
`,
			metrics: `
body.size reason=handler-failed: 1, 48 By
deliveries http.response.status_code=418 reason=handler-failed: 1
delivery.duration http.response.status_code=418 reason=handler-failed: 1, 0 s
`,
		},
		{
			name: "handler panicked",
			next: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			send: func() []*http.Request { return []*http.Request{signed("dlv_1", body)} },
			spans: `
Error error.type=handler-panicked delivery.id=dlv_1 event.id=evt_1 event.type=order.paid reason=handler-panicked
`,
			metrics: `
body.size reason=handler-panicked: 1, 48 By
deliveries reason=handler-panicked: 1
delivery.duration reason=handler-panicked: 1, 0 s
`,
		},
		{
			name:     "not recorded",
			receiver: webhookmw.Config{Store: failing{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{}), complete: errStore}},
			send:     func() []*http.Request { return []*http.Request{signed("dlv_1", body)} },
			spans: `
Error error.type=not-recorded delivery.id=dlv_1 event.id=evt_1 event.type=order.paid reason=not-recorded
`,
			metrics: `
body.size reason=not-recorded: 1, 48 By
deliveries http.response.status_code=200 reason=not-recorded: 1
delivery.duration http.response.status_code=200 reason=not-recorded: 1, 0 s
`,
		},
		{
			name:     "store failed",
			receiver: webhookmw.Config{Store: failing{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{}), claim: errStore}},
			send:     func() []*http.Request { return []*http.Request{signed("dlv_1", body)} },
			spans: `
Error delivery.id=dlv_1 event.id=evt_1 event.type=order.paid reason=store-failed
`,
			metrics: `
body.size reason=store-failed: 1, 48 By
deliveries http.response.status_code=503 reason=store-failed: 1
delivery.duration http.response.status_code=503 reason=store-failed: 1, 0 s
`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, tt.config, tt.receiver, tt.next)
				for _, r := range tt.send() {
					l.send(r)
				}
				assert.Equal(t, strings.TrimPrefix(tt.spans, "\n"), l.spans())
				assert.Equal(t, strings.TrimPrefix(tt.metrics, "\n"), l.measured(t))
			})
		})
	}
}

// No secret, signature, body, query or error text gets anywhere, and no ID into a metric.
func TestTellsNoSecret(t *testing.T) {
	store := failing{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{}), complete: errStore}
	l := newLab(t, otelwebhook.Config{EventTypes: []string{"order.paid"}}, webhookmw.Config{Store: store}, nil)
	r := signed("dlv_1", body)
	mac := r.Header.Get("Webhook-Signature")
	mac = mac[len(mac)-64:]
	l.send(r)
	spans := l.exporter.GetSpans()
	require.Len(t, spans, 1)
	assert.Empty(t, spans[0].Status.Description)
	told := l.spans() + l.measured(t)
	for _, s := range []string{secret, mac, "amount", "token", "db.example.com"} {
		assert.NotContains(t, told, s)
	}
	for _, s := range []string{"evt_1", "dlv_1"} {
		assert.NotContains(t, l.measured(t), s)
	}
}

// What the sender chose is cut off, between two characters.
func TestTextsAreBounded(t *testing.T) {
	typ := strings.Repeat("é", 1000)
	l := newLab(t, otelwebhook.Config{}, webhookmw.Config{}, nil)
	l.send(signed("dlv_1", `{"id":"evt_1","type":"`+typ+`"}`))
	assert.Equal(t, "delivery.id=dlv_1 event.id=evt_1 event.type="+strings.Repeat("é", 127)+" reason=accepted\n", l.spans())
}

// Without a span there are metrics, and without a Config there are the global ones.
func TestGlobalProvider(t *testing.T) {
	l := &lab{reader: metric.NewManualReader()}
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(l.reader)))
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Observe: otelwebhook.Observe(otelwebhook.Config{})})
	require.NoError(t, err)
	v.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), signed("dlv_1", body))
	assert.Contains(t, l.measured(t), "deliveries http.response.status_code=404 reason=handler-failed: 1\n")
}

// One observer serves many requests at once.
func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, otelwebhook.Config{EventTypes: []string{"order.paid"}}, webhookmw.Config{}, nil)
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() { l.send(signed(fmt.Sprint("dlv_", i), fmt.Sprintf(`{"id":"evt_%d","type":"order.paid"}`, i))) })
		}
		wg.Wait()
		assert.Len(t, l.exporter.GetSpans(), 50)
		assert.Contains(t, l.measured(t), "deliveries http.response.status_code=200 event.type=order.paid reason=accepted: 50\n")
	})
}
