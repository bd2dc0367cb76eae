package roundtripper_test

// This file holds what the tests of policies share: a base transport that plays
// a script, and a call that is checked for what holds for every call.

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

const twTick = time.Millisecond

// twStep is how a base transport answers one attempt.
type twStep struct {
	after  time.Duration // until the headers, or the error
	status int
	header []string // names and values in turn
	body   string
	pace   time.Duration // before each byte of the body
	cut    error         // what the body ends with; nil: io.EOF
	stall  bool          // the body never ends
	err    error         // instead of a response
	hang   bool          // neither comes
	unread bool          // nothing of the request is read
}

var twJSON = []string{"Content-Type", "application/json"}

// twBase plays a script, a step for each attempt; the last one repeats. As a
// transport must, it ends with the request's context and closes its body.
type twBase struct {
	steps []twStep
	start time.Time

	mu      sync.Mutex
	at      []time.Duration // when each attempt came
	headers []http.Header
	urls    []string
	sent    []string // the request bodies
	bodies  []*twBody
}

func twScript(steps ...twStep) *twBase { return &twBase{steps: steps, start: time.Now()} }

func (b *twBase) RoundTrip(req *http.Request) (*http.Response, error) {
	b.mu.Lock()
	step := b.steps[min(len(b.at), len(b.steps)-1)]
	b.at = append(b.at, time.Since(b.start))
	b.headers = append(b.headers, req.Header.Clone())
	b.urls = append(b.urls, req.URL.String())
	b.mu.Unlock()
	if req.Body != nil {
		defer req.Body.Close()
		if !step.unread {
			sent, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			b.mu.Lock()
			b.sent = append(b.sent, string(sent))
			b.mu.Unlock()
		}
	}
	ctx := req.Context()
	if step.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := twSleep(ctx, step.after); err != nil {
		return nil, err
	}
	if step.err != nil {
		return nil, step.err
	}
	body := &twBody{step: step, ctx: ctx, closed: make(chan struct{})}
	b.mu.Lock()
	b.bodies = append(b.bodies, body)
	b.mu.Unlock()
	resp := &http.Response{
		Status: http.StatusText(step.status), StatusCode: step.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header), Body: body, ContentLength: -1, Request: req,
	}
	for i := 0; i < len(step.header); i += 2 {
		resp.Header.Add(step.header[i], step.header[i+1])
	}
	return resp, nil
}

func twSleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *twBase) wantStarts(t *testing.T, want ...time.Duration) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.at, want) {
		t.Errorf("attempts at %v, want %v", b.at, want)
	}
}

func (b *twBase) wantAttempts(t *testing.T, want int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.at) != want {
		t.Errorf("%d attempts, at %v, want %d", len(b.at), b.at, want)
	}
}

// wantNow checks how long ago the script began.
func (b *twBase) wantNow(t *testing.T, want time.Duration) {
	t.Helper()
	if got := time.Since(b.start); got != want {
		t.Errorf("it is %v, want %v", got, want)
	}
}

// wantClosed checks that every response body was closed.
func (b *twBase) wantClosed(t *testing.T) {
	t.Helper()
	for i, body := range b.bodies {
		if !body.isClosed() {
			t.Errorf("response body %d of %d is open", i+1, len(b.bodies))
		}
	}
}

// twBody is a response body of a twBase.
type twBody struct {
	step   twStep
	ctx    context.Context
	n      int
	once   sync.Once
	closed chan struct{}
}

func (b *twBody) Read(p []byte) (int, error) {
	if b.isClosed() {
		return 0, http.ErrBodyReadAfterClose
	}
	if err := twSleep(b.ctx, b.step.pace); err != nil {
		return 0, err
	}
	if b.n < len(b.step.body) {
		if b.step.pace > 0 && len(p) > 1 {
			p = p[:1]
		}
		n := copy(p, b.step.body[b.n:])
		b.n += n
		return n, nil
	}
	if b.step.stall {
		select {
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		case <-b.closed:
			return 0, http.ErrBodyReadAfterClose
		}
	}
	if b.step.cut != nil {
		return 0, b.step.cut
	}
	return 0, io.EOF
}

func (b *twBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

func (b *twBody) isClosed() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

// twRun runs f as a test of its own, in a bubble.
func twRun(t *testing.T, name string, f func(*testing.T)) {
	t.Helper()
	if name == "" {
		synctest.Test(t, f)
		return
	}
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// twRequest makes a request; a body can be sent again.
func twRequest(method, body string) *http.Request {
	req, err := http.NewRequest(method, "http://example.com/things?q=1", nil)
	if body != "" {
		req, err = http.NewRequest(method, "http://example.com/things?q=1", strings.NewReader(body))
	}
	if err != nil {
		panic(err)
	}
	return req
}

// twDo makes a call and checks what holds for every call: exactly one of
// response and error comes, the error is an *Error with a Report, and all
// bodies but the one handed over are closed.
func twDo(t *testing.T, base http.RoundTripper, p roundtripper.Policy, req *http.Request) (*http.Response, error) {
	t.Helper()
	return twCall(t, roundtripper.New(base, p), req)
}

func twCall(t *testing.T, tr *roundtripper.Transport, req *http.Request) (*http.Response, error) {
	t.Helper()
	resp, err := tr.RoundTrip(req)
	if (resp == nil) == (err == nil) {
		t.Fatalf("response %v and error %v: want exactly one", resp, err)
	}
	if err != nil {
		if e, ok := errors.AsType[*roundtripper.Error](err); !ok || e.Report == nil || e.Err == nil || e.Reason != e.Report.Stop {
			t.Fatalf("%#v is no whole *Error", err)
		}
		return nil, err
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp, nil
}

// twReport is the report of a call, whichever way it ended.
func twReport(t *testing.T, resp *http.Response, err error) *roundtripper.Report {
	t.Helper()
	if e, ok := errors.AsType[*roundtripper.Error](err); ok {
		return e.Report
	}
	r, ok := roundtripper.ReportFrom(resp)
	if !ok {
		t.Fatalf("no report: %v, %v", resp, err)
	}
	return r
}

func twRead(t *testing.T, resp *http.Response) string {
	t.Helper()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// twIsTimeout asks as net/url does.
func twIsTimeout(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && e.Timeout()
}

// twFunc is a base transport made of a function.
type twFunc func(*http.Request) (*http.Response, error)

func (f twFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// twPlain repeats GET twice, at once.
func twPlain() roundtripper.Policy {
	return roundtripper.Policy{MaxRetries: 2, Methods: []string{"GET"}, Statuses: []int{503}}
}

// twBackoff waits for the delays in turn, the last one again and again.
func twBackoff(delays ...time.Duration) func(int, time.Duration) time.Duration {
	return func(retry int, _ time.Duration) time.Duration { return delays[min(retry, len(delays)-1)] }
}

// twPipeServer is an HTTP/1 server on in-memory connections that hold nothing,
// so that it runs in a bubble and a byte moves only when it is read. base is
// the way to it; stop ends all of it.
func twPipeServer(h http.HandlerFunc) (base *http.Transport, stop func()) {
	l := &twListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() { srv.Serve(l); close(done) }()
	base = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.conns <- theirs:
			l.mu.Lock()
			l.dials++
			l.mu.Unlock()
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	return base, func() {
		base.CloseIdleConnections()
		srv.Shutdown(context.Background()) // waits for the handlers
		<-done
	}
}

type twListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	mu     sync.Mutex
	dials  int
}

func (l *twListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *twListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *twListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
