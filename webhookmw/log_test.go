package webhookmw_test

// What is written to a log: a line for each request that needs one, at the level that it deserves, and nothing in it that
// is secret or without bound.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// journal is a logger, and what it has written.
type journal struct {
	*slog.Logger
	text bytes.Buffer
}

func newJournal() *journal {
	j := &journal{}
	j.Logger = slog.New(slog.NewJSONHandler(&j.text, nil))
	return j
}

// lines are what was written, without the time and what took how long.
func (j *journal) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(j.text.String()) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m), line)
		require.Contains(t, m, "elapsed")
		delete(m, "time")
		delete(m, "elapsed")
		lines = append(lines, m)
	}
	return lines
}

// Each reason has its level and its text.
func TestLogLevels(t *testing.T) {
	const none = slog.Level(-100)
	first := &webhookmw.Delivery{EventID: "evt_1"}
	for _, tt := range []struct {
		event webhookmw.Event
		level slog.Level
		text  string
	}{
		{webhookmw.Event{Reason: webhookmw.ReasonAccepted, Delivery: first}, none, ""},
		{webhookmw.Event{Reason: webhookmw.ReasonAccepted, Delivery: &webhookmw.Delivery{EventSeen: true}}, slog.LevelInfo, "delivery taken"},
		{webhookmw.Event{Reason: webhookmw.ReasonAccepted, Delivery: &webhookmw.Delivery{SignatureReused: true}}, slog.LevelWarn, "delivery taken"},
		{webhookmw.Event{Reason: webhookmw.ReasonAccepted, Delivery: &webhookmw.Delivery{EventSeen: true, SignatureReused: true}}, slog.LevelWarn, "delivery taken"},
		{webhookmw.Event{Reason: webhookmw.ReasonDuplicate, Delivery: &webhookmw.Delivery{Duplicate: true, EventSeen: true}}, slog.LevelInfo, "delivery was taken before"},
		{webhookmw.Event{Reason: webhookmw.ReasonFailed, Delivery: first}, slog.LevelWarn, "delivery not taken"},
		{webhookmw.Event{Reason: webhookmw.ReasonPanicked, Delivery: first}, slog.LevelError, "delivery not taken"},
		{webhookmw.Event{Reason: webhookmw.ReasonHijacked, Delivery: first}, slog.LevelError, "delivery not taken"},
		{webhookmw.Event{Reason: webhookmw.ReasonNotRecorded, Delivery: first}, slog.LevelError, "delivery taken but not recorded"},
		{webhookmw.Event{Reason: webhookmw.ReasonNotRecorded, Delivery: first, Status: 503}, slog.LevelError, "delivery not taken"},
		{webhookmw.Event{Reason: webhookmw.ReasonMethod}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonEncoding}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonTooLarge}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonNoSignature}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonNoTimestamp}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonRepeated}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonSignatures}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonSyntax}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonTimestamp}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonMilliseconds}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonStale}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonFuture}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonDeliveryID}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonBodyConsumed}, slog.LevelError, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonBodyBroken}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonSignature}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonNotUTF8}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonBOM}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonContract}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonInFlight, Delivery: first}, slog.LevelInfo, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonMismatch, Delivery: first}, slog.LevelWarn, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonStoreFull, Delivery: first}, slog.LevelError, "delivery refused"},
		{webhookmw.Event{Reason: webhookmw.ReasonStore, Delivery: first}, slog.LevelError, "delivery refused"},
	} {
		t.Run(string(tt.event.Reason), func(t *testing.T) {
			j := newJournal()
			tt.event.Request = httptest.NewRequest(http.MethodPost, "/hook", nil)
			webhookmw.Log(j.Logger)(tt.event)
			if tt.level == none {
				assert.Empty(t, j.text.String())
				return
			}
			lines := j.lines(t)
			require.Len(t, lines, 1)
			assert.Equal(t, tt.level.String(), lines[0]["level"])
			assert.Equal(t, tt.text, lines[0]["msg"])
			assert.Equal(t, string(tt.event.Reason), lines[0]["reason"])
			assert.NotContains(t, lines[0], "delivery") // none of them has an ID
		})
	}
}

// A line says what one looks for: which request, which delivery, what was wrong with it.
func TestLogTells(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		j := newJournal()
		v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Observe: webhookmw.Log(j.Logger)})
		require.NoError(t, err)
		status := http.StatusInternalServerError
		h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		send := func(r *http.Request) { h.ServeHTTP(httptest.NewRecorder(), r) }

		send(signed("dlv_1", plain)) // fails
		status = http.StatusNoContent
		send(signed("dlv_1", plain)) // is taken
		send(signed("dlv_1", plain))
		send(v1Only(signed("dlv_2", plain)))
		send(signed("dlv_1", `{"id":"evt_1","type":"order.void"}`))
		send(signedAt(time.Now().Add(-time.Hour), "dlv_3", plain))
		send(httptest.NewRequest(http.MethodGet, "/", nil))

		want := []map[string]any{
			{"level": "WARN", "msg": "delivery not taken", "reason": "handler-failed", "status": 500.0, "path": "/hook",
				"event": "evt_1", "type": "order.paid", "delivery": "dlv_1"},
			{"level": "INFO", "msg": "delivery was taken before", "reason": "duplicate", "status": 200.0, "path": "/hook",
				"event": "evt_1", "type": "order.paid", "delivery": "dlv_1"},
			{"level": "WARN", "msg": "delivery taken", "reason": "accepted", "status": 204.0, "path": "/hook",
				"event": "evt_1", "type": "order.paid", "delivery": "dlv_2", "event_seen": true, "signature_reused": true},
			{"level": "WARN", "msg": "delivery refused", "reason": "mismatch", "status": 422.0, "path": "/hook",
				"event": "evt_1", "type": "order.void", "delivery": "dlv_1", "event_seen": true,
				"error": "the same delivery of the same event came before with another body"},
			{"level": "WARN", "msg": "delivery refused", "reason": "timestamp-stale", "status": 401.0, "path": "/hook",
				"error": "timestamp 1h0m0s behind this clock, 5m0s allowed"},
			{"level": "INFO", "msg": "delivery refused", "reason": "method", "status": 405.0, "path": "/", "error": "method is not POST"},
		}
		assert.Equal(t, want, j.lines(t))
	})
}

// Nothing secret is written: neither of the request nor of an error that quotes a URL, however it stands there.
func TestLogRedacts(t *testing.T) {
	const leak = "S3CRET"
	target := "https://user:" + leak + "@store.example.com/claims?token=" + leak + "#" + leak
	for name, failure := range map[string]error{
		"URL error":     &url.Error{Op: "Put", URL: target, Err: io.EOF},
		"wrapped":       fmt.Errorf("store: %w", &url.Error{Op: "Put", URL: target, Err: io.EOF}),
		"two of them":   errors.Join(&url.Error{Op: "Put", URL: target, Err: io.EOF}, &url.Error{Op: "Get", URL: target, Err: io.EOF}),
		"no type":       errors.New("can't reach " + target + " (EOF)"),
		"at the end":    errors.New(target),
		"odd scheme":    errors.New("dial redis+tls.v2://user:" + leak + "@db: refused"),
		"no scheme":     errors.New("://user:" + leak + "@db"),
		"not parseable": &url.Error{Op: "parse", URL: "https://user:" + leak + "@exa mple.com/\"%zz?token=" + leak, Err: errors.New("bad")},
		"backslash":     errors.New(`"https://user\" ` + leak + `@db/\\" EOF`),
		"cut short":     errors.New(`EOF "https://` + leak + `\`),
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal()
			store := &flaky{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{}), claim: failure}
			v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Store: store, Observe: webhookmw.Log(j.Logger)})
			require.NoError(t, err)
			r := signed("dlv_1", `{"id":"evt_1","type":"order.paid","card":"`+leak+`"}`)
			r.URL, err = url.Parse("https://user:" + leak + "@receiver.example.com/hook?token=" + leak + "#" + leak)
			require.NoError(t, err)
			r.Header.Set("Authorization", leak)
			signature := r.Header.Get("Webhook-Signature")
			v.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
			text := j.text.String()
			lines := j.lines(t)
			require.Len(t, lines, 1)
			assert.Equal(t, "/hook", lines[0]["path"])
			assert.Contains(t, lines[0]["error"], "[URL]")
			assert.NotContains(t, text, leak)
			assert.NotContains(t, text, secret)
			assert.NotContains(t, text, signature[len(signature)-64:])
		})
	}
}

// What is around a URL in an error is still there.
func TestLogKeepsTheRestOfAnError(t *testing.T) {
	for text, want := range map[string]string{
		`Put "https://a.example.com/?b=c": EOF`:         `Put "[URL]": EOF`,
		"no a://b c\thttps://d\ne":                      "no [URL] c\t[URL]\ne",
		"dial tcp 10.0.0.1:5432: refused":               "dial tcp 10.0.0.1:5432: refused",
		`parse "a://b:c": invalid port ":c" after host`: `parse "[URL]": invalid port`,
		`x "a://b" y "c://d\"e" z`:                      `x "[URL]" y "[URL]" z`,
		"lease of evt_1:// taken":                       "lease of evt_[URL] taken",
		strings.Repeat("é", 300):                        strings.Repeat("é", 128) + "…",
		"a" + strings.Repeat("é", 300):                  "a" + strings.Repeat("é", 127) + "…",
		strings.Repeat("x", 256):                        strings.Repeat("x", 256),
		strings.Repeat("x", 257):                        strings.Repeat("x", 256) + "…",
		strings.Repeat("x", 240) + " https://y.zz":      strings.Repeat("x", 240) + " [URL]",
	} {
		j := newJournal()
		webhookmw.Log(j.Logger)(webhookmw.Event{
			Request: httptest.NewRequest(http.MethodPost, "/", nil), Reason: webhookmw.ReasonStore, Err: errors.New(text)})
		assert.Equal(t, want, j.lines(t)[0]["error"])
	}
}

// Whatever an error says, no URL of it is written, and no more than the bound.
func FuzzLogError(f *testing.F) {
	for _, text := range []string{"", "://", `Put "https://u:p@h/?q=\"x\"": EOF`, "a://b://c d://", `"a://\`, "é://é \xff://"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j := newJournal()
		webhookmw.Log(j.Logger)(webhookmw.Event{
			Request: httptest.NewRequest(http.MethodPost, "/", nil), Reason: webhookmw.ReasonStore, Err: errors.New(text)})
		got := j.lines(t)[0]["error"].(string)
		assert.NotContains(t, got, "://")
		assert.LessOrEqual(t, len([]rune(got)), 257)
		if !strings.Contains(text, "://") && len(text) <= 256 && utf8.ValidString(text) {
			assert.Equal(t, text, got)
		}
	})
}

// Whoever sends a megabyte in a path or in an event gets none of it into the log.
func TestLogIsBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	j := newJournal()
	v, err := webhookmw.New(webhookmw.Config{
		Secrets:  []string{secret},
		Contract: func([]byte) (id, typ string, err error) { return long, long, nil },
		Observe:  webhookmw.Log(j.Logger),
	})
	require.NoError(t, err)
	r := signed("dlv_1", "{}")
	r.URL.Path = "/" + long
	v.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	r = httptest.NewRequest(long, "/"+long, nil)
	r.Header.Set("Webhook-Signature", long)
	v.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	require.Len(t, j.lines(t), 2)
	assert.Less(t, j.text.Len(), 2000)
}

// asking is a slog.Handler that looks into the context.
type asking struct {
	slog.Handler
	key   any
	found []any
}

func (a *asking) Handle(ctx context.Context, r slog.Record) error {
	a.found = append(a.found, ctx.Value(a.key))
	return a.Handler.Handle(ctx, r)
}

// A handler that adds what the request's context holds, a trace, say, finds it; one that wants less gets less.
func TestLogUsesTheLogger(t *testing.T) {
	type key struct{}
	h := &asking{Handler: slog.DiscardHandler, key: key{}}
	e := webhookmw.Event{
		Request: httptest.NewRequest(http.MethodPost, "/", nil).WithContext(context.WithValue(t.Context(), key{}, "trace")),
		Reason:  webhookmw.ReasonMethod,
	}
	webhookmw.Log(slog.New(h))(e)
	assert.Empty(t, h.found)
	h.Handler = slog.NewTextHandler(io.Discard, nil)
	webhookmw.Log(slog.New(h))(e)
	assert.Equal(t, []any{"trace"}, h.found)
	h.Handler = slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelWarn})
	webhookmw.Log(slog.New(h))(e)
	assert.Len(t, h.found, 1)
}
