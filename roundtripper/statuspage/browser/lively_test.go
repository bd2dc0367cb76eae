package browser_test

// The program whose page is looked at: real calls to servers that fail in many ways, real deliveries to a receiver.

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
	"github.com/rebound-go/rebound/roundtripper/statuspage"
	"github.com/rebound-go/rebound/webhookmw"
)

const secret = "rehearsal-secret-0123456789abcdef"

// lively serves the page of a program in which everything has happened that the page can show. Two of its calls are in
// flight until the test ends: one waits for an answer, one for the network.
func lively(t *testing.T) (pageURL string) {
	hosts := breaker.PerHost(breaker.Config{Consecutive: 3})
	retries := budget.New(budget.Config{PerHost: true})
	network := offline.New(offline.Config{})
	page := statuspage.New(statuspage.Config{Breaker: hosts, Budget: retries, Offline: network})
	mux := http.NewServeMux()
	mux.Handle("/debug/rebound", page)
	mux.Handle("/hooks/orders", receiver(t, page))
	admin := serve(t, mux)

	policy := roundtripper.Standard()
	policy.Backoff = backoff.Exponential(30*time.Millisecond, time.Second)
	policy.RequestIDHeader = "X-Request-Id"
	policy.SlowAfter = 50 * time.Millisecond
	policy.AttemptTimeout = 150 * time.Millisecond
	policy.Breaker, policy.Budget, policy.Offline = hosts, retries, network
	policy.Observe = page.ObserveCall

	deliver(t, admin+"/hooks/orders")
	calls(t, policy)
	loseNetwork(t, policy)
	return admin + "/debug/rebound"
}

// serve runs h until the test ends.
func serve(t *testing.T, h http.Handler) string {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// flaky answers each path in its own way.
func flaky() http.Handler {
	var mu sync.Mutex
	asked := make(map[string]int)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		first := asked[r.URL.Path] == 1
		mu.Unlock()
		time.Sleep(3 * time.Millisecond) // so that there is a bar to see
		switch {
		case r.URL.Path == "/v1/report" && first:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/v1/slow" && first:
			<-r.Context().Done()
		case r.URL.Path == "/v1/missing":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/v1/charges":
			w.WriteHeader(http.StatusBadGateway)
		}
		io.WriteString(w, `{}`)
	})
}

func calls(t *testing.T, policy roundtripper.Policy) {
	good := serve(t, flaky())
	dead := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	client := &http.Client{Transport: roundtripper.New(&http.Transport{}, policy)}
	do := func(method, target string) {
		req, err := http.NewRequestWithContext(t.Context(), method, target, nil)
		require.NoError(t, err)
		if resp, err := client.Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	for range 3 {
		do("GET", good+"/v1/orders?token=not-for-the-page")
	}
	do("GET", good+"/v1/report")
	do("GET", good+"/v1/slow")
	do("GET", good+"/v1/missing")
	do("POST", good+"/v1/charges")
	do("PUT", good+`/v1/<script>alert("x")</script>/`+strings.Repeat("a-path-of-many-words-", 12))
	do("GET", strings.Replace(dead, "http://", "http://user:not-for-the-page@", 1)+"/v1/balance")
	do("GET", dead+"/v1/balance") // refused by the breaker

	policy.AttemptTimeout, policy.TotalTimeout = 0, 0
	flying(t, &http.Transport{}, policy, roundtripper.StateSending, hang(t)+"/v1/stream")
}

// flying begins a call that goes on until the test ends, and returns once it is in that state.
func flying(t *testing.T, base *http.Transport, policy roundtripper.Policy, state roundtripper.State, target string) {
	reached := make(chan struct{})
	var once sync.Once
	observe := policy.Observe
	policy.Observe = func(e roundtripper.Event) {
		observe(e)
		if e.State == state {
			once.Do(func() { close(reached) })
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", target, nil)
	require.NoError(t, err)
	client := &http.Client{Transport: roundtripper.New(base, policy)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	<-reached
}

// hang is a server that takes connections and never answers.
func hang(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String()
}

// loseNetwork makes a call that finds no path until the gate is closed, and waits at it.
func loseNetwork(t *testing.T, policy roundtripper.Policy) {
	none := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH}
	}}
	policy.TotalTimeout = 0
	flying(t, none, policy, roundtripper.StateOffline, "https://api.example.com/v1/profile")
	require.True(t, policy.Offline.Offline())
}

// receiver takes deliveries, but for those that say otherwise.
func receiver(t *testing.T, page *statuspage.Page) http.Handler {
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Observe: page.ObserveDelivery})
	require.NoError(t, err)
	return v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d, _ := webhookmw.FromContext(r.Context()); d.Type == "order.broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
}

func deliver(t *testing.T, target string) {
	send := func(key, id, body string, at time.Time) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", target, bytes.NewReader([]byte(body)))
		require.NoError(t, err)
		webhookmw.Sign(req.Header, key, id, at, []byte(body))
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
	}
	now := time.Now()
	send(secret, "dlv_7Q2M", `{"id":"evt_41","type":"order.paid"}`, now)
	send(secret, "dlv_7Q2M", `{"id":"evt_41","type":"order.paid"}`, now)
	send(secret, "dlv_7Q2N", `{"id":"evt_42","type":"order.broken"}`, now)
	send("another-secret-0123456789abcdef", "dlv_7Q2P", `{"id":"evt_43","type":"order.paid"}`, now)
	send(secret, "dlv_7Q2R", `{"id":"evt_44","type":"order.shipped"}`, now.Add(-time.Hour))
	send(secret, "dlv_"+strings.Repeat("x", 200), `{"id":"<script>alert(1)</script>","type":"order.refunded"}`, now)
}
