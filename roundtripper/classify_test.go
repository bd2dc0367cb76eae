package roundtripper_test

// This file tests how an attempt without a response is judged: may it heal, and
// did anything of it leave. Errors are known by their types, never by text.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// twAtOnce is Standard without waits.
func twAtOnce() roundtripper.Policy {
	p := roundtripper.Standard()
	p.MaxDelay = 0
	return p
}

func TestErrorsByType(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	unknown := x509.UnknownAuthorityError{}
	for _, tc := range []struct {
		err         error
		heals, sent bool
	}{
		{refused, true, false},
		{&url.Error{Op: "Post", URL: "http://example.com", Err: refused}, true, false},
		{fmt.Errorf("wrapped: %w", refused), true, false},
		{errors.Join(errors.New("joined"), refused), true, false},
		{&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH}, true, false},
		{&net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}, true, false},
		{&net.OpError{Op: "proxyconnect", Net: "tcp", Err: syscall.ECONNREFUSED}, true, false},
		{&net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true}, true, false},
		{&net.DNSError{Err: "server misbehaving", Name: "nowhere", IsTemporary: true}, true, false},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{IsTimeout: true}}, true, false},

		{&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, true, true},
		{&net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}, true, true},
		{syscall.ECONNRESET, true, true},
		{io.EOF, true, true},
		{io.ErrUnexpectedEOF, true, true},
		{net.ErrClosed, true, true}, // aws-sdk-go-v2#1825
		{fmt.Errorf("read tcp: %w", net.ErrClosed), true, true},
		{errors.New("http: server closed idle connection"), true, true},                        // google-cloud-go#14594
		{errors.New("dial tcp 127.0.0.1:1: connect: connection refused"), true, true},          // a text proves nothing
		{errors.New("x509: certificate signed by unknown authority"), true, true},              // nor does this one
		{errors.New(`unsupported protocol scheme "gopher"`), true, true},                       // nor this
		{errors.New("net/http: invalid header field value for \"Authorization\""), true, true}, // nor this

		{&tls.CertificateVerificationError{Err: unknown}, false, false},
		{&url.Error{Op: "Get", URL: "https://example.com", Err: &tls.CertificateVerificationError{Err: unknown}}, false, false},
		{unknown, false, true}, // hashicorp/go-retryablehttp#176: the type changed in Go 1.20
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "example.com"}, false, true},
		{x509.CertificateInvalidError{Reason: x509.Expired}, false, true},
		{x509.SystemRootsError{Err: errors.New("no roots")}, false, true},

		// An address that can't be one: the next attempt would have the same.
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.AddrError{Err: "missing port in address", Addr: "example.com"}}, false, false},
		{&net.OpError{Op: "dial", Net: "tpc", Err: net.UnknownNetworkError("tpc")}, false, false},
		{&net.ParseError{Type: "IP address", Text: "1.2.3"}, false, true},
	} {
		for _, method := range []string{"GET", "POST"} {
			t.Run(fmt.Sprintf("%s %T %v", method, tc.err, tc.err), func(t *testing.T) {
				base := twScript(twStep{err: tc.err})
				resp, err := twDo(t, base, twAtOnce(), twRequest(method, ""))
				want := 4
				if !tc.heals || method == "POST" && tc.sent {
					want = 1
				}
				base.wantAttempts(t, want)
				if !errors.Is(err, tc.err) {
					t.Errorf("%v has lost %v", err, tc.err)
				}
				r := twReport(t, resp, err)
				a := r.Attempts[0]
				if tc.heals != a.Verdict.Retry || tc.heals != (a.Verdict.Reason == roundtripper.ReasonNetwork) ||
					!tc.heals && (r.Stop != roundtripper.ReasonPermanent || a.Verdict.Reason != roundtripper.ReasonPermanent) {
					t.Errorf("verdict %+v, stop %q", a.Verdict, r.Stop)
				}
				if tc.heals && a.Sent != tc.sent {
					t.Errorf("Sent is %v, want %v", a.Sent, tc.sent)
				}
			})
		}
	}
}

// Without RetryUnsent an unsafe write that never left is not repeated either.
func TestRetryUnsentIsAChoice(t *testing.T) {
	p := twAtOnce()
	p.RetryUnsent = false
	for _, method := range []string{"POST", "PATCH"} {
		base := twScript(twStep{unread: true, err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}})
		resp, err := twDo(t, base, p, twRequest(method, "x"))
		base.wantAttempts(t, 1)
		if r := twReport(t, resp, err); r.Stop != roundtripper.ReasonNotRepeatable || r.Attempts[0].Sent {
			t.Errorf("%s: %+v", method, r)
		}
	}
}

// A dial error proves nothing once somebody has read the body: a wrapper may
// have sent it by another way, and then failed to dial for the next.
func TestDialErrorAfterTheBody(t *testing.T) {
	base := twScript(twStep{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}})
	resp, err := twDo(t, base, twAtOnce(), twRequest("POST", "order"))
	base.wantAttempts(t, 1)
	if r := twReport(t, resp, err); r.Stop != roundtripper.ReasonNotRepeatable || !r.Attempts[0].Sent {
		t.Errorf("%+v", r)
	}
}

// An attempt timeout during a dial that leads nowhere sent nothing.
func TestTimeoutWhileDialling(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		p := twAtOnce()
		p.AttemptTimeout, p.MaxRetries = time.Second, 2
		over := make(chan struct{})
		defer close(over) // net/http lets a dial go on when its request has given up
		dead := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			<-over
			return nil, io.EOF
		}}
		resp, err := twDo(t, dead, p, twRequest("POST", "order"))
		r := twReport(t, resp, err)
		if len(r.Attempts) != 3 || r.Attempts[0].Sent || r.Stop != roundtripper.ReasonRetriesSpent {
			t.Errorf("%+v", r)
		}
	})
}

// What no transport could send is not sent twice: schemes, headers and URLs.
func TestUnsendable(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"scheme":       func(r *http.Request) { r.URL.Scheme = "gopher" },
		"no scheme":    func(r *http.Request) { r.URL.Scheme = "" },
		"no host":      func(r *http.Request) { r.URL.Host = "" },
		"no URL":       func(r *http.Request) { r.URL = nil },
		"header value": func(r *http.Request) { r.Header["X-A"] = []string{"a\nb"} },
		"header name":  func(r *http.Request) { r.Header["X A"] = []string{"b"} },
		"trailer name": func(r *http.Request) { r.Trailer = http.Header{"X A": nil} },
		"method":       func(r *http.Request) { r.Method = "GE T" },
		"nil header":   func(r *http.Request) { r.Header = nil },
	} {
		t.Run(name, func(t *testing.T) {
			dials := 0
			real := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
				dials++
				return nil, io.EOF
			}}
			body := &twClosed{Reader: strings.NewReader("x")}
			req := twRequest("PUT", "")
			req.Body, req.ContentLength = body, 1
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }
			change(req)
			resp, err := twDo(t, real, twAtOnce(), req)
			r := twReport(t, resp, err)
			if len(r.Attempts) > 1 || r.Stop != roundtripper.ReasonPermanent && r.Stop != roundtripper.ReasonInvalid {
				t.Errorf("%d attempts, stop %q: %v", len(r.Attempts), r.Stop, err)
			}
			if dials > 0 || body.n == 0 {
				t.Errorf("%d dials, body closed %d times", dials, body.n)
			}
		})
	}
}

// A base that puts in scheme and host gets a URL without them, and its errors
// of the network may heal.
func TestURLThatTheBaseCompletes(t *testing.T) {
	for _, text := range []string{"", "order", "/order", "//example.com/order", "http:///order"} {
		for name, p := range map[string]roundtripper.Policy{"zero": {}, "retries": twAtOnce()} {
			t.Run(name+" "+text, func(t *testing.T) {
				req := twRequest("GET", "")
				var err error
				if req.URL, err = url.Parse(text); err != nil {
					t.Fatal(err)
				}
				n := 0
				base := func(got *http.Request) (*http.Response, error) {
					if n++; got.URL.String() != text {
						t.Errorf("the base got %q", got.URL)
					}
					if n <= p.MaxRetries {
						return nil, &net.OpError{Op: "read", Err: syscall.ECONNRESET}
					}
					return &http.Response{StatusCode: 200, Body: http.NoBody, Request: got}, nil
				}
				resp, err := roundtripper.New(twFunc(base), p).RoundTrip(req)
				if err != nil || resp.StatusCode != 200 || n != p.MaxRetries+1 {
					t.Errorf("%v, %v after %d attempts", resp, err, n)
				}
			})
		}
	}
}

// twClosed is a request body that counts its Close.
type twClosed struct {
	io.Reader
	n int
}

func (b *twClosed) Close() error {
	b.n++
	return nil
}

// An error of the caller's own body is nobody's fault but theirs
// (golang/go#18239).
func TestErrorOfTheCallersBody(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	}))
	defer srv.Close()
	mine := errors.New("the disk is gone")
	req, _ := http.NewRequest("PUT", srv.URL, io.MultiReader(strings.NewReader("half"), twBroken{mine}))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(twBroken{mine}), nil }
	resp, err := twDo(t, &http.Transport{}, twAtOnce(), req)
	if r := twReport(t, resp, err); !errors.Is(err, mine) || len(r.Attempts) != 1 || r.Stop != roundtripper.ReasonPermanent {
		t.Errorf("%v after %d attempts, stop %q", err, len(r.Attempts), r.Stop)
	}
}

type twBroken struct{ err error }

func (b twBroken) Read([]byte) (int, error) { return 0, b.err }

// Decide has the last word on whether a failure may heal, and on nothing else.
func TestDecide(t *testing.T) {
	yes := func(*roundtripper.Attempt) roundtripper.Verdict {
		return roundtripper.Verdict{Retry: true, Reason: "because"}
	}
	no := func(*roundtripper.Attempt) roundtripper.Verdict { return roundtripper.Verdict{Reason: "enough"} }
	for _, tc := range []struct {
		name   string
		decide func(*roundtripper.Attempt) roundtripper.Verdict
		method string
		step   twStep
		want   int
		stop   roundtripper.Reason
	}{
		{"a final status heals", yes, "GET", twStep{status: 404}, 4, roundtripper.ReasonRetriesSpent},
		{"a permanent error heals", yes, "GET", twStep{err: x509.UnknownAuthorityError{}}, 4, roundtripper.ReasonRetriesSpent},
		{"an envelope is overruled", yes, "GET", twStep{status: 503, header: twJSON, body: `{"retryable":false}`}, 4, roundtripper.ReasonRetriesSpent},
		{"a status that may heal is final", no, "GET", twStep{status: 503}, 1, "enough"},
		{"a network error is final", no, "GET", twStep{err: io.EOF}, 1, "enough"},
		{"an attempt timeout is final", no, "GET", twStep{hang: true}, 1, "enough"},
		{"an unsafe write stays unsafe", yes, "POST", twStep{status: 503}, 1, roundtripper.ReasonNotRepeatable},
		{"a contract failure stays one", yes, "GET", twStep{status: 200, header: twJSON, body: "{"}, 1, roundtripper.ReasonContract},
		{"a mismatch stays one", yes, "GET", twStep{status: 503, header: []string{"X-Request-Id", "other"}}, 1, roundtripper.ReasonContract},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p := twAtOnce()
			p.Decide, p.Accept, p.RequestIDHeader, p.Envelope = tc.decide, roundtripper.ValidJSON, "X-Request-Id", true
			base := twScript(tc.step)
			resp, err := twDo(t, base, p, twRequest(tc.method, ""))
			base.wantAttempts(t, tc.want)
			if r := twReport(t, resp, err); r.Stop != tc.stop {
				t.Errorf("stop %q, want %q", r.Stop, tc.stop)
			}
		})
	}
}

// Decide sees the attempt as it is, with the policy's own verdict, and may look
// at request and response; the report keeps neither.
func TestDecideSeesTheAttempt(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		var seen []string
		p := twAtOnce()
		p.Decide = func(a *roundtripper.Attempt) roundtripper.Verdict {
			line := fmt.Sprintf("%d %s %d %v %v %s", a.Number, a.Request.Method, a.StatusCode, a.Err, a.Verdict.Retry, a.Elapsed)
			if a.Response != nil {
				line += " " + a.Response.Header.Get("X-Which")
			}
			seen = append(seen, line)
			return a.Verdict
		}
		base := twScript(twStep{after: time.Second, status: 503, header: []string{"X-Which", "first"}}, twStep{err: io.EOF}, twStep{status: 404})
		resp, err := twDo(t, base, p, twRequest("GET", ""))
		want := "1 GET 503 <nil> true 1s first; 2 GET 0 EOF true 0s; 3 GET 404 <nil> false 0s "
		if got := strings.Join(seen, "; "); got != want {
			t.Errorf("saw  %s\nwant %s", got, want)
		}
		for _, a := range twReport(t, resp, err).Attempts {
			if a.Request != nil || a.Response != nil {
				t.Errorf("attempt %d keeps its request or response", a.Number)
			}
		}
	})
}
