package webhookmw_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// What the sender saw and what is remembered are the same thing, also where a write fails.

// narrow is a ResponseWriter that can do nothing more, and whose writes fail while an error is set.
type narrow struct {
	inner http.ResponseWriter
	fails error
}

func (n *narrow) Header() http.Header    { return n.inner.Header() }
func (n *narrow) WriteHeader(status int) { n.inner.WriteHeader(status) }

func (n *narrow) Write(p []byte) (int, error) {
	if n.fails != nil {
		return 0, n.fails
	}
	return n.inner.Write(p)
}

func TestWriteThatFailedIsNoAnswer(t *testing.T) {
	broken := errors.New("no")
	tests := []struct {
		name  string
		fails error
		first func(w http.ResponseWriter) (failed bool)
	}{
		{"write", broken, func(w http.ResponseWriter) bool { _, err := w.Write([]byte("ok")); return err != nil }},
		{"write string", broken, func(w http.ResponseWriter) bool { _, err := io.WriteString(w, "ok"); return err != nil }},
		{"copy from what fails", nil, func(w http.ResponseWriter) bool { _, err := io.Copy(w, iotest.ErrReader(broken)); return err != nil }},
		{"copy from what is empty", nil, func(w http.ResponseWriter) bool {
			n, err := io.Copy(w, struct{ io.Reader }{strings.NewReader("")})
			return n == 0 && err == nil
		}},
		{"flush", nil, func(w http.ResponseWriter) bool {
			return errors.Is(http.NewResponseController(w).Flush(), http.ErrNotSupported)
		}},
		{"flush without an error to see", nil, func(w http.ResponseWriter) bool { w.(http.Flusher).Flush(); return true }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out *narrow
			rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
				require.True(t, test.first(w))
				out.fails = nil
				http.Error(w, "failed", http.StatusInternalServerError)
			})
			for range 2 {
				w := httptest.NewRecorder()
				out = &narrow{w, test.fails}
				rec.handler.ServeHTTP(out, signed("dlv_1", plain))
				require.Equal(t, 500, w.Code)
				require.Equal(t, webhookmw.ReasonFailed, rec.last().Reason)
				require.Equal(t, 500, rec.last().Status)
			}
			require.Equal(t, 2, rec.ran())
		})
	}
}

// The same writes where they succeed are an answer, and what comes after is too late.
func TestWriteThatSucceededIsTheAnswer(t *testing.T) {
	for name, first := range map[string]func(w http.ResponseWriter){
		"write":        func(w http.ResponseWriter) { w.Write([]byte("ok")) },
		"write string": func(w http.ResponseWriter) { io.WriteString(w, "ok") },
		"copy":         func(w http.ResponseWriter) { io.Copy(w, struct{ io.Reader }{strings.NewReader("ok")}) },
		"copy, cut": func(w http.ResponseWriter) {
			io.Copy(w, iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("ok"))))
		},
		"flush": func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
	} {
		rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
			first(w)
			w.WriteHeader(500)
		})
		require.Equal(t, 200, rec.send(signed("dlv_1", plain)).Code, name)
		require.Equal(t, webhookmw.ReasonAccepted, rec.last().Reason, name)
		require.Equal(t, "true", rec.send(signed("dlv_1", plain)).Header().Get("Webhook-Duplicate"), name)
	}
}

// A handler that gives up without a word: silence is an answer only while somebody could still have heard it.
func TestSilenceAfterTheEnd(t *testing.T) {
	silent := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	again := func(t *testing.T, rec *receiver, cause error, after time.Duration) {
		require.Equal(t, after, time.Since(epoch))
		require.Equal(t, webhookmw.ReasonFailed, rec.last().Reason)
		require.Equal(t, 503, rec.last().Status)
		require.ErrorIs(t, rec.last().Err, cause)
		rec.next = nil
		w := rec.send(signed("dlv_1", plain))
		require.Equal(t, 200, w.Code)
		require.Empty(t, w.Header().Get("Webhook-Duplicate"))
		require.Equal(t, 2, rec.ran())
		require.Equal(t, webhookmw.ReasonAccepted, rec.last().Reason, "silence in time is an answer")
	}
	t.Run("lease", func(t *testing.T) {
		at(t, epoch, func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{}, silent)
			w := rec.send(signed("dlv_1", plain))
			require.Equal(t, 503, w.Code, "the sender still listens, and must not hear that all is well")
			require.Equal(t, "5", w.Header().Get("Retry-After"))
			require.ErrorContains(t, rec.last().Err, "lease")
			again(t, rec, context.DeadlineExceeded, 30*time.Second)
		})
	})
	t.Run("lease, without a look at the context", func(t *testing.T) {
		at(t, epoch, func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{}, func(http.ResponseWriter, *http.Request) { time.Sleep(30 * time.Second) })
			require.Equal(t, 503, rec.send(signed("dlv_1", plain)).Code)
			again(t, rec, context.DeadlineExceeded, 30*time.Second)
		})
	})
	t.Run("client", func(t *testing.T) {
		at(t, epoch, func(t *testing.T) {
			hungUp := errors.New("hung up")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(hungUp) })
			rec := newReceiver(t, webhookmw.Config{}, silent)
			rec.send(signed("dlv_1", plain).WithContext(ctx))
			again(t, rec, hungUp, time.Second)
		})
	})
	t.Run("TimeoutHandler", func(t *testing.T) {
		at(t, epoch, func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{}, silent)
			w := httptest.NewRecorder()
			http.TimeoutHandler(rec.handler, time.Second, "slow").ServeHTTP(w, signed("dlv_1", plain))
			require.Equal(t, 503, w.Code)
			time.Sleep(time.Nanosecond) // until the handler has returned as well
			again(t, rec, context.DeadlineExceeded, time.Second+1)
		})
	})
	t.Run("a write that comes too late", func(t *testing.T) {
		at(t, epoch, func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
				time.Sleep(time.Second)
				_, err := w.Write([]byte("done"))
				require.ErrorIs(t, err, http.ErrHandlerTimeout) // and undoes its work
			})
			w := httptest.NewRecorder()
			http.TimeoutHandler(rec.handler, time.Second, "slow").ServeHTTP(w, signed("dlv_1", plain))
			require.Equal(t, 503, w.Code)
			time.Sleep(time.Second + 1)
			again(t, rec, context.DeadlineExceeded, 2*time.Second+1)
		})
	})
}
