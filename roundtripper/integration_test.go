package roundtripper_test

// A Transport where programs put it: under an http.Client, with the client's
// own timeout, redirects and cookies. HTTP/2 and the reverse proxy have files
// of their own.

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// flaky answers the first request for each method, path and body with 503 and
// gives the others to h.
func flaky(h http.Handler) http.Handler {
	seen := map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Method + r.URL.String(); !seen[key] {
			seen[key] = true
			io.Copy(io.Discard, r.Body)
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// A client's Timeout covers attempts, waits and body, wraps the body once more,
// and the report is found behind it.
func TestUnderClientWithTimeout(t *testing.T) {
	echo := flaky(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	for name, test := range map[string]struct {
		policy   roundtripper.Policy
		attempts int
		body     string
	}{
		"none":     {roundtripper.Policy{}, 1, "not now\n"},
		"Headless": {roundtripper.Headless(), 1, "not now\n"}, // which repeats GET alone
		"Standard": {roundtripper.Standard(), 2, "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, base := serveInMemory(t, echo)
				client := &http.Client{Transport: roundtripper.New(base, test.policy), Timeout: 5 * time.Second}
				defer client.CloseIdleConnections()
				req := newRequest(t, "PUT", "http://example.com/"+name, strings.NewReader("hello"))
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				report, ok := roundtripper.ReportFrom(resp)
				if !ok || len(report.Attempts) != test.attempts {
					t.Fatalf("report = %+v, %v, want %d attempts", report, ok, test.attempts)
				}
				time.Sleep(3 * time.Second)
				if got := drink(t, resp); got != test.body {
					t.Errorf("body = %q, want %q", got, test.body)
				}
				if d := n.dialed.Load(); d != 1 {
					t.Errorf("%d connections, want 1", d)
				}
				// A request without a body may go by a shorter way, which
				// leaves no trace behind a wrapper of the body if the policy
				// asks for nothing.
				resp2, err := client.Get("http://example.com/" + name + "/get")
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := roundtripper.ReportFrom(resp2); ok != (name != "none") {
					t.Errorf("report of a GET: %v", ok)
				}
				drink(t, resp2)
				// And once the call is long over.
				if again, ok := roundtripper.ReportFrom(resp); !ok || len(again.Attempts) != test.attempts {
					t.Errorf("later the report = %+v, %v", again, ok)
				}
			})
		})
	}
}

// The client's Timeout ends a call in an attempt, in a wait and in the body; it
// is a timeout to whoever asks the client's error.
func TestClientTimeoutEndsTheCall(t *testing.T) {
	hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, test := range map[string]struct {
		h     http.HandlerFunc
		after time.Duration
	}{
		"attempt": {hang, time.Second},
		"body": {func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "x")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, time.Second},
		// A wait of 3 s would outlast it: known at once, no sleep.
		"wait": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(503)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, base := serveInMemory(t, test.h)
				client := &http.Client{Transport: roundtripper.New(base, roundtripper.Headless()), Timeout: time.Second}
				start := time.Now()
				resp, err := client.Get(anyURL)
				if name == "wait" {
					report := outcome(t, resp, err)
					wantEnd(t, report, 1, roundtripper.ReasonDeadline)
					resp.Body.Close()
				} else {
					if err == nil {
						_, err = io.ReadAll(resp.Body)
						resp.Body.Close()
					}
					if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() {
						t.Errorf("error = %v, want a timeout", err)
					}
				}
				if d := time.Since(start); d != test.after {
					t.Errorf("it took %v, want %v", d, test.after)
				}
			})
		})
	}
}

// Each hop of a redirect is a call of its own, and its body is sent in every
// attempt of it.
func TestUnderClientWithRedirects(t *testing.T) {
	var log []string
	final := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/307":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/303":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		case "/end":
			data, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %q", r.Method, data)
		}
	})
	inner := flaky(final)
	srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log = append(log, r.Method+" "+r.URL.Path)
		inner.ServeHTTP(w, r)
	}))
	client := &http.Client{Transport: roundtripper.New(base, quick(roundtripper.Standard()))}
	for _, test := range []struct{ path, body, log string }{
		{"/307", `PUT "hello"`, "[PUT /307 PUT /307 PUT /end PUT /end]"},
		{"/303", `GET ""`, "[PUT /303 PUT /303 GET /end GET /end]"},
	} {
		log = nil
		resp, err := client.Do(newRequest(t, "PUT", srv.URL+test.path, strings.NewReader("hello")))
		wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK) // of the last hop
		if got := drink(t, resp); got != test.body || fmt.Sprint(log) != test.log {
			t.Errorf("%s: got %s by way of %v, want %s by way of %s", test.path, got, log, test.body, test.log)
		}
		if resp.Request.URL.Path != "/end" {
			t.Errorf("%s: Request.URL = %v", test.path, resp.Request.URL)
		}
	}
	// A relative Location is resolved, CheckRedirect is asked, an error of a
	// later hop comes back with the response before it.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return errOwn }
	if _, err := client.Get(srv.URL + "/307"); !errors.Is(err, errOwn) {
		t.Errorf("error = %v, want CheckRedirect's", err)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Get(srv.URL + "/307")
	outcome(t, resp, err)
	if resp.StatusCode != 307 {
		t.Errorf("status %d, want the redirect itself", resp.StatusCode)
	}
	resp.Body.Close()
}

// Cookies of the jar go with every attempt, and those of the final answer are
// kept.
func TestUnderClientWithCookieJar(t *testing.T) {
	var log []string
	inner := flaky(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "s1", Path: "/"})
			http.Redirect(w, r, "/home", http.StatusFound)
		}
	}))
	srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookie, _ := r.Cookie("session")
		log = append(log, fmt.Sprint(r.URL.Path, " ", cookie))
		inner.ServeHTTP(w, r)
	}))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: roundtripper.New(base, quick(roundtripper.Headless())), Jar: jar}
	resp, err := client.Get(srv.URL + "/login")
	outcome(t, resp, err)
	drink(t, resp)
	if want := "[/login  /login  /home session=s1 /home session=s1]"; fmt.Sprint(log) != want {
		t.Errorf("requests: %v, want %s", log, want)
	}
	u, _ := url.Parse(srv.URL)
	if c := jar.Cookies(u); len(c) != 1 || c[0].Value != "s1" {
		t.Errorf("the jar has %v", c)
	}
}

// What http.Client says of a failure leads to ours, and to the base's.
func TestErrorsThroughClient(t *testing.T) {
	base := baseFunc(func(*http.Request) (*http.Response, error) { return nil, errReset })
	client := &http.Client{Transport: roundtripper.New(base, quick(roundtripper.Headless()))}
	_, err := client.Get("http://user:secret@example.com/")
	e, ok := errors.AsType[*roundtripper.Error](err)
	if !ok || e.Reason != roundtripper.ReasonRetriesSpent || len(e.Report.Attempts) != 3 {
		t.Fatalf("error = %#v", err)
	}
	if !errors.Is(err, errReset) {
		t.Errorf("error = %v, want the base's in it", err)
	}
	if ue, ok := errors.AsType[*url.Error](err); !ok || ue.Timeout() {
		t.Errorf("Timeout() = true of %v", err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOwn)
	_, err = client.Do(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
	if !errors.Is(err, context.Canceled) || !errors.Is(err, errOwn) {
		t.Errorf("error = %v, want Canceled and its cause", err)
	}
}

// net/http's own decompression goes on beneath.
func TestCompressedBodies(t *testing.T) {
	srv, base := serveLoopback(t, flaky(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Accept-Encoding") != "gzip" {
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, `{"a":1}`)
		z.Close()
	})))
	for i, policy := range []roundtripper.Policy{quick(roundtripper.Headless()), quick(roundtripper.Standard()), quick(roundtripper.Transfer())} {
		client := &http.Client{Transport: roundtripper.New(base, policy)}
		resp, err := client.Get(fmt.Sprint(srv.URL, "/", i))
		wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
		if got := drink(t, resp); got != `{"a":1}` || !resp.Uncompressed {
			t.Errorf("got %q, Uncompressed = %v", got, resp.Uncompressed)
		}
	}
}

// Trailers of the response are there once its body has been read.
func TestResponseTrailers(t *testing.T) {
	srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Trailer", "X-Sum")
		io.WriteString(w, `{"a":1}`)
		w.Header().Set("X-Sum", "1")
	}))
	for name, policy := range map[string]roundtripper.Policy{"none": {}, "Headless": roundtripper.Headless(), "Standard": roundtripper.Standard()} {
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", srv.URL, nil))
		outcome(t, resp, err)
		drink(t, resp)
		if got := resp.Trailer.Get("X-Sum"); got != "1" {
			t.Errorf("%s: trailer = %q", name, got)
		}
	}
}
