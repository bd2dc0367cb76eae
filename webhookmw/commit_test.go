package webhookmw_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// committer is a Memory that commits, or says that it can't.
type committer struct {
	*webhookmw.Memory
	none     bool // there is nothing to commit
	beginErr error
	endErr   error
	steps    []string
}

type begunKey struct{}

func (c *committer) Begin(ctx context.Context, _ webhookmw.Claim) (context.Context, error) {
	switch {
	case c.beginErr != nil:
		return nil, c.beginErr
	case c.none:
		return nil, nil
	}
	return context.WithValue(ctx, begunKey{}, c), nil
}

func (c *committer) Complete(ctx context.Context, claim webhookmw.Claim) error {
	c.note(ctx, "complete")
	if c.endErr != nil {
		return c.endErr
	}
	return c.Memory.Complete(ctx, claim)
}

func (c *committer) Release(ctx context.Context, claim webhookmw.Claim) error {
	c.note(ctx, "release")
	return c.Memory.Release(ctx, claim)
}

// note keeps the step, and whether its context is the begun one.
func (c *committer) note(ctx context.Context, step string) {
	if ctx.Value(begunKey{}) == c {
		step += " in it"
	}
	c.steps = append(c.steps, step)
}

func TestCommitter(t *testing.T) {
	broken := errors.New("broken")
	answer := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Handler", "was here")
			w.WriteHeader(status)
			w.Header().Set("X-Late", "too late")
			io.WriteString(w, "a")
			w.Write([]byte("b"))
			io.Copy(w, strings.NewReader("c"))
		}
	}
	tests := []struct {
		name   string
		store  committer
		next   http.HandlerFunc
		status int
		body   string
		reason webhookmw.Reason
		err    error
		steps  []string
	}{
		{"taken", committer{}, answer(201), 201, "abc", webhookmw.ReasonAccepted, nil, []string{"complete in it"}},
		{"says nothing", committer{}, nil, 200, "", webhookmw.ReasonAccepted, nil, []string{"complete in it"}},
		{"failed", committer{}, answer(500), 500, "abc", webhookmw.ReasonFailed, nil, []string{"release in it"}},
		{"not committed", committer{endErr: broken}, answer(201), 503, "Service Unavailable\n", webhookmw.ReasonNotRecorded, broken, []string{"complete in it", "release in it"}},
		{"says nothing, not committed", committer{endErr: broken}, nil, 503, "Service Unavailable\n", webhookmw.ReasonNotRecorded, broken, []string{"complete in it", "release in it"}},
		{"not begun for want of room", committer{beginErr: webhookmw.ErrFull}, nil, 503, "", webhookmw.ReasonStore, webhookmw.ErrFull, []string{"release"}},
		{"not begun", committer{beginErr: broken}, nil, 503, "", webhookmw.ReasonStore, broken, []string{"release"}},
		{"nothing to commit", committer{none: true}, answer(201), 201, "abc", webhookmw.ReasonAccepted, nil, []string{"complete"}},
		{"nothing to commit, not recorded", committer{none: true, endErr: broken}, answer(201), 201, "abc", webhookmw.ReasonNotRecorded, broken, []string{"complete"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := &test.store
			store.Memory = webhookmw.NewMemory(webhookmw.MemoryConfig{})
			rec := newReceiver(t, webhookmw.Config{Store: store}, func(w http.ResponseWriter, r *http.Request) {
				require.Equal(t, !store.none, r.Context().Value(begunKey{}) != nil)
				if test.next != nil {
					test.next(w, r)
				}
			})
			resp := rec.send(signed("dlv_1", plain))
			require.Equal(t, test.status, resp.Code)
			if test.body != "" {
				require.Equal(t, test.body, resp.Body.String())
			}
			require.Empty(t, resp.Result().Header.Get("X-Late"))
			require.Equal(t, test.reason, rec.last().Reason)
			require.Equal(t, test.status, rec.last().Status)
			require.ErrorIs(t, rec.last().Err, test.err)
			require.Equal(t, test.steps, store.steps)
			if test.status == 503 {
				require.Equal(t, "5", resp.Header().Get("Retry-After"))
				require.Empty(t, resp.Result().Header.Get("X-Handler"))
			}

			// What was not acknowledged runs again; what was does not.
			store.beginErr, store.endErr, rec.next = nil, nil, nil
			resp = rec.send(signed("dlv_1", plain))
			if test.err != nil && store.none {
				require.Equal(t, 409, resp.Code) // The claim holds until its lease ends.
				return
			}
			require.Equal(t, 200, resp.Code)
			require.Equal(t, test.status < 300, resp.Header().Get("Webhook-Duplicate") == "true")
		})
	}
}

// The 503 in place of an answer has the header that stood there before the handler,
// which others may have set.
func TestCommitterKeepsTheHeaderOfOthers(t *testing.T) {
	store := &committer{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{}), endErr: errors.New("broken")}
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Store: store})
	require.NoError(t, err)
	handler := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Outer", "changed")
		w.Header().Set("X-Handler", "was here")
	}))
	w := httptest.NewRecorder()
	w.Header().Set("X-Outer", "1")
	handler.ServeHTTP(w, signed("dlv_1", plain))
	require.Equal(t, 503, w.Code)
	require.Equal(t, []string{"1"}, w.Header()["X-Outer"])
	require.Empty(t, w.Header()["X-Handler"])
}

// A handler that panics takes its answer with it.
func TestCommitterPanic(t *testing.T) {
	store := &committer{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	rec := newReceiver(t, webhookmw.Config{Store: store}, func(w http.ResponseWriter, r *http.Request) {
		_, _, err := http.NewResponseController(w).Hijack()
		require.ErrorIs(t, err, http.ErrNotSupported)
		require.NoError(t, http.NewResponseController(w).Flush())
		io.WriteString(w, "taken")
		panic(http.ErrAbortHandler)
	})
	w := httptest.NewRecorder()
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { rec.handler.ServeHTTP(w, signed("dlv_1", plain)) })
	require.Empty(t, w.Body.String())
	require.False(t, w.Flushed)
	require.Equal(t, []string{"release in it"}, store.steps)
	require.Equal(t, webhookmw.ReasonPanicked, rec.last().Reason)
}

// A status that there is none of makes the handler panic, as net/http does, also where the answer is withheld.
func TestCommitterInvalidStatus(t *testing.T) {
	store := &committer{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	rec := newReceiver(t, webhookmw.Config{Store: store}, func(w http.ResponseWriter, r *http.Request) {
		require.Panics(t, func() { w.WriteHeader(1000) })
		w.WriteHeader(http.StatusInternalServerError)
	})
	require.Equal(t, http.StatusInternalServerError, rec.send(signed("dlv_1", plain)).Code)
	require.Equal(t, webhookmw.ReasonFailed, rec.last().Reason)
	require.Equal(t, http.StatusInternalServerError, rec.last().Status)

	rec.next = func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(1000) }
	require.Panics(t, func() { rec.send(signed("dlv_1", plain)) })
	require.Equal(t, webhookmw.ReasonPanicked, rec.last().Reason)
	require.Equal(t, []string{"release in it", "release in it"}, store.steps)
}

// Over a real connection an announcement goes out at once, and counts for nothing.
func TestCommitterInformational(t *testing.T) {
	store := &committer{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	rec := newReceiver(t, webhookmw.Config{Store: store}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusCreated)
	})
	server := httptest.NewServer(rec.handler)
	defer server.Close()
	var hints []int
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
		hints = append(hints, code)
		return nil
	}}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), "POST", server.URL, strings.NewReader(plain))
	require.NoError(t, err)
	r.Header = signed("dlv_1", plain).Header
	resp, err := server.Client().Do(r)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	require.Equal(t, []int{http.StatusEarlyHints}, hints)
	require.Equal(t, []string{"complete in it"}, store.steps)
}

// A trailer is set when the body is done, and goes out with a withheld answer as with any other.
func TestCommitterTrailer(t *testing.T) {
	store := &committer{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	rec := newReceiver(t, webhookmw.Config{Store: store}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		io.WriteString(w, "taken")
		w.Header().Set("X-Sum", "42")
	})
	server := httptest.NewServer(rec.handler)
	defer server.Close()
	r, err := http.NewRequest("POST", server.URL, strings.NewReader(plain))
	require.NoError(t, err)
	r.Header = signed("dlv_1", plain).Header
	resp, err := server.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, "taken", string(body))
	require.Equal(t, "42", resp.Trailer.Get("X-Sum"))
}

// A handler that its context's end has silenced has its work taken back, and so has one that ends its goroutine.
func TestCommitterHandlerGivesUp(t *testing.T) {
	store := &committer{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	ctx, cancel := context.WithCancel(t.Context())
	rec := newReceiver(t, webhookmw.Config{Store: store}, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	w := rec.send(signed("dlv_1", plain).WithContext(ctx))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "5", w.Header().Get("Retry-After"))
	require.Equal(t, webhookmw.ReasonFailed, rec.last().Reason)
	require.Equal(t, []string{"release in it"}, store.steps)

	rec.next = func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "taken")
		runtime.Goexit()
	}
	w = httptest.NewRecorder()
	var wg sync.WaitGroup
	wg.Go(func() { rec.handler.ServeHTTP(w, signed("dlv_1", plain)) })
	wg.Wait()
	require.Empty(t, w.Body.String())
	require.Equal(t, webhookmw.ReasonPanicked, rec.last().Reason)
	require.Equal(t, []string{"release in it", "release in it"}, store.steps)
}

// A client that has hung up changes nothing for a handler that took its delivery: that is committed.
func TestCommitterClientGone(t *testing.T) {
	store := &committer{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	ctx, cancel := context.WithCancel(t.Context())
	rec := newReceiver(t, webhookmw.Config{Store: store}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		cancel()
	})
	require.Equal(t, http.StatusAccepted, rec.send(signed("dlv_1", plain).WithContext(ctx)).Code)
	require.Equal(t, webhookmw.ReasonAccepted, rec.last().Reason)
	require.Equal(t, []string{"complete in it"}, store.steps)
}

// http.TimeoutHandler around it answers for a handler that is late. What that did is committed all the same, so
// that the sender's next attempt is a duplicate.
func TestCommitterUnderTimeoutHandler(t *testing.T) {
	store := &committer{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	settled := make(chan struct{})
	v, err := webhookmw.New(webhookmw.Config{
		Secrets: []string{secret}, Store: store,
		Observe: func(webhookmw.Event) { settled <- struct{}{} },
	})
	require.NoError(t, err)
	late := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		w.Header().Set("X-Handler", "was here")
		w.WriteHeader(http.StatusOK)
	}))
	w := httptest.NewRecorder()
	http.TimeoutHandler(late, time.Millisecond, "late").ServeHTTP(w, signed("dlv_1", plain))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Empty(t, w.Header().Get("X-Handler"))
	<-settled
	require.Equal(t, []string{"complete in it"}, store.steps)
}

// The handler of a duplicate has nothing to commit, and its answer goes out as it comes.
func TestCommitterDuplicate(t *testing.T) {
	store := &committer{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	rec := newReceiver(t, webhookmw.Config{Store: store, RunDuplicates: true}, nil)
	require.Equal(t, http.StatusOK, rec.send(signed("dlv_1", plain)).Code)
	rec.next = func(w http.ResponseWriter, r *http.Request) {
		require.Nil(t, r.Context().Value(begunKey{}))
		require.NoError(t, http.NewResponseController(w).Flush())
	}
	w := rec.send(signed("dlv_1", plain))
	require.True(t, w.Flushed)
	require.Equal(t, webhookmw.ReasonDuplicate, rec.last().Reason)
	require.Equal(t, []string{"complete in it"}, store.steps)
}
