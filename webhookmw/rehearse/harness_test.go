package rehearse_test

// What the tests stand on: a network in memory, a receiver that notes what it sees, a script of answers.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/rehearse"
)

const (
	secret = "a secret for tests, and nothing else"
	target = "http://receiver.test/hook"
	body   = `{"id":"evt_1","type":"order.paid","amount":12.50}` + "\n"
)

var event = rehearse.Event{ID: "evt_1", Type: "order.paid", Body: []byte(body)}

// eventNo is one of many events.
func eventNo(n int) rehearse.Event {
	return rehearse.Event{Body: fmt.Appendf(nil, `{"id":"evt_%d","type":"order.paid"}`, n)}
}

// network carries connections in memory, so that all of a test is in one bubble.
type network struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.over:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error   { n.once.Do(func() { close(n.over) }); return nil }
func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case n.conns <- server:
		return client, nil
	case <-n.over:
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve starts a server in memory, and returns a transport to it, whatever the URL. Both end with the test.
func serve(t *testing.T, handler http.Handler) *http.Transport {
	n := &network{conns: make(chan net.Conn), over: make(chan struct{})}
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(n)
	}()
	transport := &http.Transport{DialContext: n.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		<-ended
	})
	return transport
}

// newSender is a Sender to target through transport.
func newSender(t *testing.T, transport http.RoundTripper, change ...func(*rehearse.Config)) *rehearse.Sender {
	config := rehearse.Config{URL: target, Secret: secret, Transport: transport}
	for _, c := range change {
		c(&config)
	}
	s, err := rehearse.New(config)
	require.NoError(t, err)
	return s
}

// request is what a receiver saw of one.
type request struct {
	at     time.Duration // since the receiver was made
	path   string
	header http.Header
	body   string
}

// receiver is a handler that notes each request before its own handler gets it.
type receiver struct {
	start time.Time
	next  http.Handler

	mu  sync.Mutex
	saw []request
}

func newReceiver(next http.Handler) *receiver { return &receiver{start: time.Now(), next: next} }

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	data, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(data))
	r.mu.Lock()
	r.saw = append(r.saw, request{time.Since(r.start), req.URL.Path, req.Header.Clone(), string(data)})
	r.mu.Unlock()
	r.next.ServeHTTP(w, req)
}

// requests are those that came so far.
func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.saw...)
}

// times are when they came.
func (r *receiver) times() (times []time.Duration) {
	for _, req := range r.requests() {
		times = append(times, req.at)
	}
	return times
}

// verified is a receiver behind a real Verifier, with the deliveries that its handler was run for.
type verified struct {
	*receiver
	mu      sync.Mutex
	ran     []*webhookmw.Delivery
	reasons []webhookmw.Reason
}

// newVerified makes one. handle may be nil.
func newVerified(t *testing.T, handle http.HandlerFunc) *verified {
	v := new(verified)
	verifier, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Observe: func(e webhookmw.Event) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.reasons = append(v.reasons, e.Reason)
	}})
	require.NoError(t, err)
	v.receiver = newReceiver(verifier.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		v.mu.Lock()
		v.ran = append(v.ran, d)
		v.mu.Unlock()
		if handle != nil {
			handle(w, r)
		}
	})))
	return v
}

func (v *verified) runs() []*webhookmw.Delivery {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]*webhookmw.Delivery(nil), v.ran...)
}

func (v *verified) why() []webhookmw.Reason {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]webhookmw.Reason(nil), v.reasons...)
}

// answers is a handler that goes through a list of statuses; the last one repeats.
func answers(statuses ...int) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		status := statuses[0]
		if len(statuses) > 1 {
			statuses = statuses[1:]
		}
		mu.Unlock()
		w.WriteHeader(status)
	}
}

// script is a base transport without a network: it does one step after the other, and then the last one again.
type script struct {
	steps []step
	mu    sync.Mutex
	n     int
}

// step is what happens to an attempt: a status, or an error, or silence until the attempt is over.
type step struct {
	status int
	err    error
}

var (
	silence = step{}
	refused = step{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
	reset   = step{err: &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}}
)

func answer(status int) step { return step{status: status} }

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	st := s.steps[min(s.n, len(s.steps)-1)]
	s.n++
	s.mu.Unlock()
	switch {
	case st.err != nil:
		return nil, st.err
	case st.status == 0:
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	return &http.Response{StatusCode: st.status, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// count is how many attempts there were.
func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// statuses are those of a result's attempts.
func statuses(r rehearse.Result) (list []int) {
	for _, a := range r.Attempts {
		list = append(list, a.StatusCode)
	}
	return list
}
