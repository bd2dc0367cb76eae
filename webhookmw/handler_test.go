package webhookmw_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// Handlers that do what handlers do, in the places where middleware is put.

func TestHandlerThatPanics(t *testing.T) {
	for _, value := range []any{"boom", errors.New("boom"), http.ErrAbortHandler} {
		for _, written := range []bool{false, true} {
			rec := newReceiver(t, webhookmw.Config{}, nil)
			rec.next = func(w http.ResponseWriter, r *http.Request) {
				if rec.ran() > 1 {
					return
				}
				if written {
					w.WriteHeader(http.StatusOK)
				}
				panic(value)
			}
			require.PanicsWithValue(t, value, func() { rec.send(signed("dlv_1", plain)) })
			require.Equal(t, webhookmw.ReasonPanicked, rec.last().Reason)
			require.Equal(t, 200, rec.send(signed("dlv_1", plain)).Code)
			require.Equal(t, 2, rec.ran(), "it was not taken, whatever it had written")
		}
	}
}

func TestHandlerThatEndsItsGoroutine(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, nil)
	rec.next = func(w http.ResponseWriter, r *http.Request) {
		if rec.ran() == 1 {
			runtime.Goexit()
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rec.send(signed("dlv_1", plain))
	}()
	<-done
	require.Equal(t, webhookmw.ReasonPanicked, rec.last().Reason)
	require.Equal(t, 200, rec.send(signed("dlv_1", plain)).Code)
	require.Equal(t, 2, rec.ran())
}

// The body is the handler's to read in part, to close, or to leave alone.
func TestHandlerThatReadsLittle(t *testing.T) {
	handlers := []http.HandlerFunc{
		func(w http.ResponseWriter, r *http.Request) {},
		func(w http.ResponseWriter, r *http.Request) { r.Body.Read(make([]byte, 3)) },
		func(w http.ResponseWriter, r *http.Request) {
			require.NoError(t, r.Body.Close())
			require.NoError(t, r.Body.Close())
		},
	}
	for i, handler := range handlers {
		v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}})
		require.NoError(t, err)
		server := httptest.NewServer(v.Handler(handler))
		for n := range 3 {
			require.Equal(t, 200, post(t, server, signed(fmt.Sprint(i, n), plain)).StatusCode)
		}
		server.Close()
	}
}

// The client hangs up while the handler works. The handler learns it as from net/http, and what it says then counts.
func TestClientHangsUp(t *testing.T) {
	for _, status := range []int{0, 200, 500} {
		at(t, epoch, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			rec := newReceiver(t, webhookmw.Config{Store: strict{webhookmw.NewMemory(webhookmw.MemoryConfig{})}}, nil)
			rec.next = func(w http.ResponseWriter, r *http.Request) {
				if rec.ran() == 1 {
					time.AfterFunc(time.Second, cancel)
					<-r.Context().Done()
					require.Equal(t, time.Second, time.Since(epoch))
					require.ErrorIs(t, r.Context().Err(), context.Canceled)
					if status != 0 {
						w.WriteHeader(status)
					}
				}
			}
			rec.send(signed("dlv_1", plain).WithContext(ctx))
			if status == 0 {
				require.ErrorIs(t, rec.last().Err, context.Canceled)
			} else {
				require.NoError(t, rec.last().Err)
			}
			rec.send(signed("dlv_1", plain))
			if status == 200 {
				require.Equal(t, 1, rec.ran())
			} else {
				require.Equal(t, 2, rec.ran())
			}
		})
	}
}

// strict is a store that takes nothing on a context that has ended, and looks whether the one it gets ever will.
type strict struct{ *webhookmw.Memory }

func (s strict) Claim(ctx context.Context, c webhookmw.Claim) (webhookmw.Status, error) {
	if err := ctx.Err(); err != nil {
		return webhookmw.Status{}, err
	}
	return s.Memory.Claim(ctx, c)
}

func (s strict) Complete(ctx context.Context, c webhookmw.Claim) error {
	if err := settling(ctx); err != nil {
		return err
	}
	return s.Memory.Complete(ctx, c)
}

func (s strict) Release(ctx context.Context, c webhookmw.Claim) error {
	if err := settling(ctx); err != nil {
		return err
	}
	return s.Memory.Release(ctx, c)
}

func settling(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) != 5*time.Second {
		return errors.New("no deadline of its own")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
		return ctx.Err()
	}
}

// A store that hangs at the end holds nobody for longer than five seconds.
func TestStoreThatHangsAtTheEnd(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{Store: hanging{webhookmw.NewMemory(webhookmw.MemoryConfig{})}}, nil)
		type key struct{}
		r := signed("dlv_1", plain)
		require.Equal(t, 200, rec.send(r.WithContext(context.WithValue(r.Context(), key{}, 1))).Code)
		require.Equal(t, 5*time.Second, time.Since(epoch))
		require.ErrorIs(t, rec.last().Err, context.DeadlineExceeded)
		require.ErrorContains(t, rec.last().Err, "store took too long")
	})
}

type hanging struct{ *webhookmw.Memory }

func (hanging) Complete(ctx context.Context, c webhookmw.Claim) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestResponseWriterKeepsWhatItCan(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
		controller := http.NewResponseController(w)
		require.NoError(t, controller.SetReadDeadline(time.Now().Add(time.Minute)))
		require.NoError(t, controller.SetWriteDeadline(time.Now().Add(time.Minute)))
		require.NoError(t, controller.EnableFullDuplex())
		w.Header().Set("X-Test", "1")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
		w.(http.Flusher).Flush()
		require.NoError(t, controller.Flush())
		n, err := io.WriteString(w, "one ")
		require.NoError(t, err)
		require.Equal(t, 4, n)
		copied, err := io.Copy(w, struct{ io.Reader }{strings.NewReader("two ")})
		require.NoError(t, err)
		require.EqualValues(t, 4, copied)
		fmt.Fprint(w, "three")
	})
	server := httptest.NewServer(rec.handler)
	defer server.Close()
	resp := post(t, server, signed("dlv_1", plain))
	require.Equal(t, 202, resp.StatusCode)
	require.Equal(t, "1", resp.Header.Get("X-Test"))
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, "one two three", string(body))
	require.Equal(t, 202, rec.last().Status)
	require.Equal(t, webhookmw.ReasonAccepted, rec.last().Reason)
}

// post sends to a real server what signed made.
func post(t *testing.T, server *httptest.Server, r *http.Request) *http.Response {
	t.Helper()
	out, err := http.NewRequest(r.Method, server.URL+r.URL.Path, r.Body)
	require.NoError(t, err)
	out.Header, out.ContentLength = r.Header, r.ContentLength
	resp, err := server.Client().Do(out)
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// The first write decides, also one that only flushes.
func TestFirstStatusCounts(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		done   bool
	}{
		{"flush alone", func(w http.ResponseWriter, r *http.Request) { http.NewResponseController(w).Flush() }, true},
		{"write, then a status that comes too late", func(w http.ResponseWriter, r *http.Request) { w.Write(nil); w.WriteHeader(500) }, true},
		{"an error, then a write", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", 500); w.WriteHeader(200) }, false},
		{"early hints, then an error", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(103); w.WriteHeader(500) }, false},
		{"early hints alone", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(103) }, true},
		{"switching protocols", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(101) }, false},
	}
	for _, test := range tests {
		rec := newReceiver(t, webhookmw.Config{}, test.answer)
		rec.send(signed("dlv_1", plain))
		rec.send(signed("dlv_1", plain))
		require.Equal(t, test.done, rec.ran() == 1, test.name)
	}
}

// Taking the connection says nothing of the delivery: the sender's next attempt runs.
func TestHandlerThatHijacks(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, nil)
	hijack := map[string]func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error){
		"assertion": func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) { return w.(http.Hijacker).Hijack() },
		"controller": func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
			return http.NewResponseController(w).Hijack()
		},
	}
	for name, hijack := range hijack {
		before := rec.ran()
		rec.next = func(w http.ResponseWriter, r *http.Request) {
			if rec.ran() > before+1 {
				return
			}
			conn, buf, err := hijack(w)
			require.NoError(t, err)
			buf.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
			require.NoError(t, buf.Flush())
			conn.Close()
		}
		server := httptest.NewServer(rec.handler)
		resp := post(t, server, signed(name, plain))
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, "hello", string(body))
		require.Equal(t, 200, post(t, server, signed(name, plain)).StatusCode)
		server.Close()
		require.Equal(t, before+2, rec.ran(), name)
		require.Contains(t, rec.reasons(), webhookmw.ReasonHijacked)
	}
}

// Where there is nothing to hijack the handler is told so, and its answer counts.
func TestHijackNotSupported(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
		_, _, err := http.NewResponseController(w).Hijack()
		require.ErrorIs(t, err, http.ErrNotSupported)
	})
	require.Equal(t, 200, rec.send(signed("dlv_1", plain)).Code)
	require.Equal(t, webhookmw.ReasonAccepted, rec.last().Reason)
}

func TestInsideMuxAndMiddleware(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "acme", r.PathValue("tenant"))
		require.Equal(t, "POST /hooks/{tenant}", r.Pattern)
		fmt.Fprint(w, "ok")
	})
	mux := http.NewServeMux()
	mux.Handle("POST /hooks/{tenant}", http.MaxBytesHandler(rec.handler, 1<<20))
	tag := func(next http.Handler) http.Handler { // as chi and its like chain them
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Outer", "1")
			next.ServeHTTP(w, r)
		})
	}
	for _, http2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(tag(mux))
		server.EnableHTTP2 = http2
		var connections atomic.Int32
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		}
		server.StartTLS()
		send := func(id, body string) *http.Response {
			r := signed(id, body)
			r.URL.Path = "/hooks/acme"
			return post(t, server, r)
		}
		id := fmt.Sprint("dlv", http2)
		resp := send(id, plain)
		require.Equal(t, http2, resp.ProtoMajor == 2)
		require.Equal(t, 200, resp.StatusCode)
		require.Equal(t, "1", resp.Header.Get("X-Outer"))
		require.Equal(t, "true", send(id, plain).Header.Get("Webhook-Duplicate"))

		// A refusal whose body was not read ends a connection of HTTP/1 and only the stream of HTTP/2.
		forged := signed("dlv_2", plain)
		forged.URL.Path = "/hooks/acme"
		forged.Header.Set("Webhook-Signature", "t=1,v1="+mac(secret, "1", plain))
		resp = post(t, server, forged)
		require.Equal(t, 401, resp.StatusCode)
		require.Equal(t, !http2, resp.Close)
		require.Equal(t, 200, send(id+"x", plain).StatusCode)
		require.Equal(t, http2, connections.Load() == 1)
		server.Close()
	}
	require.Equal(t, 4, rec.ran())
}

// A limit further out that is lower than ours.
func TestInsideMaxBytesHandler(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, nil)
	server := httptest.NewServer(http.MaxBytesHandler(rec.handler, 10))
	defer server.Close()
	r := signed("dlv_1", plain)
	r.ContentLength = -1
	require.Equal(t, 413, post(t, server, r).StatusCode)
	require.Equal(t, 413, post(t, server, signed("dlv_1", plain)).StatusCode)
	require.Zero(t, rec.ran())
}

func TestInsideTimeoutHandler(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{}, nil)
		rec.next = func(w http.ResponseWriter, r *http.Request) {
			if rec.ran() == 1 {
				<-r.Context().Done() // The time-out reaches the handler, which says that it failed.
				w.WriteHeader(500)
			}
		}
		h := http.TimeoutHandler(rec.handler, time.Second, "too slow")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, signed("dlv_1", plain))
		require.Equal(t, 503, w.Code)
		require.Equal(t, time.Second, time.Since(epoch))
		w = httptest.NewRecorder()
		h.ServeHTTP(w, signed("dlv_1", plain))
		require.Equal(t, 200, w.Code)
		require.Equal(t, 2, rec.ran())
	})
}

func TestAroundTimeoutHandler(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		var fast atomic.Bool
		v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}})
		require.NoError(t, err)
		h := v.Handler(http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !fast.Load() {
				<-r.Context().Done()
			}
		}), time.Second, "too slow"))
		send := func() int {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, signed("dlv_1", plain))
			return w.Code
		}
		require.Equal(t, 503, send())
		fast.Store(true)
		require.Equal(t, 200, send())
	})
}

// The observer is told once for each request, with the time it took.
func TestObserve(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Second) })
		r := signed("dlv_1", plain)
		rec.send(r)
		rec.send(httptest.NewRequest("GET", "/", nil))
		require.Len(t, rec.events, 2)
		e := rec.events[0]
		require.Same(t, r, e.Request)
		require.Equal(t, "dlv_1", e.Delivery.DeliveryID)
		require.Equal(t, "order.paid", e.Delivery.Type)
		require.Equal(t, 200, e.Status)
		require.Equal(t, time.Second, e.Elapsed)
		require.NoError(t, e.Err)
		require.Nil(t, rec.events[1].Delivery)
		require.Equal(t, 405, rec.events[1].Status)
	})
}
