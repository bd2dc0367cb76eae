package roundtripper_test

// Request bodies on their way: answers that come before the body has left,
// bodies that fail, bodies too large to keep, trailers.

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// A fault elsewhere: a retry winds the body back while the transport's writer still reads
// it (hashicorp/go-retryablehttp#94, #105; run with -race). A server that does
// read gets the exact bytes.
func TestEarlyAnswerWhileBodyIsBeingSent(t *testing.T) {
	const size, rounds = 4 << 20, 30
	payload := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	want := sha256.Sum256(payload)
	srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Attempt") == "1" {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		h := sha256.New()
		if n, err := io.Copy(h, r.Body); n != size || err != nil || [32]byte(h.Sum(nil)) != want {
			http.Error(w, fmt.Sprintf("got %d bytes, %v", n, err), 400)
		}
	}))
	policy := quick(roundtripper.Standard())
	policy.AttemptHeader = "X-Attempt"
	policy.ReplayBuffer = size
	tr := roundtripper.New(base, policy)

	for i := range rounds {
		req := newRequest(t, "POST", srv.URL, bytes.NewReader(payload))
		req.Header.Set("Idempotency-Key", "k")
		resp, err := tr.RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
		if got := drink(t, resp); got != "" {
			t.Fatalf("round %d: %s", i, got)
		}
	}
	// Without GetBody, a body that was read in part can't be sent again, and
	// nothing else may be sent in its place.
	for range rounds / 3 {
		body := &probe{src: bytes.NewReader(payload)}
		req := newRequest(t, "POST", srv.URL, body)
		req.ContentLength = size
		req.Header.Set("Idempotency-Key", "k")
		resp, err := tr.RoundTrip(req)
		report := outcome(t, resp, err)
		if resp == nil {
			wantEnd(t, report, 1, roundtripper.ReasonNotReplayable)
			continue
		}
		if got := drink(t, resp); resp.StatusCode != 200 && got != "not now\n" {
			t.Fatalf("status %d, %q", resp.StatusCode, got)
		}
	}
}

// A fault elsewhere: Seek, or any other use, of a reader that the transport still reads
// (golang/go#51907, kubernetes/kubernetes#113933). The base here goes on
// reading after its answer, as net/http does, and may leave the body open.
func TestBodyIsNotTouchedWhileTheBaseReadsIt(t *testing.T) {
	for _, closes := range []bool{true, false} {
		t.Run(fmt.Sprintf("base closes=%v", closes), func(t *testing.T) {
			testBodyIsNotTouched(t, closes)
		})
	}
}

func testBodyIsNotTouched(t *testing.T, closes bool) {
	synctest.Test(t, func(t *testing.T) {
		var probes []*probe
		body := func() *probe {
			p := newProbe(strings.Repeat("x", 100))
			p.src = &slowReader{p.src}
			probes = append(probes, p)
			return p
		}
		var writers sync.WaitGroup
		attempts := 0
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			attempts++
			if attempts == 3 {
				if got := take(req); len(got) != 100 {
					t.Errorf("the third attempt sent %d bytes, want 100", len(got))
				}
				return answer(req, 200, ""), nil
			}
			writers.Go(func() {
				io.Copy(io.Discard, req.Body)
				if closes {
					req.Body.Close()
				}
			})
			time.Sleep(25 * time.Millisecond) // amid a Read
			return answer(req, 503, ""), nil
		})
		req := newRequest(t, "PUT", anyURL, body())
		req.GetBody = func() (io.ReadCloser, error) { return body(), nil }
		resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 3, roundtripper.ReasonOK)
		drink(t, resp)
		writers.Wait()
		if len(probes) != 3 {
			t.Fatalf("%d readers for 3 attempts", len(probes))
		}
		for i, p := range probes {
			p.check(t, fmt.Sprintf("body of attempt %d", i+1))
		}
	})
}

// slowReader gives a byte every 10 ms.
type slowReader struct{ src io.Reader }

func (r *slowReader) Read(p []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	return r.src.Read(p[:min(len(p), 1)])
}

// A fault elsewhere: whoever feeds the body hangs for ever, since nobody reads it any more
// and nobody closes it either.
func TestFeederOfRefusedBodyIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, base := serveInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(503)
		}))
		pr, pw := io.Pipe()
		fed := make(chan error, 1)
		go func() {
			for {
				if _, err := pw.Write(make([]byte, 1<<10)); err != nil {
					fed <- err
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
		resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(newRequest(t, "PUT", anyURL, pr))
		outcome(t, resp, err)
		if resp != nil {
			drink(t, resp)
		}
		select {
		case err := <-fed:
			if !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("the feeder got %v, want that the pipe is closed", err)
			}
		case <-time.After(time.Minute):
			t.Error("the feeder still hangs")
			pr.Close()
		}
	})
}

// A body that is still being sent when the answer comes is not cut off: the
// answer may depend on it.
func TestBodyGoesOnAfterTheHeaders(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		rc.EnableFullDuplex()
		w.WriteHeader(200)
		rc.Flush()
		for in := bufio.NewScanner(r.Body); in.Scan(); {
			fmt.Fprintln(w, strings.ToUpper(in.Text()))
			rc.Flush()
		}
	})
	for _, http2 := range []bool{false, true} {
		for name, policy := range map[string]roundtripper.Policy{
			"none": {}, "Headless": roundtripper.Headless(), "Standard": roundtripper.Standard(), "Transfer": roundtripper.Transfer(),
		} {
			t.Run(fmt.Sprintf("http2=%v/%s", http2, name), func(t *testing.T) {
				srv := httptest.NewUnstartedServer(echo)
				srv.EnableHTTP2 = http2
				srv.StartTLS()
				defer srv.Close()
				tr := roundtripper.New(srv.Client().Transport, policy)
				defer tr.CloseIdleConnections()
				pr, pw := io.Pipe()
				resp, err := tr.RoundTrip(newRequest(t, "POST", srv.URL, pr))
				outcome(t, resp, err)
				out := bufio.NewReader(resp.Body)
				for _, word := range []string{"one", "two", "three"} {
					if _, err := fmt.Fprintln(pw, word); err != nil {
						t.Fatalf("the body was closed under its writer: %v", err)
					}
					if got, err := out.ReadString('\n'); got != strings.ToUpper(word)+"\n" || err != nil {
						t.Fatalf("echo of %s = %q, %v", word, got, err)
					}
				}
				pw.Close()
				if rest, err := io.ReadAll(out); len(rest) > 0 || err != nil {
					t.Errorf("rest = %q, %v", rest, err)
				}
				resp.Body.Close()
			})
		}
	}
}

// A fault elsewhere: an error of the caller's own body is taken for the network's and
// retried (golang/go#18239).
func TestErrorOfOwnBodyIsFinal(t *testing.T) {
	errDisk := errors.New("the disk is gone")
	broken := func() io.ReadCloser {
		return io.NopCloser(io.MultiReader(strings.NewReader("abc"), readerFunc(func([]byte) (int, error) { return 0, errDisk })))
	}
	srv, wire := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	for name, base := range map[string]http.RoundTripper{
		"net/http": wire,
		"silent": baseFunc(func(req *http.Request) (*http.Response, error) { // does not say which error it met
			defer req.Body.Close()
			if _, err := io.ReadAll(req.Body); err == nil {
				return answer(req, 200, ""), nil
			}
			return nil, errReset
		}),
	} {
		t.Run(name, func(t *testing.T) {
			req := newRequest(t, "PUT", srv.URL, broken())
			req.GetBody = func() (io.ReadCloser, error) { return broken(), nil }
			resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
			wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonPermanent)
			if !errors.Is(err, errDisk) {
				t.Errorf("error = %v, want the body's own in it", err)
			}
		})
	}
	t.Run("second attempt", func(t *testing.T) {
		base := &script{statuses: []int{0}}
		req := newRequest(t, "PUT", srv.URL, strings.NewReader("abcdef"))
		req.GetBody = func() (io.ReadCloser, error) { return broken(), nil }
		resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonPermanent)
		if !errors.Is(err, errDisk) {
			t.Errorf("error = %v, want the body's own in it", err)
		}
	})
}

// A fault elsewhere: a body that is longer or shorter than its ContentLength. It is the
// caller's fault: net/http refuses to send it, no repeat will mend it, and a
// replay must not make a truncated success of it.
func TestBodyThatIsNotAsLongAsItSays(t *testing.T) {
	srv, wire := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	// As net/http does it, but for the server that may answer sooner.
	strict := baseFunc(func(req *http.Request) (*http.Response, error) {
		defer req.Body.Close()
		data, err := io.ReadAll(io.LimitReader(req.Body, req.ContentLength))
		more, err2 := io.Copy(io.Discard, req.Body)
		if err != nil || err2 != nil || int64(len(data))+more != req.ContentLength {
			return nil, fmt.Errorf("ContentLength=%d with Body length %d, %v, %v", req.ContentLength, int64(len(data))+more, err, err2)
		}
		return answer(req, 200, ""), nil
	})
	for _, test := range []struct {
		name, body string
		base       http.RoundTripper
	}{
		{"shorter", "hell", strict},
		{"shorter, net/http", "hell", wire},
		{"longer", "hello world", strict},
	} {
		for _, source := range []string{"GetBody", "ReplayBuffer", "none"} {
			t.Run(test.name+"/"+source, func(t *testing.T) {
				policy := quick(roundtripper.Standard())
				req := newRequest(t, "PUT", srv.URL, strings.NewReader(test.body))
				req.ContentLength = 5
				if source != "GetBody" {
					req.GetBody = nil
				}
				if source == "ReplayBuffer" {
					policy.ReplayBuffer = 100
				}
				resp, err := roundtripper.New(test.base, policy).RoundTrip(req)
				report := outcome(t, resp, err)
				if err == nil {
					t.Errorf("success after %d attempts", len(report.Attempts))
				}
				wantEnd(t, report, 1, roundtripper.ReasonPermanent)
			})
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A fault elsewhere: with Expect: 100-continue the refused attempt has eaten a byte
// (golang/go#16002). The body is read only after the 100, so a refusal leaves
// it whole, even where it could not be had again.
func TestExpectContinueRefused(t *testing.T) {
	for _, test := range []struct {
		method  string
		length  int64 // -1: net/http looks at the first byte of a DELETE
		getBody bool
	}{
		{"PUT", 5, false},
		{"PUT", 5, true},
		{"PUT", -1, false},
		{"DELETE", -1, true},
	} {
		t.Run(fmt.Sprintf("%s/length=%d/getBody=%v", test.method, test.length, test.getBody), func(t *testing.T) {
			refused := false
			srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !refused {
					refused = true
					w.WriteHeader(503)
					return
				}
				io.Copy(w, r.Body)
			}))
			base.ExpectContinueTimeout = time.Minute
			body := newProbe("hello")
			req := newRequest(t, test.method, srv.URL, body)
			req.ContentLength = test.length
			req.Header.Set("Expect", "100-continue")
			if test.getBody {
				req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("hello")), nil }
			}
			resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(req)
			wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
			if got := drink(t, resp); got != "hello" {
				t.Errorf("server got %q, want it from byte 0", got)
			}
			body.check(t, "body")
		})
	}
}

// A fault elsewhere: trailers that are set once the body has been read are lost, since the
// request was cloned. They arrive with every attempt.
func TestLateTrailers(t *testing.T) {
	var got []string
	srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got = append(got, string(data)+" "+r.Trailer.Get("X-Sum"))
		if len(got) == 1 {
			w.WriteHeader(503)
		}
	}))
	for _, policy := range []roundtripper.Policy{quick(roundtripper.Standard()), func() roundtripper.Policy {
		p := quick(roundtripper.Standard())
		p.AttemptHeader = "X-Attempt"
		p.RequestIDHeader = "X-Request-Id"
		p.Prepare = func(req *http.Request, n int) error {
			req.Header.Set("X-Signed", fmt.Sprint(n))
			return nil
		}
		return p
	}()} {
		got = nil
		req := newRequest(t, "PUT", srv.URL, nil)
		req.Trailer = http.Header{"X-Sum": nil}
		req.ContentLength = -1
		sum := 0
		body := func() io.ReadCloser {
			return io.NopCloser(io.MultiReader(strings.NewReader("hello"), readerFunc(func([]byte) (int, error) {
				sum++
				req.Trailer.Set("X-Sum", fmt.Sprint(sum))
				return 0, io.EOF
			})))
		}
		req.Body = body()
		req.GetBody = func() (io.ReadCloser, error) { return body(), nil }
		resp, err := roundtripper.New(base, policy).RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
		drink(t, resp)
		if want := "[hello 1 hello 2]"; fmt.Sprint(got) != want {
			t.Errorf("server saw %v, want %s", got, want)
		}
	}
}
