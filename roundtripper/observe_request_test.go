package roundtripper_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
)

// Every event names the request that the call is for, also where nothing of it was sent: a breaker refuses it.
func TestEventRequest(t *testing.T) {
	var lines bytes.Buffer
	log := roundtripper.Log(slog.New(slog.NewTextHandler(&lines, nil)))
	p := now()
	p.MaxRetries, p.Breaker = 0, breaker.PerHost(breaker.Config{Consecutive: 1})
	var seen []*http.Request
	p.Observe = func(e roundtripper.Event) {
		seen = append(seen, e.Request)
		log(e)
	}
	transport := roundtripper.New(answers(503), p)
	get := func() *http.Request {
		req, _ := http.NewRequest(http.MethodGet, "http://user:hush@api.example.com/things?hush", nil)
		if resp, err := transport.RoundTrip(req); err == nil {
			resp.Body.Close()
		}
		return req
	}
	get()
	seen = nil
	lines.Reset()
	refused := get()
	require.Equal(t, []*http.Request{refused}, seen)
	require.Contains(t, lines.String(), "method=GET url=http://api.example.com/things reason=breaker-open")
	require.NotContains(t, lines.String(), "hush")
}
