package roundtripper_test

// A Transport under httputil.ReverseProxy, which sends requests whose bodies
// come from another connection, cares for 1xx and trailers, and takes a 101
// apart.

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// serveProxy runs a proxy in front of backend, with a Transport of ours between
// them, and gives the networks of both and a transport to the proxy.
func serveProxy(t testing.TB, policy roundtripper.Policy, backend http.HandlerFunc) (front, back *network, to *http.Transport) {
	back, base := serveInMemory(t, backend)
	target := &url.URL{Scheme: "http", Host: "backend.example"}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     roundtripper.New(base, policy),
		FlushInterval: -1,
		ErrorLog:      quiet(),
	}
	front, to = serveInMemory(t, proxy)
	return front, back, to
}

func TestUnderReverseProxy(t *testing.T) {
	for _, test := range []struct {
		method   string
		body     string
		buffer   int64
		requests int
		status   int
	}{
		{"GET", "", 0, 3, 200},
		{"PUT", "hello", 100, 3, 200},
		{"PUT", "hello", 4, 1, 503}, // the proxy's body can be read once
		{"PUT", "", 0, 3, 200},      // none at all
		{"POST", "hello", 100, 1, 503},
		{"DELETE", "", 0, 3, 200},
	} {
		t.Run(fmt.Sprintf("%s %q/buffer=%d", test.method, test.body, test.buffer), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := roundtripper.Standard()
				policy.ReplayBuffer = test.buffer
				requests := 0
				front, back, to := serveProxy(t, policy, func(w http.ResponseWriter, r *http.Request) {
					requests++
					data, err := io.ReadAll(r.Body)
					if string(data) != test.body || err != nil || r.Method != test.method {
						t.Errorf("request %d: %s %q, %v", requests, r.Method, data, err)
					}
					if requests < 3 {
						http.Error(w, "not now", http.StatusServiceUnavailable)
						return
					}
					io.WriteString(w, "ok")
				})
				var body io.Reader
				if test.body != "" {
					body = strings.NewReader(test.body)
				}
				resp, err := to.RoundTrip(newRequest(t, test.method, "http://proxy.example/", body))
				if err != nil {
					t.Fatal(err)
				}
				want := map[int]string{200: "ok", 503: "not now\n"}[test.status]
				if got := drink(t, resp); resp.StatusCode != test.status || got != want || requests != test.requests {
					t.Errorf("status %d, %q after %d requests, want %d, %q, %d", resp.StatusCode, got, requests, test.status, want, test.requests)
				}
				if front.dialed.Load() != 1 || back.dialed.Load() != 1 {
					t.Errorf("%d and %d connections, want 1 and 1", front.dialed.Load(), back.dialed.Load())
				}
			})
		})
	}
}

// What streams, streams: each piece comes through when it is sent, and so do
// trailers and early hints.
func TestReverseProxyStreams(t *testing.T) {
	for name, policy := range map[string]roundtripper.Policy{"none": {}, "Standard": roundtripper.Standard(), "Transfer": roundtripper.Transfer()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, to := serveProxy(t, policy, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Link", "</style.css>")
					w.WriteHeader(http.StatusEarlyHints)
					w.Header().Set("Content-Type", "text/event-stream")
					w.Header().Set("Trailer", "X-Sum")
					for range 4 {
						io.WriteString(w, "data: x\n")
						http.NewResponseController(w).Flush()
						time.Sleep(time.Second)
					}
					w.Header().Set("X-Sum", "4")
				})
				hints := 0
				ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
					Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { hints++; return nil },
				})
				resp, err := to.RoundTrip(newRequest(t, "GET", "http://proxy.example/", nil).WithContext(ctx))
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				var at []time.Duration
				for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
					at = append(at, time.Since(start))
				}
				resp.Body.Close()
				if want := "[0s 1s 2s 3s]"; fmt.Sprint(at) != want {
					t.Errorf("pieces came at %v, want %s", at, want)
				}
				if got := resp.Trailer.Get("X-Sum"); got != "4" || hints != 1 {
					t.Errorf("trailer %q, %d early hints, want 4 and 1", got, hints)
				}
			})
		})
	}
}

// A fault elsewhere: an upgrade does not survive the wrapper
// (open-telemetry/opentelemetry-go-contrib#1329). Both sides talk for an hour
// over it, whatever timeouts the policy has.
func TestReverseProxyUpgrade(t *testing.T) {
	idle := roundtripper.Standard()
	idle.IdleTimeout = time.Second
	for name, policy := range map[string]roundtripper.Policy{
		"none": {}, "Headless": roundtripper.Headless(), "Standard": roundtripper.Standard(), "Transfer": roundtripper.Transfer(), "idle": idle,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, back, to := serveProxy(t, policy, func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Upgrade") != "echo" {
						t.Errorf("header = %v", r.Header)
					}
					w.Header().Set("Connection", "Upgrade")
					w.Header().Set("Upgrade", "echo")
					w.WriteHeader(101)
					conn, rw, err := http.NewResponseController(w).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					defer conn.Close()
					for {
						line, err := rw.ReadString('\n')
						if err != nil {
							return
						}
						io.WriteString(conn, strings.ToUpper(line))
					}
				})
				req := newRequest(t, "GET", "http://proxy.example/", nil)
				req.Header.Set("Connection", "Upgrade")
				req.Header.Set("Upgrade", "echo")
				resp, err := to.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != 101 {
					t.Fatalf("status %d", resp.StatusCode)
				}
				conn := resp.Body.(io.ReadWriteCloser)
				defer conn.Close()
				in := bufio.NewReader(conn)
				for i := range 3 {
					fmt.Fprintf(conn, "hello %d\n", i)
					if got, err := in.ReadString('\n'); got != fmt.Sprintf("HELLO %d\n", i) || err != nil {
						t.Fatalf("echo %d = %q, %v", i, got, err)
					}
					time.Sleep(20 * time.Minute)
				}
				if n := back.dialed.Load(); n != 1 {
					t.Errorf("%d connections to the backend, want 1", n)
				}
			})
		})
	}
}

// A client that goes away takes the call with it: the backend hears of it, and
// nothing is sent again.
func TestReverseProxyClientGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var ended []time.Duration
		front, _, _ := serveProxy(t, roundtripper.Standard(), func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			ended = append(ended, time.Since(start))
		})
		conn, err := front.dial()
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: proxy.example\r\n\r\n")
		time.Sleep(time.Second)
		conn.Close()
		time.Sleep(time.Minute)
		synctest.Wait()
		if fmt.Sprint(ended) != "[1s]" {
			t.Errorf("requests at the backend ended at %v, want one, at 1 s", ended)
		}
	})
}
