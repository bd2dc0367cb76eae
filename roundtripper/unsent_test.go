package roundtripper_test

// This file tests with real sockets whether anything of a request left: a write
// without a key is repeated only if nothing did (golang/go#44844, #15723).

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rebound-go/rebound/roundtripper"
)

// Each of these breaks before there is a connection to write the request to.
func TestNothingLeft(t *testing.T) {
	nobody := twNobody(t)
	for _, tc := range []struct {
		name string
		url  string
		base *http.Transport
	}{
		{"dial refused", "http://" + nobody, &http.Transport{}},
		{"DNS failure", "http://nowhere.invalid/", &http.Transport{DialContext: (&net.Dialer{Resolver: &net.Resolver{
			PreferGo: true,
			Dial:     func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no resolver") },
		}}).DialContext}},
		{"proxy refused, http", "http://example.com/", &http.Transport{Proxy: twProxy(nobody)}},
		{"proxy refused, https", "https://example.com/", &http.Transport{Proxy: twProxy(nobody)}},
		{"proxy will not connect", "https://example.com/", &http.Transport{Proxy: twProxy(twServe(t, func(c net.Conn) {
			http.ReadRequest(bufio.NewReader(c))
			io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		}))}},
		{"TLS handshake cut", "https://" + twServe(t, func(c net.Conn) {
			c.Read(make([]byte, 1))
		}), &http.Transport{}},
		{"TLS handshake reset", "https://" + twServe(t, func(c net.Conn) {
			c.Read(make([]byte, 1))
			c.(*net.TCPConn).SetLinger(0)
		}), &http.Transport{}},
		{"TLS handshake timeout", "https://" + twServe(t, func(c net.Conn) {
			io.Copy(io.Discard, c)
		}), &http.Transport{TLSHandshakeTimeout: 5 * twTick}},
		{"TLS alert", "https://" + twServe(t, func(c net.Conn) {
			c.Read(make([]byte, 1024))
			c.Write([]byte{21, 3, 3, 0, 2, 2, 40}) // fatal: handshake failure
		}), &http.Transport{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer tc.base.CloseIdleConnections()
			p := twAtOnce()
			p.MaxRetries = 2
			for _, method := range []string{"POST", "GET"} {
				req, err := http.NewRequest(method, tc.url, strings.NewReader("order"))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := twDo(t, tc.base, p, req)
				r := twReport(t, resp, err)
				if len(r.Attempts) != 3 || r.Stop != roundtripper.ReasonRetriesSpent {
					t.Errorf("%s: %d attempts, stop %q: %v", method, len(r.Attempts), r.Stop, err)
				}
				for _, a := range r.Attempts {
					if a.Sent || a.Verdict.Reason != roundtripper.ReasonNetwork {
						t.Errorf("%s: Sent %v, verdict %+v: %v", method, a.Sent, a.Verdict, a.Err)
					}
				}
			}
		})
	}
}

// A dial error of a second hop proves nothing: the request had arrived.
func TestDialErrorOfALaterHop(t *testing.T) {
	var got atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got.Add(1) }))
	defer srv.Close()
	nobody := twNobody(t)
	real := &http.Transport{}
	defer real.CloseIdleConnections()
	base := twFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := real.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		next, _ := http.NewRequestWithContext(req.Context(), "GET", "http://"+nobody, nil)
		return real.RoundTrip(next)
	})
	req, _ := http.NewRequest("POST", srv.URL, strings.NewReader("order"))
	resp, err := twDo(t, base, twAtOnce(), req)
	if r := twReport(t, resp, err); len(r.Attempts) != 1 || !r.Attempts[0].Sent || got.Load() != 1 {
		t.Errorf("the order arrived %d times: %+v", got.Load(), r)
	}
}

// Nor does that of a protocol registered with an http.Transport, which asks for
// no connection of the transport's and reads the body without anybody looking on.
func TestDialErrorOfARegisteredProtocol(t *testing.T) {
	for _, scheme := range []string{"http", "relay"} {
		var got []string
		base := &http.Transport{}
		base.RegisterProtocol(scheme, twFunc(func(req *http.Request) (*http.Response, error) {
			got = append(got, take(req))
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no next hop")}
		}))
		req, _ := http.NewRequest("POST", scheme+"://example.com/", strings.NewReader("order"))
		resp, err := twDo(t, base, twAtOnce(), req)
		if r := twReport(t, resp, err); len(r.Attempts) != 1 || !r.Attempts[0].Sent || len(got) != 1 {
			t.Errorf("%s: %d attempts, and what arrived was %q: %v", scheme, len(r.Attempts), got, err)
		}
	}
}

// The same where it asks an http.Transport for its next hop, so that there is a
// trace of that one alone.
func TestDialErrorBehindARegisteredProtocol(t *testing.T) {
	nobody := twNobody(t)
	next := &http.Transport{}
	defer next.CloseIdleConnections()
	var got []string
	base := &http.Transport{}
	base.RegisterProtocol("relay", twFunc(func(req *http.Request) (*http.Response, error) {
		got = append(got, take(req))
		hop, _ := http.NewRequestWithContext(req.Context(), "GET", "http://"+nobody, nil)
		return next.RoundTrip(hop)
	}))
	req, _ := http.NewRequest("POST", "relay://example.com/", strings.NewReader("order"))
	resp, err := twDo(t, base, twAtOnce(), req)
	if r := twReport(t, resp, err); len(r.Attempts) != 1 || !r.Attempts[0].Sent || len(got) != 1 {
		t.Errorf("%d attempts, and what arrived was %q: %v", len(r.Attempts), got, err)
	}
}

// twServe serves each connection with f, and closes it then.
func twServe(t *testing.T, f func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				f(c)
			}()
		}
	}()
	return l.Addr().String()
}

// twNobody is an address at which nobody listens.
func twNobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func twProxy(addr string) func(*http.Request) (*url.URL, error) {
	return http.ProxyURL(&url.URL{Scheme: "http", Host: addr})
}
