package roundtripper_test

// The context of an attempt: how long it lives, what ends it, and what the
// reader of a body sees of that.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// A fault elsewhere: "context canceled" while a good body is read, since the attempt's
// context ended with RoundTrip (go-kit/kit#773, Azure/azure-sdk-for-go#17780,
// failsafe-go/failsafe-go#65, #123, gojek/heimdall#152).
func TestSlowReaderGetsAllOfTheBody(t *testing.T) {
	for name, change := range map[string]func(*roundtripper.Policy){
		"attempt timeout": func(p *roundtripper.Policy) { p.AttemptTimeout = 10 * time.Minute },
		"total timeout":   func(p *roundtripper.Policy) { p.TotalTimeout = 10 * time.Minute },
		"idle timeout":    func(p *roundtripper.Policy) { p.IdleTimeout = time.Second },
		"none":            func(*roundtripper.Policy) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				_, base := serveInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					requests++
					if requests == 1 {
						w.WriteHeader(503)
						return
					}
					w.Write(make([]byte, 1<<20))
				}))
				policy := roundtripper.Policy{MaxRetries: 1, Statuses: []int{503}, Methods: []string{"GET"}}
				change(&policy)
				resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
				wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
				total := 0
				for b := make([]byte, 64<<10); err == nil; {
					time.Sleep(2 * time.Second)
					var n int
					n, err = io.ReadFull(resp.Body, b)
					total += n
				}
				if total != 1<<20 || err != io.EOF {
					t.Errorf("read %d bytes, then %v", total, err)
				}
				resp.Body.Close()
			})
		})
	}
}

// The context ends at the end of the body or with Close, whichever comes first,
// and not before; that of an attempt that was given up has ended by the next.
func TestAttemptContextLivesAsLongAsItsBody(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		end  func(*http.Response)
	}{
		"EOF":   {"body", func(r *http.Response) { io.Copy(io.Discard, r.Body) }},
		"Close": {"body", func(r *http.Response) { r.Body.Close() }},
		"both": {"body", func(r *http.Response) {
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}},
	} {
		for _, timeout := range []time.Duration{0, time.Hour} {
			t.Run(fmt.Sprintf("%s/timeout=%v", name, timeout), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var ctxs []context.Context
					var ended atomic.Int32
					base := baseFunc(func(req *http.Request) (*http.Response, error) {
						for i, ctx := range ctxs {
							if ctx.Err() == nil {
								t.Errorf("attempt %d has begun and the context of %d lives", len(ctxs)+1, i+1)
							}
						}
						// Something in the base that waits for the end, as
						// net/http does: it must not wait for ever.
						go func() {
							<-req.Context().Done()
							ended.Add(1)
						}()
						ctxs = append(ctxs, req.Context())
						return answer(req, []int{503, 503, 200}[len(ctxs)-1], test.body), nil
					})
					policy := quick(roundtripper.Standard())
					policy.AttemptTimeout, policy.TotalTimeout = timeout, timeout
					resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
					outcome(t, resp, err)
					last := ctxs[len(ctxs)-1]
					synctest.Wait()
					if last.Err() != nil || ended.Load() != 2 {
						t.Errorf("before the body is read: %v, %d ended, want nil and 2", last.Err(), ended.Load())
					}
					resp.Body.Read(make([]byte, 1))
					if last.Err() != nil {
						t.Errorf("amid the body: %v", last.Err())
					}
					test.end(resp)
					synctest.Wait()
					if last.Err() == nil || ended.Load() != 3 {
						t.Errorf("afterwards: %v, %d ended, want an end and 3", last.Err(), ended.Load())
					}
				})
			})
		}
	}
}

// What a base, or what it derives from the attempt's context, sees of the ends:
// an attempt timeout is a deadline and no cancellation, and the caller's
// cancellation comes with its cause.
func TestWhatTheBaseSeesOfAnEnd(t *testing.T) {
	for name, test := range map[string]struct {
		policy roundtripper.Policy
		cancel bool
		err    error
		cause  error
	}{
		"attempt timeout": {roundtripper.Policy{AttemptTimeout: 50 * time.Millisecond}, false, context.DeadlineExceeded, context.DeadlineExceeded},
		"idle timeout":    {roundtripper.Policy{IdleTimeout: 50 * time.Millisecond}, false, context.DeadlineExceeded, context.DeadlineExceeded},
		"total timeout":   {roundtripper.Policy{TotalTimeout: 50 * time.Millisecond}, false, context.DeadlineExceeded, context.DeadlineExceeded},
		"caller": {roundtripper.Policy{AttemptTimeout: time.Hour, TotalTimeout: time.Hour, IdleTimeout: time.Hour},
			true, context.Canceled, errOwn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if test.cancel {
					time.AfterFunc(50*time.Millisecond, func() { cancel(errOwn) })
				}
				base := baseFunc(func(req *http.Request) (*http.Response, error) {
					derived, stop := context.WithCancelCause(req.Context())
					defer stop(nil)
					<-derived.Done()
					synctest.Wait()
					if at := time.Since(start); at != 50*time.Millisecond {
						t.Errorf("ended after %v, want 50 ms", at)
					}
					for _, ctx := range []context.Context{req.Context(), derived} {
						if err, cause := ctx.Err(), context.Cause(ctx); !errors.Is(err, test.err) || !errors.Is(cause, test.cause) {
							t.Errorf("%T: Err = %v, Cause = %v, want %v, %v", ctx, err, cause, test.err, test.cause)
						}
					}
					return nil, derived.Err()
				})
				req := newRequest(t, "GET", anyURL, nil).WithContext(ctx)
				resp, err := roundtripper.New(base, test.policy).RoundTrip(req)
				outcome(t, resp, err)
				if !errors.Is(err, test.err) || !errors.Is(err, test.cause) {
					t.Errorf("error = %v, want it to be %v and %v", err, test.err, test.cause)
				}
				ne, ok := errors.AsType[net.Error](err)
				if timeout := ok && ne.Timeout(); timeout == test.cancel {
					t.Errorf("Timeout() = %v", timeout)
				}
				if errors.Is(err, context.Canceled) != test.cancel {
					t.Errorf("error = %v: taken for the other kind of end", err)
				}
			})
		})
	}
}

// The deadline that the base sees is the nearest there is.
func TestDeadlineOfAnAttempt(t *testing.T) {
	for _, test := range []struct {
		attempt, total, own time.Duration
		want                time.Duration // 0: none
	}{
		{0, 0, 0, 0},
		{5, 0, 0, 5},
		{0, 7, 0, 7},
		{5, 7, 0, 5},
		{7, 5, 0, 5},
		{0, 0, 3, 3},
		{5, 7, 3, 3},
		{5, 7, 6, 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx := t.Context()
			if test.own > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.own*time.Second)
				defer cancel()
			}
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				at, ok := req.Context().Deadline()
				if ok != (test.want > 0) || ok && at.Sub(start) != test.want*time.Second {
					t.Errorf("%+v: deadline after %v, %v", test, at.Sub(start), ok)
				}
				return answer(req, 200, ""), nil
			})
			policy := roundtripper.Policy{AttemptTimeout: test.attempt * time.Second, TotalTimeout: test.total * time.Second}
			resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
			outcome(t, resp, err)
			resp.Body.Close()
		})
	}
}

// A fault elsewhere: a healthy stream is killed by a timeout for one attempt
// (Azure/azure-storage-blob-go#60). IdleTimeout counts silence alone, over a
// real transport too; AttemptTimeout covers the body, and the error says so.
func TestStreamUnderTimeouts(t *testing.T) {
	for name, test := range map[string]struct {
		policy roundtripper.Policy
		want   int           // pieces of six, one each 50 ms
		until  time.Duration // when the body ends
	}{
		"idle 100 ms":   {roundtripper.Policy{IdleTimeout: 100 * time.Millisecond}, 6, 300 * time.Millisecond},
		"idle 40 ms":    {roundtripper.Policy{IdleTimeout: 40 * time.Millisecond}, 1, 40 * time.Millisecond},
		"attempt 1 s":   {roundtripper.Policy{AttemptTimeout: time.Second}, 6, 300 * time.Millisecond},
		"attempt 120ms": {roundtripper.Policy{AttemptTimeout: 120 * time.Millisecond}, 3, 120 * time.Millisecond},
		"total 120ms":   {roundtripper.Policy{TotalTimeout: 120 * time.Millisecond}, 3, 120 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, base := serveInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					for range 6 {
						io.WriteString(w, "piece ")
						http.NewResponseController(w).Flush()
						time.Sleep(50 * time.Millisecond)
					}
				}))
				start := time.Now()
				resp, err := roundtripper.New(base, test.policy).RoundTrip(newRequest(t, "GET", anyURL, nil))
				outcome(t, resp, err)
				data, err := io.ReadAll(resp.Body)
				if got := strings.Count(string(data), "piece"); got != test.want || time.Since(start) != test.until {
					t.Errorf("read %d pieces in %v, want %d in %v", got, time.Since(start), test.want, test.until)
				}
				if cut := test.want < 6; cut {
					ne, ok := errors.AsType[net.Error](err)
					if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || !ok || !ne.Timeout() {
						t.Errorf("error = %v, want DeadlineExceeded and Timeout()", err)
					}
				} else if err != nil {
					t.Error(err)
				}
				resp.Body.Close()
			})
		})
	}
}

// The caller's cancellation ends the reading of a body, with its cause.
func TestCallerCancelsAmidTheBody(t *testing.T) {
	for _, policy := range []roundtripper.Policy{roundtripper.Headless(), roundtripper.Standard(), roundtripper.Transfer()} {
		synctest.Test(t, func(t *testing.T) {
			_, base := serveInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, "piece")
				http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}))
			ctx, cancel := context.WithCancelCause(t.Context())
			resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
			outcome(t, resp, err)
			start := time.Now()
			time.AfterFunc(time.Second, func() { cancel(errOwn) })
			data, err := io.ReadAll(resp.Body)
			if string(data) != "piece" || !errors.Is(err, context.Canceled) || !errors.Is(err, errOwn) || time.Since(start) != time.Second {
				t.Errorf("after %v: read %q, then %v", time.Since(start), data, err)
			}
			if errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error = %v: a cancellation is no timeout", err)
			}
			resp.Body.Close()
		})
	}
}

// watchedContext is a context that counts who waits for its end.
type watchedContext struct {
	context.Context
	done    chan struct{}
	waiting atomic.Int32
}

func (c *watchedContext) Done() <-chan struct{} { return c.done }

// AfterFunc is what package context looks for in contexts that are not its own.
func (c *watchedContext) AfterFunc(func()) (stop func() bool) {
	c.waiting.Add(1)
	var once sync.Once
	return func() bool {
		once.Do(func() { c.waiting.Add(-1) })
		return true
	}
}

// A fault elsewhere: each call leaves something behind in a context that lives as long as
// the program.
func TestNothingStaysInTheCallersContext(t *testing.T) {
	for name, policy := range map[string]roundtripper.Policy{
		"none": {}, "Headless": quick(roundtripper.Headless()), "Standard": quick(roundtripper.Standard()), "Transfer": quick(roundtripper.Transfer()),
	} {
		ctx := &watchedContext{Context: t.Context(), done: make(chan struct{})}
		n := 0
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			n++
			_, stop := context.WithCancel(req.Context()) // as net/http does
			defer stop()
			if n%3 == 0 {
				return nil, errReset
			}
			return answer(req, []int{200, 503}[n%2], "body"), nil
		})
		tr := roundtripper.New(base, policy)
		for i := range 20 {
			resp, err := tr.RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
			if err != nil {
				continue
			}
			if i%2 == 0 {
				io.Copy(io.Discard, resp.Body)
			} else {
				resp.Body.Read(make([]byte, 1))
				resp.Body.Close()
			}
		}
		if n := ctx.waiting.Load(); n != 0 {
			t.Errorf("%s: %d things still wait for the end of the caller's context", name, n)
		}
	}
}

// A connection that was upgraded may live for days, and its caller's context for
// longer: nothing waits in that for it, unless the base has hung something on the
// attempt's, which then ends with it.
func TestUpgradeAndTheCallersContext(t *testing.T) {
	var child context.Context
	var stop context.CancelFunc
	upgrade := func(req *http.Request) (*http.Response, error) {
		child, stop = context.WithCancel(req.Context())
		return answer(req, http.StatusSwitchingProtocols, ""), nil
	}
	for name, policy := range map[string]roundtripper.Policy{"Standard": roundtripper.Standard(), "Transfer": roundtripper.Transfer()} {
		ctx := &watchedContext{Context: t.Context(), done: make(chan struct{})}
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			defer func() { stop() }()
			return upgrade(req)
		})
		resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(ctx))
		outcome(t, resp, err)
		if n := ctx.waiting.Load(); n != 0 {
			t.Errorf("%s: %d things wait for the end of the caller's context", name, n)
		}

		parent, cancel := context.WithCancel(t.Context())
		resp, err = roundtripper.New(baseFunc(upgrade), policy).RoundTrip(newRequest(t, "GET", anyURL, nil).WithContext(parent))
		outcome(t, resp, err)
		cancel()
		select {
		case <-child.Done():
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the caller's cancel does not reach what the base has hung on the attempt", name)
		}
		stop()
	}
}
