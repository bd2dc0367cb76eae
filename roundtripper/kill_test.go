package roundtripper_test

// A real server that kills connections, at each stage of an exchange: what
// becomes of a read, of a write, of a write with a key and of an idempotent
// write under Standard().

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"syscall"
	"testing"

	"github.com/rebound-go/rebound/roundtripper"
)

// kinds are the requests, by what allows them to be sent again.
var kinds = []struct {
	name, method, key string
	repeatable        bool
}{
	{"GET", "GET", "", true},
	{"POST", "POST", "", false},
	{"POST with a key", "POST", "k1", true},
	{"PUT", "PUT", "", true},
}

func killRequest(t *testing.T, method, key, url string) *http.Request {
	t.Helper()
	var body io.Reader
	if method != "GET" {
		body = bytes.NewReader(killBody)
	}
	req := newRequest(t, method, url, body)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return req
}

// A connection that dies before there is an answer: what may be repeated is,
// and a plain POST never is, for it may have arrived.
func TestConnectionKilledBeforeTheAnswer(t *testing.T) {
	for _, at := range []stage{afterAccept, afterLine, afterHeaders, midBody, afterRequest, midHeaders, midJSON} {
		for _, kills := range []int{1, 3, 100} {
			for _, kind := range kinds {
				if kind.method == "GET" && at == midBody {
					continue
				}
				t.Run(fmt.Sprintf("%s/kills=%d/%s", at, kills, kind.name), func(t *testing.T) {
					srv := newKiller(t, at, kills)
					base := &http.Transport{}
					defer base.CloseIdleConnections()
					req := killRequest(t, kind.method, kind.key, "http://"+srv.Addr().String())
					resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
					report := outcome(t, resp, err)
					attempts, stop := kills+1, roundtripper.ReasonOK
					if kills > 3 {
						attempts, stop = 4, roundtripper.ReasonRetriesSpent
					}
					if !kind.repeatable {
						attempts, stop = 1, roundtripper.ReasonNotRepeatable
					}
					wantEnd(t, report, attempts, stop)
					if (stop == roundtripper.ReasonOK) != (err == nil) {
						t.Fatalf("error = %v", err)
					}
					if err == nil {
						if got := drink(t, resp); got != "OK" {
							t.Errorf("got %q", got)
						}
					}
					for i, a := range report.Attempts {
						if a.Err != nil && (!a.Sent || a.Verdict.Reason != roundtripper.ReasonNetwork || !a.Verdict.Retry) {
							t.Errorf("attempt %d: %+v, want sent, and a failure of the network that may heal", i+1, a)
						}
					}
					base.CloseIdleConnections()
					srv.mu.Lock()
					defer srv.mu.Unlock()
					if len(srv.conns) != attempts {
						t.Errorf("%d connections, want one for each of %d attempts", len(srv.conns), attempts)
					}
					if err == nil && srv.whole == 0 {
						t.Error("the request never arrived whole")
					}
					for _, key := range srv.keys {
						if key != kind.key {
							t.Errorf("a request carried the key %q, want %q", key, kind.key)
						}
					}
				})
			}
		}
	}
}

// A connection that never was: nothing left, so any method is repeated
// (golang/go#44844, #15723).
func TestConnectionKilledBeforeItIsOne(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(echoLength))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(echoLength))
	defer secure.Close()

	for _, at := range []stage{refused, handshake, proxyConnect} {
		for _, kills := range []int{2, 100} {
			for _, kind := range kinds {
				t.Run(fmt.Sprintf("%s/kills=%d/%s", at, kills, kind.name), func(t *testing.T) {
					base := secure.Client().Transport.(*http.Transport).Clone()
					defer base.CloseIdleConnections()
					target, calls := secure.URL, 0
					bad := func() bool { calls++; return calls <= kills }
					dialer := &net.Dialer{}
					switch at {
					case refused:
						target = plain.URL
						nobody := dead(t)
						base.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
							if bad() {
								addr = nobody
							}
							return dialer.DialContext(ctx, network, addr)
						}
					case handshake:
						srv := newKiller(t, at, 100)
						base.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
							if bad() {
								addr = srv.Addr().String()
							}
							return dialer.DialContext(ctx, network, addr)
						}
					case proxyConnect:
						srv := newKiller(t, at, 100)
						base.DialContext = nil
						base.Proxy = func(*http.Request) (*url.URL, error) {
							if bad() {
								return &url.URL{Scheme: "http", Host: srv.Addr().String()}, nil
							}
							return nil, nil
						}
					}
					req := killRequest(t, kind.method, kind.key, target)
					body := &probe{src: bytes.NewReader(killBody)}
					if kind.method != "GET" { // not a copy of it exists
						req.Body, req.GetBody = body, nil
					}
					resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
					report := outcome(t, resp, err)
					attempts, stop := 3, roundtripper.ReasonOK
					if kills > 3 {
						attempts, stop = 4, roundtripper.ReasonRetriesSpent
					}
					wantEnd(t, report, attempts, stop)
					if err == nil {
						want := "0"
						if kind.method != "GET" {
							want = strconv.Itoa(killSize)
						}
						if got := drink(t, resp); got != want {
							t.Errorf("the server got %s bytes, want %s", got, want)
						}
					} else if at == refused && !errors.Is(err, syscall.ECONNREFUSED) {
						t.Errorf("error = %v, want ECONNREFUSED in it", err)
					}
					for i, a := range report.Attempts {
						if a.Err != nil && (a.Sent || a.Verdict.Reason != roundtripper.ReasonNetwork) {
							t.Errorf("attempt %d: %+v, want a failure of the network before anything was sent", i+1, a)
						}
					}
					if kind.method != "GET" {
						body.check(t, "body")
					}
				})
			}
		}
	}
}

func echoLength(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	fmt.Fprint(w, n)
}

// A text that is cut is in the caller's hands by then: one attempt, and the
// error is Read's, for every method.
func TestConnectionKilledAmidTheText(t *testing.T) {
	for _, kind := range kinds {
		srv := newKiller(t, midText, 1)
		base := &http.Transport{}
		req := killRequest(t, kind.method, kind.key, "http://"+srv.Addr().String())
		resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonOK)
		if data, err := io.ReadAll(resp.Body); string(data) != "half" || err != io.ErrUnexpectedEOF {
			t.Errorf("%s: read %q, then %v", kind.name, data, err)
		}
		resp.Body.Close()
		base.CloseIdleConnections()
	}
}

// Once the answer is there the connection may die: the call is done, and the
// next one finds another.
func TestConnectionKilledAfterTheAnswer(t *testing.T) {
	for _, kind := range kinds {
		srv := newKiller(t, afterResponse, 1)
		base := &http.Transport{}
		tr := roundtripper.New(base, quick(roundtripper.Standard()))
		target := "http://" + srv.Addr().String()
		resp, err := tr.RoundTrip(killRequest(t, kind.method, kind.key, target))
		wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonOK)
		if got := drink(t, resp); got != "OK" {
			t.Errorf("%s: got %q", kind.name, got)
		}
		if kind.repeatable { // a plain POST might meet the dying connection
			resp, err = tr.RoundTrip(killRequest(t, kind.method, kind.key, target))
			if report := outcome(t, resp, err); report.Stop != roundtripper.ReasonOK || drink(t, resp) != "OK" {
				t.Errorf("%s: the next call: %+v", kind.name, report)
			}
		}
		base.CloseIdleConnections()
	}
}
