package roundtripper_test

// A fault elsewhere: the caller's body is never closed, or closed under the base that still
// reads it (hashicorp/go-retryablehttp and failsafe-go close it nowhere). A
// body, and every reader that GetBody gave, is closed whichever way a call
// ends.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// ending is one way for a call to end.
type ending struct {
	name   string
	policy func(*roundtripper.Policy)
	change func(*http.Request) *http.Request
	// base answers an attempt whose body it has taken; nil: it answers 200.
	base     func(req *http.Request, attempt int) (*http.Response, error)
	attempts int // how often the base is called
	stop     roundtripper.Reason
}

var errOwn = errors.New("own error")

func endings() []ending {
	status := func(codes ...int) func(*http.Request, int) (*http.Response, error) {
		return func(req *http.Request, n int) (*http.Response, error) {
			return answer(req, codes[min(n, len(codes))-1], "body"), nil
		}
	}
	fails := func(err error) func(*http.Request, int) (*http.Response, error) {
		return func(*http.Request, int) (*http.Response, error) { return nil, err }
	}
	return []ending{
		{name: "success", attempts: 1, stop: roundtripper.ReasonOK},
		{name: "success with JSON", attempts: 1, stop: roundtripper.ReasonOK,
			base: func(req *http.Request, _ int) (*http.Response, error) {
				return answer(req, 200, "{}", "Content-Type", "application/json"), nil
			}},
		{name: "success without a body", attempts: 1, stop: roundtripper.ReasonOK,
			base: func(req *http.Request, _ int) (*http.Response, error) {
				resp := answer(req, 204, "")
				resp.Body = http.NoBody
				return resp, nil
			}},
		{name: "success after retries", base: status(503, 503, 200), attempts: 3, stop: roundtripper.ReasonOK},
		{name: "retries spent on a status", base: status(503), attempts: 4, stop: roundtripper.ReasonRetriesSpent},
		{name: "retries spent on errors", base: fails(errReset), attempts: 4, stop: roundtripper.ReasonRetriesSpent},
		{name: "final status", base: status(404), attempts: 1, stop: roundtripper.ReasonStatus},
		{name: "final status on retry", base: status(503, 401), attempts: 2, stop: roundtripper.ReasonStatus},
		{name: "not repeatable", base: status(503), attempts: 1, stop: roundtripper.ReasonNotRepeatable,
			policy: func(p *roundtripper.Policy) { p.Methods = nil }},
		{name: "not replayable", base: status(503), attempts: 1, stop: roundtripper.ReasonNotReplayable,
			change: func(req *http.Request) *http.Request { req.GetBody = nil; return req }},
		{name: "Retry-After too long", attempts: 1, stop: roundtripper.ReasonRetryAfterTooLong,
			base: func(req *http.Request, _ int) (*http.Response, error) {
				return answer(req, 503, "body", "Retry-After", "3600"), nil
			}},
		{name: "GetBody fails", base: status(503), attempts: 1, stop: roundtripper.ReasonNotReplayable,
			change: func(req *http.Request) *http.Request {
				req.GetBody = func() (io.ReadCloser, error) { return nil, errOwn }
				return req
			}},
		{name: "Prepare fails", attempts: 0, stop: roundtripper.ReasonPermanent,
			policy: func(p *roundtripper.Policy) {
				p.Prepare = func(*http.Request, int) error { return errOwn }
			}},
		{name: "Prepare fails on retry", base: status(503), attempts: 1, stop: roundtripper.ReasonPermanent,
			policy: func(p *roundtripper.Policy) {
				p.Prepare = func(_ *http.Request, n int) error {
					if n == 2 {
						return errOwn
					}
					return nil
				}
			}},
		{name: "Accept says no", attempts: 1, stop: roundtripper.ReasonContract,
			policy: func(p *roundtripper.Policy) {
				p.Accept = func(*http.Response) error { return errOwn }
			}},
		{name: "Decide says no", base: status(503), attempts: 1, stop: roundtripper.ReasonStatus,
			policy: func(p *roundtripper.Policy) {
				p.Decide = func(a *roundtripper.Attempt) roundtripper.Verdict { return roundtripper.Verdict{} }
			}},
		{name: "fallback for an error", base: fails(errReset), attempts: 4, stop: roundtripper.ReasonRetriesSpent,
			policy: func(p *roundtripper.Policy) {
				p.Fallback = func(req *http.Request, _ *roundtripper.Report, _ error) (*http.Response, error) {
					return answer(req, 200, "old"), nil
				}
			}},
		{name: "nothing and no error", base: fails(nil), attempts: 1, stop: roundtripper.ReasonPermanent},
		{name: "context ended before", attempts: 0, stop: roundtripper.ReasonCanceled,
			change: func(req *http.Request) *http.Request {
				ctx, cancel := context.WithCancelCause(req.Context())
				cancel(errOwn)
				return req.WithContext(ctx)
			}},
		{name: "deadline passed before", attempts: 0, stop: roundtripper.ReasonDeadline,
			change: func(req *http.Request) *http.Request {
				ctx, cancel := context.WithDeadline(req.Context(), time.Now().Add(-time.Second))
				cancel()
				return req.WithContext(ctx)
			}},
		{name: "canceled in a wait", base: status(503), attempts: 1, stop: roundtripper.ReasonCanceled,
			policy: func(p *roundtripper.Policy) {
				p.Backoff = func(int, time.Duration) time.Duration { return 10 * time.Second }
			},
			change: func(req *http.Request) *http.Request {
				ctx, cancel := context.WithCancel(req.Context())
				time.AfterFunc(50*time.Millisecond, cancel)
				return req.WithContext(ctx)
			}},
		{name: "canceled in an attempt", attempts: 1, stop: roundtripper.ReasonCanceled,
			base: func(req *http.Request, _ int) (*http.Response, error) {
				<-req.Context().Done()
				return nil, req.Context().Err()
			},
			change: func(req *http.Request) *http.Request {
				ctx, cancel := context.WithCancel(req.Context())
				time.AfterFunc(50*time.Millisecond, cancel)
				return req.WithContext(ctx)
			}},
		{name: "attempt timeouts", attempts: 3, stop: roundtripper.ReasonDeadline, // 8 s + 8 s + 4 s
			base: func(req *http.Request, _ int) (*http.Response, error) {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}},
		{name: "deadline certain", base: status(503), attempts: 1, stop: roundtripper.ReasonDeadline,
			policy: func(p *roundtripper.Policy) {
				p.Backoff = func(int, time.Duration) time.Duration { return 25 * time.Second }
			}},
		{name: "invalid policy", attempts: 0, stop: roundtripper.ReasonInvalid,
			policy: func(p *roundtripper.Policy) { p.MaxRetries = -1 }},
		{name: "invalid policy from the context", attempts: 0, stop: roundtripper.ReasonInvalid,
			change: func(req *http.Request) *http.Request {
				return req.WithContext(roundtripper.WithPolicy(req.Context(), roundtripper.Policy{MaxDelay: -1}))
			}},
		{name: "no URL", attempts: 0, stop: roundtripper.ReasonInvalid,
			change: func(req *http.Request) *http.Request { req.URL = nil; return req }},
		{name: "no host", attempts: 1, stop: roundtripper.ReasonPermanent,
			base:   func(*http.Request, int) (*http.Response, error) { return nil, errors.New("no host") },
			change: func(req *http.Request) *http.Request { req.URL = &url.URL{Scheme: "http"}; return req }},
		{name: "bad request ID", attempts: 0, stop: roundtripper.ReasonInvalid,
			policy: func(p *roundtripper.Policy) { p.RequestIDHeader = "X-Request-Id" },
			change: func(req *http.Request) *http.Request { req.Header.Set("X-Request-Id", "a\tb"); return req }},
		{name: "bad key", attempts: 0, stop: roundtripper.ReasonInvalid,
			change: func(req *http.Request) *http.Request {
				req.Header.Set("Idempotency-Key", strings.Repeat("k", 256))
				return req
			}},
	}
}

func TestBodyIsClosedAtEveryEnd(t *testing.T) {
	for _, e := range endings() {
		for _, manners := range []string{"good", "late", "none", "unread"} {
			t.Run(e.name+"/"+manners, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testEnding(t, e, manners) })
			})
		}
	}
}

// testEnding makes a call that ends as e says. manners are how the base closes
// the body: before it returns, later on a goroutine of its own, never, or never
// and without having read it.
func testEnding(t *testing.T, e ending, manners string) {
	var probes []*probe
	body := func() *probe {
		p := newProbe("hello")
		probes = append(probes, p)
		return p
	}
	calls := 0
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		calls++
		p := probes[len(probes)-1]
		p.hold(true)
		if manners != "unread" {
			if data, err := io.ReadAll(req.Body); string(data) != "hello" || err != nil {
				t.Errorf("attempt %d: body = %q, %v", calls, data, err)
			}
		}
		p.hold(false)
		switch manners {
		case "good":
			req.Body.Close()
		case "late":
			go func() {
				time.Sleep(time.Millisecond)
				req.Body.Close()
			}()
		}
		if e.base == nil {
			return answer(req, 200, "body"), nil
		}
		return e.base(req, calls)
	})
	policy := quick(roundtripper.Standard())
	if e.policy != nil {
		e.policy(&policy)
	}
	req := newRequest(t, "PUT", anyURL, body())
	req.GetBody = func() (io.ReadCloser, error) { return body(), nil }
	if e.change != nil {
		req = e.change(req)
	}
	resp, err := roundtripper.New(base, policy).RoundTrip(req)
	report := outcome(t, resp, err)
	// A body that was not read is as good as new, whatever GetBody says.
	asNew := manners == "unread" && e.stop == roundtripper.ReasonNotReplayable
	if (report.Stop != e.stop || calls != e.attempts) && !asNew {
		t.Errorf("the base was called %d times, stop = %q (%v); want %d, %q", calls, report.Stop, err, e.attempts, e.stop)
	}
	if resp != nil {
		drink(t, resp)
	}
	time.Sleep(time.Second) // for a base that closes late
	for i, p := range probes {
		p.check(t, fmt.Sprintf("body %d", i+1))
	}
}

// So it is under policies that do less.
func TestBodyIsClosedUnderEveryPolicy(t *testing.T) {
	for name, policy := range map[string]roundtripper.Policy{"none": {}, "Headless": roundtripper.Headless(), "Transfer": roundtripper.Transfer()} {
		for _, status := range []int{200, 404, 503, 0} {
			for _, manners := range []string{"good", "late", "none", "unread"} {
				t.Run(fmt.Sprintf("%s/%d/%s", name, status, manners), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						body := newProbe("hello")
						base := baseFunc(func(req *http.Request) (*http.Response, error) {
							if manners != "unread" {
								io.ReadAll(req.Body)
							}
							switch manners {
							case "good":
								req.Body.Close()
							case "late":
								time.AfterFunc(time.Millisecond, func() { req.Body.Close() })
							}
							if status == 0 {
								return nil, errReset
							}
							return answer(req, status, "{}", "Content-Type", "application/json"), nil
						})
						resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "POST", anyURL, body))
						outcome(t, resp, err)
						if resp != nil {
							drink(t, resp)
						}
						time.Sleep(time.Second)
						body.check(t, "body")
					})
				})
			}
		}
	}
}

// A body is closed no sooner than the base is done: the answer's end is not
// the request's while the caller still reads the answer.
func TestBodyStaysOpenUntilTheAnswerIsRead(t *testing.T) {
	for _, policy := range []roundtripper.Policy{{}, roundtripper.Headless(), roundtripper.Standard(), roundtripper.Transfer()} {
		body := newProbe("hello")
		done := make(chan string)
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			body.hold(true)
			resp := answer(req, 200, "")
			pr, pw := io.Pipe()
			resp.Body, resp.ContentLength = pr, -1
			go func() {
				data, _ := io.ReadAll(req.Body)
				body.hold(false)
				req.Body.Close()
				io.WriteString(pw, "got "+string(data))
				pw.Close()
				done <- string(data)
			}()
			return resp, nil
		})
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "POST", anyURL, body))
		outcome(t, resp, err)
		if got := drink(t, resp); got != "got hello" {
			t.Errorf("answer = %q", got)
		}
		<-done
		body.check(t, "body")
	}
}

// Nor is the end of the answer, by itself, the end of an upload, whether that
// has begun by then or not.
func TestUploadOutlivesTheEndOfTheAnswer(t *testing.T) {
	for name, begins := range map[string]time.Duration{"begun": 0, "not begun": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := &probe{src: &slowReader{strings.NewReader(strings.Repeat("x", 100))}}
				body.hold(true)
				sent := make(chan string)
				base := baseFunc(func(req *http.Request) (*http.Response, error) {
					go func() {
						time.Sleep(begins)
						data, err := io.ReadAll(req.Body)
						body.hold(false)
						req.Body.Close()
						sent <- fmt.Sprint(len(data), " ", err)
					}()
					return answer(req, 200, "early"), nil
				})
				resp, err := roundtripper.New(base, roundtripper.Standard()).RoundTrip(newRequest(t, "POST", anyURL, body))
				outcome(t, resp, err)
				time.Sleep(25 * time.Millisecond)
				if data, err := io.ReadAll(resp.Body); string(data) != "early" || err != nil {
					t.Errorf("answer = %q, %v", data, err)
				}
				if got := <-sent; got != "100 <nil>" {
					t.Errorf("the base sent %s of 100 bytes", got)
				}
				resp.Body.Close()
				body.check(t, "body")
			})
		})
	}
}

// Whoever closes the answer gives up the upload as well; the base finds that
// out at its next Read, and the body is closed once nobody reads it.
func TestClosingTheAnswerEndsTheUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := &probe{src: &slowReader{strings.NewReader(strings.Repeat("x", 1000))}}
		var sent int
		var end error
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			go func() {
				defer req.Body.Close()
				for b := make([]byte, 10); end == nil; {
					var n int
					n, end = req.Body.Read(b)
					sent += n
				}
			}()
			return answer(req, 200, "early"), nil
		})
		resp, err := roundtripper.New(base, roundtripper.Standard()).RoundTrip(newRequest(t, "POST", anyURL, body))
		outcome(t, resp, err)
		time.Sleep(105 * time.Millisecond)
		resp.Body.Close()
		time.Sleep(time.Minute)
		synctest.Wait()
		if end == nil || end == io.EOF || sent > 11 {
			t.Errorf("the base read %d bytes, then %v: want it to meet an error at 110 ms", sent, end)
		}
		body.check(t, "body")
	})
}
