package roundtripper_test

// This file holds the stubs that tests of bodies and of the contract share: a
// base transport made of a function, bodies that watch how they are treated, a
// server without sockets.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// baseFunc is a base transport made of a function.
type baseFunc func(*http.Request) (*http.Response, error)

func (f baseFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// answer makes a response as a base transport does; header is names and values
// in turn.
func answer(req *http.Request, status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", status, http.StatusText(status)),
		StatusCode: status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        h,
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       req,
	}
}

// take reads and closes the body of a request, as a base transport must.
func take(req *http.Request) string {
	if req.Body == nil {
		return ""
	}
	defer req.Body.Close()
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return fmt.Sprintf("%s (then: %v)", data, err)
	}
	return string(data)
}

// script is a base transport that takes each request whole and answers the
// n-th with its n-th status, and all later ones with the last. Status 0 is an
// error of the network.
type script struct {
	statuses []int

	mu     sync.Mutex
	seen   []*http.Request
	bodies []string
}

var errReset = &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset")}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	body := take(req)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, req)
	s.bodies = append(s.bodies, body)
	status := s.statuses[min(len(s.seen), len(s.statuses))-1]
	if status == 0 {
		return nil, errReset
	}
	return answer(req, status, http.StatusText(status)), nil
}

// probe is a request body that watches how it is treated. It must be closed at
// least once, never while it is read or while the base holds it, and neither
// read afterwards nor sought at any time.
type probe struct {
	src io.Reader

	mu     sync.Mutex
	held   bool // the base has it, and has not closed it yet
	busy   bool // a Read is under way
	closes int
	read   int64
	faults []string
}

func newProbe(text string) *probe { return &probe{src: strings.NewReader(text)} }

func (p *probe) fault(text string) {
	if !slices.Contains(p.faults, text) {
		p.faults = append(p.faults, text)
	}
}

func (p *probe) Read(b []byte) (int, error) {
	p.mu.Lock()
	if p.busy {
		p.fault("read by two at once")
	}
	if p.closes > 0 {
		p.fault("read after Close")
	}
	p.busy = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.busy = false
		p.mu.Unlock()
	}()
	n, err := p.src.Read(b)
	p.mu.Lock()
	p.read += int64(n)
	p.mu.Unlock()
	return n, err
}

func (p *probe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closes++
	if p.busy {
		p.fault("closed while it was read")
	}
	if p.held {
		p.fault("closed before the base was done with it")
	}
	return nil
}

func (p *probe) Seek(int64, int) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault("sought")
	return 0, errors.New("probe: sought")
}

// hold says whether a base has the body and has not closed it.
func (p *probe) hold(held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = held
}

// check reports what went wrong, once the call and its base are done.
func (p *probe) check(t testing.TB, name string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closes == 0 {
		t.Errorf("%s: never closed", name)
	}
	for _, f := range p.faults {
		t.Errorf("%s: %s", name, f)
	}
}

// tracked is a response body that counts.
type tracked struct {
	io.Reader
	reads, closes atomic.Int32
}

func (b *tracked) Read(p []byte) (int, error) {
	b.reads.Add(1)
	return b.Reader.Read(p)
}

func (b *tracked) Close() error {
	b.closes.Add(1)
	return nil
}

// newRequest is http.NewRequest for requests that can't be wrong. A body that
// is a strings.Reader or the like gets a GetBody; wrap it to have none.
func newRequest(t testing.TB, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// once hides all of a reader but Read, so that it can be sent only once.
type once struct{ io.Reader }

// outcome gives the report of a call, which must have returned exactly one of
// a response and an *Error.
func outcome(t testing.TB, resp *http.Response, err error) *roundtripper.Report {
	t.Helper()
	if err != nil {
		if resp != nil {
			t.Fatalf("both a response (%d) and an error: %v", resp.StatusCode, err)
		}
		e, ok := errors.AsType[*roundtripper.Error](err)
		if !ok {
			t.Fatalf("error is a %T, want an *Error: %v", err, err)
		}
		if e.Report == nil || e.Report.Stop != e.Reason {
			t.Fatalf("Error.Reason = %q, want that of its report: %+v", e.Reason, e.Report)
		}
		return e.Report
	}
	if resp == nil {
		t.Fatal("neither a response nor an error")
	}
	report, ok := roundtripper.ReportFrom(resp)
	if !ok {
		t.Fatalf("no report on a response of %d", resp.StatusCode)
	}
	return report
}

// wantEnd checks how many attempts a call made, and why it stopped.
func wantEnd(t testing.TB, report *roundtripper.Report, attempts int, stop roundtripper.Reason) {
	t.Helper()
	if got := len(report.Attempts); got != attempts {
		t.Errorf("attempts = %d, want %d: %+v", got, attempts, report.Attempts)
	}
	if report.Stop != stop {
		t.Errorf("stop = %q, want %q", report.Stop, stop)
	}
}

// drink reads and closes the body of a response.
func drink(t testing.TB, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("reading the response: %v", err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Errorf("closing the response: %v", err)
	}
	return string(data)
}

// quick makes p wait for nothing, for tests that are not about waits.
func quick(p roundtripper.Policy) roundtripper.Policy {
	p.Backoff = nil
	return p
}

// network is a listener without sockets, and the way to dial it: for servers
// in a synctest bubble.
type network struct {
	conns  chan net.Conn
	closed chan struct{}
	dialed atomic.Int32
	once   sync.Once
}

func newNetwork() *network {
	return &network{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (n *network) dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case n.conns <- server:
		n.dialed.Add(1)
		return client, nil
	case <-n.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }

// serveInMemory runs h on a network of its own until the test ends, and gives
// the transport that leads there. It is for a synctest bubble.
func serveInMemory(t testing.TB, h http.Handler) (*network, *http.Transport) {
	t.Helper()
	n := newNetwork()
	var running atomic.Int32
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Add(-1)
		h.ServeHTTP(w, r)
	})
	srv := &http.Server{Handler: counted, ErrorLog: quiet()}
	go srv.Serve(n)
	base := &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return n.dial() },
	}
	t.Cleanup(func() {
		base.CloseIdleConnections()
		srv.Close()
		for running.Load() > 0 {
			time.Sleep(time.Second) // of the bubble
		}
	})
	return n, base
}

// server is a real server on loopback that counts its connections.
type server struct {
	*httptest.Server
	conns atomic.Int32
}

// serveLoopback runs h until the test ends, and gives a transport of its own
// for it.
func serveLoopback(t testing.TB, h http.Handler) (*server, *http.Transport) {
	t.Helper()
	s := &server{Server: httptest.NewUnstartedServer(h)}
	s.Config.ErrorLog = quiet()
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.Start()
	base := &http.Transport{}
	t.Cleanup(func() {
		base.CloseIdleConnections()
		s.Close()
	})
	return s, base
}

// quiet is for servers that are meant to meet errors.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
