package roundtripper_test

// The contract of http.RoundTripper, and what becomes of a base that breaks it.

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rebound-go/rebound/roundtripper"
)

// A fault elsewhere: a certificate that does not verify is retried, since its error is
// matched by text or by a type that changed (hashicorp/go-retryablehttp#176,
// #201, #210). Nothing but one look at the server, through http.Client too.
func TestCertificateErrorsAreFinal(t *testing.T) {
	var handshakes, requests atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	srv.Config.ErrorLog = quiet()
	srv.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		handshakes.Add(1)
		return nil, nil
	}}
	srv.StartTLS()
	defer srv.Close()
	known := x509.NewCertPool()
	known.AddCert(srv.Certificate())

	for _, test := range []struct {
		name   string
		config *tls.Config
		is     func(error) bool
	}{
		{"unknown authority", &tls.Config{RootCAs: x509.NewCertPool()}, isType[x509.UnknownAuthorityError]},
		{"another name", &tls.Config{RootCAs: known, ServerName: "elsewhere.invalid"}, isType[x509.HostnameError]},
		{"refused by the caller", &tls.Config{RootCAs: known, ServerName: "example.com",
			VerifyPeerCertificate: func([][]byte, [][]*x509.Certificate) error {
				return &tls.CertificateVerificationError{Err: errOwn}
			}}, func(err error) bool { return errors.Is(err, errOwn) }},
	} {
		for name, policy := range map[string]roundtripper.Policy{
			"Headless": quick(roundtripper.Headless()), "Standard": quick(roundtripper.Standard()), "Transfer": quick(roundtripper.Transfer()),
		} {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				base := &http.Transport{TLSClientConfig: test.config}
				defer base.CloseIdleConnections()
				tr := roundtripper.New(base, policy)

				handshakes.Store(0)
				resp, err := tr.RoundTrip(newRequest(t, "GET", srv.URL, nil))
				wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonPermanent)
				if !test.is(err) || handshakes.Load() != 1 {
					t.Errorf("%d handshakes, error %v", handshakes.Load(), err)
				}

				handshakes.Store(0)
				_, err = (&http.Client{Transport: tr}).Get(srv.URL)
				if e, ok := errors.AsType[*roundtripper.Error](err); !ok || e.Reason != roundtripper.ReasonPermanent || !test.is(err) || handshakes.Load() != 1 {
					t.Errorf("through http.Client: %d handshakes, error %v", handshakes.Load(), err)
				}
			})
		}
	}
	if requests.Load() != 0 {
		t.Errorf("%d requests arrived", requests.Load())
	}
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A fault elsewhere: a base that returns neither response nor error makes the caller panic.
func TestNeitherResponseNorError(t *testing.T) {
	for name, policy := range map[string]roundtripper.Policy{"none": {}, "Headless": roundtripper.Headless(), "Standard": roundtripper.Standard()} {
		calls := 0
		base := baseFunc(func(*http.Request) (*http.Response, error) { calls++; return nil, nil })
		tr := roundtripper.New(base, policy)
		resp, err := tr.RoundTrip(newRequest(t, "GET", anyURL, nil))
		wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonPermanent)
		if calls != 1 || err == nil || !strings.Contains(err.Error(), "neither a response nor an error") {
			t.Errorf("%s: %d calls, error %v", name, calls, err)
		}
		if _, err := (&http.Client{Transport: tr}).Get(anyURL); !isType[*roundtripper.Error](err) {
			t.Errorf("%s: through http.Client: %v", name, err)
		}
	}
}

// A base that returns both a response and an error has failed, as http.Client
// sees it; the response is closed all the same.
func TestResponseAndError(t *testing.T) {
	for name, test := range map[string]struct {
		policy   roundtripper.Policy
		attempts int
	}{
		"none":     {roundtripper.Policy{}, 1},
		"Headless": {quick(roundtripper.Headless()), 3},
		"Standard": {quick(roundtripper.Standard()), 4},
	} {
		var bodies []*tracked
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			b := &tracked{Reader: strings.NewReader("body")}
			bodies = append(bodies, b)
			resp := answer(req, 200, "")
			resp.Body = b
			if len(bodies) == 1 {
				resp.Body = nil // this too
				b.Close()
			}
			return resp, errReset
		})
		resp, err := roundtripper.New(base, test.policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
		wantEnd(t, outcome(t, resp, err), test.attempts, roundtripper.ReasonRetriesSpent)
		if !errors.Is(err, errReset) {
			t.Errorf("%s: error = %v, want the base's", name, err)
		}
		for i, b := range bodies {
			if b.closes.Load() == 0 {
				t.Errorf("%s: the response of attempt %d was left open", name, i+1)
			}
		}
	}
}

// A response always has a body, if the base has left it out too.
func TestResponseWithoutBody(t *testing.T) {
	for name, policy := range map[string]roundtripper.Policy{"none": {}, "Headless": quick(roundtripper.Headless()), "everything": everything()} {
		for _, statuses := range [][]int{{200}, {204}, {503, 200}, {404}} {
			calls := 0
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				calls++
				resp := answer(req, statuses[min(calls, len(statuses))-1], "", "Content-Type", "text/plain")
				resp.Body = nil
				return resp, nil
			})
			req := newRequest(t, "GET", anyURL, nil)
			req.Header.Set("X-Many", "1")
			resp, err := roundtripper.New(base, policy).RoundTrip(req)
			outcome(t, resp, err)
			if resp.Body == nil {
				t.Errorf("%s: %v: Body is nil", name, statuses)
			} else if got := drink(t, resp); got != "" {
				t.Errorf("%s: %v: body %q", name, statuses, got)
			}
		}
	}
}

// A round tripper does not look into higher protocols: redirects and requests
// for credentials are answers like any other, at RoundTrip.
func TestRedirectsAndChallengesAreNotOurs(t *testing.T) {
	for _, status := range []int{301, 302, 303, 304, 307, 308, 401, 407} {
		for name, policy := range map[string]roundtripper.Policy{"none": {}, "Headless": roundtripper.Headless(), "Standard": roundtripper.Standard()} {
			calls := 0
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				calls++
				return answer(req, status, "", "Location", "/elsewhere", "Www-Authenticate", "Basic", "Set-Cookie", "a=b", "Retry-After", "1"), nil
			})
			resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
			outcome(t, resp, err)
			if calls != 1 || resp.StatusCode != status || resp.Header.Get("Location") != "/elsewhere" {
				t.Errorf("%s: %d calls, status %d, header %v", name, calls, resp.StatusCode, resp.Header)
			}
		}
	}
}

// closer is a base that counts CloseIdleConnections.
type closer struct {
	baseFunc
	closed int
}

func (c *closer) CloseIdleConnections() { c.closed++ }

// A fault elsewhere: CloseIdleConnections ends at the wrapper
// (open-telemetry/opentelemetry-go-contrib#3543).
func TestCloseIdleConnectionsIsPassedOn(t *testing.T) {
	base := &closer{}
	inner := roundtripper.New(base, roundtripper.Standard())
	client := http.Client{Transport: roundtripper.New(inner, roundtripper.Headless())}
	client.CloseIdleConnections()
	if base.closed != 1 {
		t.Errorf("the base was told %d times, want once", base.closed)
	}
	client.Transport = roundtripper.New(base.baseFunc, roundtripper.Headless())
	client.CloseIdleConnections() // a base that can't: nothing happens
}

// Each Transport with a nil base has connections of its own.
func TestNilBase(t *testing.T) {
	srv, _ := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }))
	one, two := roundtripper.New(nil, roundtripper.Policy{}), roundtripper.New(nil, roundtripper.Standard())
	defer one.CloseIdleConnections()
	defer two.CloseIdleConnections()
	get := func(tr *roundtripper.Transport, conns int32) {
		t.Helper()
		resp, err := tr.RoundTrip(newRequest(t, "GET", srv.URL, nil))
		outcome(t, resp, err)
		if got := drink(t, resp); got != "ok" {
			t.Errorf("got %q", got)
		}
		if n := srv.conns.Load(); n != conns {
			t.Errorf("%d connections, want %d", n, conns)
		}
	}
	get(one, 1)
	get(two, 2)
	get(one, 2)
	one.CloseIdleConnections()
	get(two, 2)
	get(one, 3)
}

// A fault elsewhere: layers multiply their retries (openai/openai-go#829). One layer
// repeats, and the body comes through both of them whole.
func TestNestedTransportsRepeatOnce(t *testing.T) {
	for _, source := range []string{"GetBody", "ReplayBuffer"} {
		base := &script{statuses: []int{503}}
		policy := quick(roundtripper.Headless())
		policy.Methods = []string{"PUT"}
		policy.ReplayBuffer = 10
		tr := roundtripper.New(roundtripper.New(roundtripper.New(base, policy), policy), policy)
		body := newProbe("hello")
		req := newRequest(t, "PUT", anyURL, body)
		if source == "GetBody" {
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("hello")), nil }
		}
		resp, err := tr.RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 3, roundtripper.ReasonRetriesSpent)
		drink(t, resp)
		if fmt.Sprint(base.bodies) != "[hello hello hello]" {
			t.Errorf("%s: sent %v, want hello three times", source, base.bodies)
		}
		body.check(t, source)
	}
}

// One Transport serves many goroutines at once, with all that a policy has (run
// with -race; PuerkitoBio/rehttp#12).
func TestManyGoroutines(t *testing.T) {
	var n atomic.Int32
	srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Attempt") == "1" && n.Add(1)%2 == 0 {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		io.Copy(w, r.Body)
	}))
	base.MaxIdleConnsPerHost = 100
	policy := everything()
	policy.Prepare = func(req *http.Request, n int) error { req.Header.Set("X-Signed", fmt.Sprint(n)); return nil }
	tr := roundtripper.New(base, policy)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			want := fmt.Sprint("body ", i)
			var body io.Reader = strings.NewReader(want)
			if i%2 == 0 {
				body = once{body}
			}
			resp, err := tr.RoundTrip(newRequest(t, "PUT", srv.URL, body))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if got, err := io.ReadAll(resp.Body); string(got) != want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
	wg.Wait()
}
