package rehearse_test

// Tests from one end to the other, over real sockets.

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/rehearse"
)

// pooled is a transport of the test's own.
func pooled(t *testing.T) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// The receiver is down, and comes up while the sender waits.
func TestReceiverDownThenUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())

	rec := newVerified(t, nil)
	server := &http.Server{Handler: rec}
	defer server.Close()
	up := sync.OnceFunc(func() {
		l, err := net.Listen("tcp", addr)
		require.NoError(t, err)
		go server.Serve(l)
	})
	s := newSender(t, pooled(t), func(c *rehearse.Config) {
		c.URL = "http://" + addr + "/hook"
		c.Observe = func(e roundtripper.Event) {
			if e.State == roundtripper.StateWaiting {
				up()
			}
		}
	})
	result, err := s.Send(t.Context(), event)
	require.NoError(t, err)
	assert.Equal(t, rehearse.Delivered, result.State)
	assert.False(t, result.Duplicate)
	require.Equal(t, []int{0, 200}, statuses(result))
	assert.False(t, result.Attempts[0].Sent)
	refusal, ok := errors.AsType[*net.OpError](result.Attempts[0].Err)
	require.True(t, ok)
	assert.Equal(t, "dial", refusal.Op)
	require.Len(t, rec.runs(), 1)
	assert.Equal(t, body, string(rec.runs()[0].Body))
}

// The receiver stays down: that is a failure, and one that is certain.
func TestReceiverDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	s := newSender(t, nil, func(c *rehearse.Config) { c.Transport, c.URL = nil, "http://"+l.Addr().String() })
	result, err := s.Send(t.Context(), event)
	require.NoError(t, err)
	assert.Equal(t, rehearse.Rejected, result.State)
	assert.Len(t, result.Attempts, 3)
}

// The handler dies with half of its answer sent. Its delivery was given back; had the sender taken the status line for
// an answer, nobody would have the event.
func TestReceiverDiesMidResponse(t *testing.T) {
	for _, tc := range []struct {
		name   string
		deaths int32
		state  rehearse.State
		codes  []int
		why    []webhookmw.Reason
	}{
		{"once", 1, rehearse.Delivered, []int{200, 200}, []webhookmw.Reason{webhookmw.ReasonPanicked, webhookmw.ReasonAccepted}},
		{"each time", 9, rehearse.Unknown, []int{200, 200, 200},
			[]webhookmw.Reason{webhookmw.ReasonPanicked, webhookmw.ReasonPanicked, webhookmw.ReasonPanicked}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var n atomic.Int32
			rec := newVerified(t, func(w http.ResponseWriter, _ *http.Request) {
				if n.Add(1) > tc.deaths {
					return
				}
				w.Header().Set("Content-Length", "100")
				io.WriteString(w, "half of it")
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			})
			server := httptest.NewServer(rec)
			defer server.Close()
			result, err := newSender(t, pooled(t), func(c *rehearse.Config) { c.URL = server.URL }).Send(t.Context(), event)
			require.NoError(t, err)
			assert.Equal(t, tc.state, result.State)
			assert.False(t, result.Duplicate)
			assert.Equal(t, tc.codes, statuses(result))
			assert.ErrorIs(t, result.Attempts[0].Err, io.ErrUnexpectedEOF)
			assert.ErrorContains(t, result.Attempts[0].Err, "the answer, 200, broke off")
			server.Close() // all requests are over then
			assert.Equal(t, tc.why, rec.why())
		})
	}
}

// A server that closes a kept-alive connection without an answer has seen one request for each attempt, also where
// something makes net/http think that it may send one again.
func TestOneRequestForEachAttempt(t *testing.T) {
	for name, key := range map[string]string{"as it is": "", "with a key": "k"} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			var conns sync.WaitGroup
			conns.Go(func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					conns.Go(func() { answerOnce(conn, &requests) })
				}
			})
			transport := pooled(t)
			s := newSender(t, roundTrip(func(req *http.Request) (*http.Response, error) {
				if key != "" {
					req.Header.Set("Idempotency-Key", key)
				}
				return transport.RoundTrip(req)
			}), func(c *rehearse.Config) { c.URL = "http://" + l.Addr().String() })
			attempts := 0
			for n := range 10 {
				result, err := s.Send(t.Context(), eventNo(n))
				require.NoError(t, err)
				assert.Equal(t, rehearse.Delivered, result.State)
				attempts += len(result.Attempts)
			}
			assert.Greater(t, attempts, 10, "connections were used again")
			assert.Equal(t, attempts, int(requests.Load()))
			transport.CloseIdleConnections()
			l.Close()
			conns.Wait()
		})
	}
}

// An answer of 101 hands the connection over, under no timeout. Nobody asked for that: it is a failure, a final one, and
// nobody waits for what may come over that connection.
func TestSwitchingProtocols(t *testing.T) {
	for name, keyed := range map[string]bool{"send": false, "keyed replay": true} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			var conns sync.WaitGroup
			conns.Go(func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					conns.Go(func() { switchOver(conn, &requests) })
				}
			})
			events := rehearse.NewMemory(rehearse.MemoryConfig{})
			require.NoError(t, events.Put(t.Context(), event))
			s := newSender(t, pooled(t), func(c *rehearse.Config) { c.URL, c.Events = "http://"+l.Addr().String(), events })
			var result rehearse.Result
			if keyed {
				result, err = s.Replay(t.Context(), "evt_1", "k")
			} else {
				result, err = s.Send(t.Context(), event)
			}
			require.NoError(t, err)
			assert.Equal(t, rehearse.Rejected, result.State)
			assert.Equal(t, []int{101}, statuses(result))
			l.Close()
			conns.Wait() // the connection has been closed
			assert.EqualValues(t, 1, requests.Load())
		})
	}
}

// switchOver answers 101, and reads on until the connection ends.
func switchOver(conn net.Conn, requests *atomic.Int32) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	io.Copy(io.Discard, req.Body)
	requests.Add(1)
	io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
	io.Copy(io.Discard, in)
}

// answerOnce answers the first request on a connection, and closes it when there is another one.
func answerOnce(conn net.Conn, requests *atomic.Int32) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for first := true; ; first = false {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		io.Copy(io.Discard, req.Body)
		requests.Add(1)
		if !first {
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}
