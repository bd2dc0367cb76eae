package roundtripper_test

// Responses: what becomes of those that are given up, and how the one that is
// handed out reads.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// A fault elsewhere: the response before is left open (openai/openai-go#495,
// openshift-online/ocm-sdk-go#804). It is closed before the next attempt
// starts, and the last one is not.
func TestGivenUpResponsesAreClosedBeforeTheNextAttempt(t *testing.T) {
	for _, statuses := range [][]int{{503, 503, 200}, {503, 503, 404}, {503, 429, 503, 503}} {
		var bodies []*tracked
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			for i, b := range bodies {
				if n := b.closes.Load(); n != 1 {
					t.Errorf("%v: at attempt %d, response %d was closed %d times, want once", statuses, len(bodies)+1, i+1, n)
				}
			}
			resp := answer(req, statuses[len(bodies)], "")
			b := &tracked{Reader: strings.NewReader("body")}
			bodies = append(bodies, b)
			resp.Body, resp.ContentLength = b, 4
			return resp, nil
		})
		resp, err := roundtripper.New(base, quick(roundtripper.Standard())).RoundTrip(newRequest(t, "GET", anyURL, nil))
		outcome(t, resp, err)
		last := bodies[len(bodies)-1]
		if last.closes.Load() != 0 || last.reads.Load() != 0 {
			t.Errorf("%v: the response that is handed out was read %d times and closed %d times, want neither",
				statuses, last.reads.Load(), last.closes.Load())
		}
		if got := drink(t, resp); got != "body" || resp.StatusCode != statuses[len(statuses)-1] {
			t.Errorf("%v: got %d, %q", statuses, resp.StatusCode, got)
		}
		if n := last.closes.Load(); n != 1 {
			t.Errorf("%v: Close reached the base's body %d times, want once", statuses, n)
		}
	}
}

// A fault elsewhere: the last response is lost, or closed, once retries are spent
// (amikos-tech/chroma-go#539, hashicorp/go-retryablehttp#46, #156,
// sigstore/rekor#2796). A response is no error, whatever its status.
func TestLastResponseIsHandedOutWhole(t *testing.T) {
	long := strings.Repeat("a long explanation. ", 20_000) // 400 kB
	for name, header := range map[string][]string{
		"plain":                {},
		"Retry-After":          {"Retry-After", "1"},
		"Retry-After too long": {"Retry-After", "86400"},
		"JSON":                 {"Content-Type", "application/json"},
	} {
		for preset, policy := range map[string]roundtripper.Policy{
			"Headless": roundtripper.Headless(), "Standard": roundtripper.Standard(), "none": {},
		} {
			t.Run(name+"/"+preset, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base := baseFunc(func(req *http.Request) (*http.Response, error) {
						return answer(req, 429, long, header...), nil
					})
					resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
					outcome(t, resp, err)
					if got := drink(t, resp); resp.StatusCode != 429 || got != long {
						t.Errorf("got %d with %d bytes, want 429 with %d", resp.StatusCode, len(got), len(long))
					}
				})
			})
		}
	}
}

// A fault elsewhere: wrapping the body of a 101 loses its Write
// (open-telemetry/opentelemetry-go-contrib#1329). It is the base's own value,
// is never retried, and is under no timeout.
func TestSwitchingProtocols(t *testing.T) {
	policies := map[string]roundtripper.Policy{"none": {}, "Headless": roundtripper.Headless(), "Standard": roundtripper.Standard(), "Transfer": roundtripper.Transfer()}
	all := roundtripper.Standard()
	all.Statuses = append(all.Statuses, 101)
	all.IdleTimeout = time.Second
	all.Accept = func(*http.Response) error { return errOwn }
	all.Decide = func(*roundtripper.Attempt) roundtripper.Verdict { return roundtripper.Verdict{Retry: true} }
	policies["all that could harm it"] = all
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := &duplex{Reader: strings.NewReader("pong")}
				attempts := 0
				var ctx context.Context
				base := baseFunc(func(req *http.Request) (*http.Response, error) {
					attempts++
					ctx = req.Context()
					resp := answer(req, 101, "", "Upgrade", "chat", "Connection", "Upgrade")
					resp.Body = conn
					return resp, nil
				})
				parent, cancel := context.WithCancel(t.Context())
				defer cancel()
				req := newRequest(t, "GET", anyURL, nil).WithContext(parent)
				resp, err := roundtripper.New(base, policy).RoundTrip(req)
				outcome(t, resp, err)
				if attempts != 1 || resp.StatusCode != 101 {
					t.Fatalf("%d attempts, status %d", attempts, resp.StatusCode)
				}
				if resp.Body != io.ReadCloser(conn) {
					t.Fatalf("Body = %T, want the base's own", resp.Body)
				}
				time.Sleep(time.Hour)
				if err := ctx.Err(); err != nil {
					t.Errorf("an hour later the context that the base knows has ended: %v", err)
				}
				if at, ok := ctx.Deadline(); ok {
					t.Errorf("the context that the base knows ends at %v", at)
				}
				rw := resp.Body.(io.ReadWriteCloser)
				if _, err := io.WriteString(rw, "ping"); err != nil {
					t.Error(err)
				}
				if got, err := io.ReadAll(rw); string(got) != "pong" || err != nil || conn.written.String() != "ping" {
					t.Errorf("read %q, %v; wrote %q", got, err, conn.written.String())
				}
				if conn.closed {
					t.Error("closed though nobody asked for it")
				}
				rw.Close()
				cancel()
				if ctx.Err() == nil {
					t.Error("the caller's cancel does not reach the base")
				}
			})
		})
	}
}

// duplex is the body of a 101.
type duplex struct {
	io.Reader
	written strings.Builder
	closed  bool
}

func (d *duplex) Write(p []byte) (int, error) { return d.written.Write(p) }
func (d *duplex) Close() error                { d.closed = true; return nil }

// A fault elsewhere: a body that is cut while the caller reads it is beyond any retry
// (hashicorp/go-retryablehttp#238): its error surfaces as it is.
func TestBodyCutInTheCallersHands(t *testing.T) {
	srv, base := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "12345")
	}))
	for _, policy := range []roundtripper.Policy{{}, roundtripper.Headless(), roundtripper.Standard(), roundtripper.Transfer()} {
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", srv.URL, nil))
		wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonOK)
		for range 2 { // and stays
			data := make([]byte, 5)
			n, _ := io.ReadFull(resp.Body, data)
			if n == 0 {
				break
			}
			if string(data[:n]) != "12345" {
				t.Errorf("read %q", data[:n])
			}
		}
		for range 3 {
			if _, err := resp.Body.Read(make([]byte, 5)); err != io.ErrUnexpectedEOF {
				t.Errorf("error = %#v, want io.ErrUnexpectedEOF itself", err)
			}
		}
		resp.Body.Close()
	}
}

// A fault elsewhere: the wrapper of a body can't be closed while it is read
// (golang/go#81404). Close from another goroutine ends the Read and the
// attempt's context.
func TestCloseDuringRead(t *testing.T) {
	for _, policy := range []roundtripper.Policy{{}, roundtripper.Headless(), roundtripper.Standard(), roundtripper.Transfer()} {
		synctest.Test(t, func(t *testing.T) {
			pr, pw := io.Pipe()
			defer pw.Close()
			ended := 0
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				context.AfterFunc(req.Context(), func() { ended++ })
				resp := answer(req, 200, "")
				resp.Body, resp.ContentLength = pr, -1
				return resp, nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
			outcome(t, resp, err)
			read := make(chan error)
			go func() {
				_, err := resp.Body.Read(make([]byte, 1))
				read <- err
			}()
			synctest.Wait()
			for range 2 {
				if err := resp.Body.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}
			if err := <-read; err == nil || err == io.EOF {
				t.Errorf("Read = %v, want that it was closed", err)
			}
			cancel()
			synctest.Wait()
			if ended != 1 {
				t.Errorf("the attempt's context ended %d times, want once", ended)
			}
		})
	}
}

// So it is with a JSON body that was read inside the attempt (run with -race).
func TestCloseDuringReadOfHeldJSON(t *testing.T) {
	text := `"` + strings.Repeat("x", 1<<16) + `"`
	for limit, policy := range map[int64]roundtripper.Policy{
		1 << 20: roundtripper.Headless(), // all of it
		100:     {ReadJSON: 100},         // the beginning
	} {
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			return answer(req, 200, text, "Content-Type", "application/json"), nil
		})
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
		outcome(t, resp, err)
		var got strings.Builder
		read := make(chan error)
		go func() {
			_, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{resp.Body}, make([]byte, 16))
			read <- err
		}()
		resp.Body.Close()
		<-read
		if !strings.HasPrefix(text, got.String()) {
			t.Errorf("limit %d: read %d bytes, not the beginning of the body", limit, got.Len())
		}
	}
}

// After Close nothing more is read, and that is no end of the body.
func TestReadAfterClose(t *testing.T) {
	srv, wire := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `"`+strings.Repeat("x", 1<<16)+`"`)
	}))
	for name, policy := range map[string]roundtripper.Policy{"none": {}, "all read ahead": roundtripper.Headless(), "a part": {ReadJSON: 100}} {
		resp, err := roundtripper.New(wire, policy).RoundTrip(newRequest(t, "GET", srv.URL, nil))
		outcome(t, resp, err)
		resp.Body.Read(make([]byte, 1))
		resp.Body.Close()
		if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err == nil || err == io.EOF {
			t.Errorf("%s: Read after Close = %d, %v", name, n, err)
		}
	}
}

// Once a body has been read to its end, no clock makes an error of it.
func TestEndOfBodyStaysTheEnd(t *testing.T) {
	for _, typ := range []string{"text/plain", "application/json"} {
		synctest.Test(t, func(t *testing.T) {
			policy := roundtripper.Standard()
			policy.IdleTimeout = time.Second
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				return answer(req, 200, "{}", "Content-Type", typ), nil
			})
			resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
			outcome(t, resp, err)
			if data, err := io.ReadAll(resp.Body); string(data) != "{}" || err != nil {
				t.Errorf("%s: read %q, %v", typ, data, err)
			}
			time.Sleep(time.Hour)
			if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("%s: an hour later Read = %d, %v, want EOF", typ, n, err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Errorf("%s: Close: %v", typ, err)
			}
		})
	}
}

// A HEAD response has the length of what GET would give, and no body: nothing
// is read of it.
func TestHeadIsNotDrained(t *testing.T) {
	for _, length := range []int64{-1, 0, 100, 1 << 30} {
		var bodies []*tracked
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			resp := answer(req, []int{503, 200, 599}[min(2, len(bodies))], "", "Content-Type", "application/json")
			b := &tracked{Reader: strings.NewReader("")}
			bodies = append(bodies, b)
			resp.Body, resp.ContentLength = b, length
			return resp, nil
		})
		policy := quick(roundtripper.Standard())
		policy.Accept = roundtripper.ValidJSON
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "HEAD", anyURL, nil))
		wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
		if first := bodies[0]; first.reads.Load() != 0 || first.closes.Load() != 1 || resp.ContentLength != length {
			t.Errorf("length %d: the first response was read %d times, closed %d times; ContentLength = %d",
				length, first.reads.Load(), first.closes.Load(), resp.ContentLength)
		}
		drink(t, resp)
	}
}

// What is in the response apart from its body is the base's.
func TestResponseIsTheBasesOwn(t *testing.T) {
	for name, policy := range map[string]roundtripper.Policy{"none": {}, "Headless": roundtripper.Headless(), "Standard": roundtripper.Standard()} {
		var made *http.Response
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			made = answer(req, 201, "body", "X-A", "1", "X-A", "2")
			made.Trailer = http.Header{"X-T": nil}
			made.Uncompressed = true
			return made, nil
		})
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
		outcome(t, resp, err)
		if resp != made {
			t.Errorf("%s: another response: %+v", name, resp)
		}
		if resp.Request == nil || resp.Request.URL.String() != anyURL {
			t.Errorf("%s: Request = %+v", name, resp.Request)
		}
		drink(t, resp)
		if got := fmt.Sprint(resp.Header, resp.Trailer, resp.StatusCode, resp.ContentLength, resp.Uncompressed); got != "map[X-A:[1 2]] map[X-T:[]] 201 4 true" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// What the caller has given up is not sent, whatever the policy.
func TestNothingIsSentForACallerWhoIsGone(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOwn)
	for name, policy := range map[string]roundtripper.Policy{"zero": {}, "Standard": roundtripper.Standard()} {
		base := &script{statuses: []int{200}}
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
		wantEnd(t, outcome(t, resp, err), 0, roundtripper.ReasonCanceled)
		if len(base.seen) != 0 || !errors.Is(err, context.Canceled) || !errors.Is(err, errOwn) {
			t.Errorf("%s: %d requests were sent: %v", name, len(base.seen), err)
		}
	}
}

// The zero Policy adds nothing: whatever the base returns comes through, once.
func TestZeroPolicyBehavesAsTheBase(t *testing.T) {
	for _, status := range []int{200, 302, 401, 429, 500, 503} {
		base := &script{statuses: []int{status}}
		resp, err := roundtripper.New(base, roundtripper.Policy{}).RoundTrip(newRequest(t, "GET", anyURL, nil))
		report := outcome(t, resp, err)
		stop := roundtripper.ReasonOK
		if status >= 400 {
			stop = roundtripper.ReasonStatus
		}
		wantEnd(t, report, 1, stop)
		if got := drink(t, resp); resp.StatusCode != status || got != http.StatusText(status) {
			t.Errorf("got %d, %q, want %d", resp.StatusCode, got, status)
		}
	}
	base := baseFunc(func(*http.Request) (*http.Response, error) { return nil, errOwn })
	resp, err := roundtripper.New(base, roundtripper.Policy{}).RoundTrip(newRequest(t, "GET", anyURL, nil))
	wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonRetriesSpent)
	if !errors.Is(err, errOwn) {
		t.Errorf("error = %v, want the base's own in it", err)
	}
}
