package roundtripper_test

// Request bodies that are sent again: where the bytes of each attempt come
// from, and when there are none to be had.

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rebound-go/rebound/roundtripper"
)

const anyURL = "http://example.com/a?b=c"

// A fault elsewhere: a retry announces N bytes and sends none (stripe/stripe-go#647,
// google/go-containerregistry#1004, bdd/runitor#181, beego/beego#3081).
func TestReplaySendsWholeBodyAgain(t *testing.T) {
	for _, first := range []int{503, 0} {
		for _, source := range []string{"GetBody", "ReplayBuffer"} {
			t.Run(fmt.Sprintf("first=%d/%s", first, source), func(t *testing.T) {
				base := &script{statuses: []int{first, 0, 200}}
				policy := quick(roundtripper.Standard())
				req := newRequest(t, "POST", anyURL, strings.NewReader("hello"))
				req.Header.Set("Idempotency-Key", "k")
				if source == "ReplayBuffer" {
					req.GetBody = nil
					policy.ReplayBuffer = 5
				}
				resp, err := roundtripper.New(base, policy).RoundTrip(req)
				wantEnd(t, outcome(t, resp, err), 3, roundtripper.ReasonOK)
				drink(t, resp)
				for i, body := range base.bodies {
					if body != "hello" {
						t.Errorf("attempt %d sent %q, want %q", i+1, body, "hello")
					}
					if n := base.seen[i].ContentLength; n != 5 {
						t.Errorf("attempt %d: ContentLength = %d, want 5", i+1, n)
					}
				}
			})
		}
	}
}

// The same over net/http, which refuses to send a body that does not agree
// with its header: what arrives is what was announced.
func TestReplayAgreesWithContentLengthOnTheWire(t *testing.T) {
	var sent []string
	srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		sent = append(sent, fmt.Sprintf("%s %d %v", data, r.ContentLength, err))
		if len(sent) == 1 {
			conn, _, _ := http.NewResponseController(w).Hijack()
			conn.Close()
		}
	}))
	req := newRequest(t, "PUT", srv.URL, strings.NewReader("hello"))
	resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
	wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
	drink(t, resp)
	if want := "[hello 5 <nil> hello 5 <nil>]"; fmt.Sprint(sent) != want {
		t.Errorf("server saw %v, want %s", sent, want)
	}
}

// A fault elsewhere: a stream that can be read once is retried with nothing in it, and
// success reported (go-resty/resty#334, anthropics/anthropic-sdk-typescript#1170).
func TestStreamWithoutReplayIsOneAttempt(t *testing.T) {
	for _, length := range []int64{-1, 0, 5} {
		t.Run(fmt.Sprintf("length=%d", length), func(t *testing.T) {
			base := &script{statuses: []int{503, 200}}
			body := newProbe("hello")
			req := newRequest(t, "PUT", anyURL, body)
			req.ContentLength = length
			resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
			wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonNotReplayable)
			if resp.StatusCode != 503 || drink(t, resp) != "Service Unavailable" {
				t.Errorf("status = %d, want the 503 and its body", resp.StatusCode)
			}
			body.check(t, "body")
		})
	}
}

// A fault elsewhere: a seeker is set back to 0 though the caller had moved on in it
// (go-resty/resty#334). What was not part of the body is never sent.
func TestFileIsNeverSetBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("0123456789rest"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		buffer int64
		want   string
	}{
		{0, "[rest]"},
		{3, "[rest]"},
		{4, "[rest rest rest rest]"},
	} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(10, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		base := &script{statuses: []int{503}}
		policy := quick(roundtripper.Standard())
		policy.ReplayBuffer = test.buffer
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "PUT", anyURL, f))
		outcome(t, resp, err)
		if fmt.Sprint(base.bodies) != test.want {
			t.Errorf("buffer %d: sent %v, want %s", test.buffer, base.bodies, test.want)
		}
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("buffer %d: the file was left open", test.buffer)
		}
	}
}

// A fault elsewhere: an HTTP/2 connection goes away after the body was written, and the
// transport below can't send it again (hashicorp/go-retryablehttp#121,
// PuerkitoBio/rehttp#9, minio/kes#127). The base may ask for the body as often
// as it likes, at once.
func TestBaseMayAskForTheBodyTwice(t *testing.T) {
	for _, source := range []string{"GetBody", "ReplayBuffer"} {
		t.Run(source, func(t *testing.T) {
			attempts := 0
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				attempts++
				if got := take(req); got != "hello" {
					t.Errorf("attempt %d sent %q", attempts, got)
				}
				if source == "ReplayBuffer" && attempts == 1 {
					if req.GetBody != nil {
						t.Error("the first attempt has a GetBody for a body that is still to be read")
					}
					return answer(req, 503, ""), nil
				}
				one, err1 := req.GetBody()
				two, err2 := req.GetBody()
				if err1 != nil || err2 != nil {
					t.Fatalf("GetBody: %v, %v", err1, err2)
				}
				for range 5 {
					var b [1]byte
					one.Read(b[:])
				}
				rest, err := io.ReadAll(two)
				if string(rest) != "hello" || err != nil {
					t.Errorf("attempt %d: the second reader gave %q, %v", attempts, rest, err)
				}
				return answer(req, []int{503, 200}[attempts-1], ""), nil
			})
			policy := quick(roundtripper.Standard())
			policy.ReplayBuffer = 100
			req := newRequest(t, "PUT", anyURL, strings.NewReader("hello"))
			if source == "ReplayBuffer" {
				req.GetBody = nil
			}
			resp, err := roundtripper.New(base, policy).RoundTrip(req)
			wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
		})
	}
}

// A fault elsewhere: the Content-Type of an empty body is lost
// (hashicorp/go-retryablehttp#194). http.NoBody stays what it is.
func TestNoBodyStaysNoBody(t *testing.T) {
	attempts := 0
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		attempts++
		if req.Body != http.NoBody || req.ContentLength != 0 {
			t.Errorf("attempt %d: Body = %T, ContentLength = %d, want http.NoBody and 0", attempts, req.Body, req.ContentLength)
		}
		if got := req.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("attempt %d: Content-Type = %q", attempts, got)
		}
		return answer(req, []int{503, 200}[attempts-1], ""), nil
	})
	req := newRequest(t, "POST", anyURL, http.NoBody)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "k")
	req.GetBody = nil
	resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
	wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
}

// A request without a body needs nothing to be sent again, and gets none.
func TestNilBodyStaysNil(t *testing.T) {
	base := &script{statuses: []int{503, 200}}
	resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(newRequest(t, "DELETE", anyURL, nil))
	wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
	for i, req := range base.seen {
		if req.Body != nil {
			t.Errorf("attempt %d: Body = %T, want nil", i+1, req.Body)
		}
	}
}

// A fault elsewhere: GetBody fails, or gives nothing, and the retry goes out empty.
func TestGetBodyThatFailsStopsTheCall(t *testing.T) {
	errGone := errors.New("the file is gone")
	for name, getBody := range map[string]func() (io.ReadCloser, error){
		"error":   func() (io.ReadCloser, error) { return nil, errGone },
		"nothing": func() (io.ReadCloser, error) { return nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			base := &script{statuses: []int{503, 200}}
			body := newProbe("hello")
			req := newRequest(t, "PUT", anyURL, body)
			req.GetBody = getBody
			resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
			wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonNotReplayable)
			if err == nil {
				t.Fatal("want an error: the response was given up")
			}
			if name == "error" && !errors.Is(err, errGone) {
				t.Errorf("error = %v, want it to be GetBody's own", err)
			}
			if len(base.seen) != 1 {
				t.Errorf("base was called %d times, want 1", len(base.seen))
			}
			body.check(t, "body")
		})
	}
}

// GetBody is the caller's to pay for: it is not asked before it is needed.
func TestGetBodyIsAskedOncePerRetry(t *testing.T) {
	for _, statuses := range [][]int{{200}, {503, 200}, {503, 0, 503, 503}} {
		asked := 0
		base := &script{statuses: statuses}
		req := newRequest(t, "PUT", anyURL, strings.NewReader("hello"))
		get := req.GetBody
		req.GetBody = func() (io.ReadCloser, error) {
			asked++
			return get()
		}
		policy := quick(roundtripper.Standard())
		policy.ReplayBuffer = 100 // which there is no use for
		resp, err := roundtripper.New(base, policy).RoundTrip(req)
		outcome(t, resp, err)
		if asked != len(statuses)-1 {
			t.Errorf("%v: GetBody asked %d times, want %d", statuses, asked, len(statuses)-1)
		}
	}
}

// A body of which nothing was read is as good as new: an attempt that never
// got a connection leaves it to the next one, whole, and closed only then.
func TestUnreadBodyGoesToTheNextAttempt(t *testing.T) {
	for _, closes := range []bool{true, false} {
		t.Run(fmt.Sprintf("base closes=%v", closes), func(t *testing.T) {
			body := newProbe("hello")
			var sent []string
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				if len(sent) < 2 {
					sent = append(sent, "")
					if closes {
						req.Body.Close()
					}
					return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("refused")}
				}
				body.hold(true)
				data, err := io.ReadAll(req.Body)
				sent = append(sent, string(data))
				body.hold(false)
				req.Body.Close()
				return answer(req, 200, ""), err
			})
			req := newRequest(t, "POST", anyURL, body) // no key: never left is what makes it repeatable
			resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
			wantEnd(t, outcome(t, resp, err), 3, roundtripper.ReasonOK)
			if fmt.Sprintf("%q", sent) != `["" "" "hello"]` {
				t.Errorf("sent %q, want the whole body in the third attempt", sent)
			}
			drink(t, resp)
			body.check(t, "body")
		})
	}
}

// A base that held on to the body of a dead attempt gets nothing more of it:
// each attempt has a reader of its own.
func TestEachAttemptHasItsOwnReader(t *testing.T) {
	body := newProbe("hello")
	var first io.ReadCloser
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		if first == nil {
			first = req.Body
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("refused")}
		}
		if req.Body == first {
			t.Error("two attempts share a reader")
		}
		var b [5]byte
		if n, err := first.Read(b[:]); n > 0 || err == nil || err == io.EOF {
			t.Errorf("Read through the first attempt's body = %d, %v, want an error", n, err)
		}
		first.Close()
		if got := take(req); got != "hello" {
			t.Errorf("the second attempt sent %q", got)
		}
		return answer(req, 200, ""), nil
	})
	resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(newRequest(t, "POST", anyURL, body))
	wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
	drink(t, resp)
	body.check(t, "body")
}
