package main

// The network that tests run on, connections in memory, and a command on it.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

const (
	testSecret = "topsecret, and long enough for it"
	testURL    = "http://receiver.test/hook"
)

type network struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func newNetwork() *network { return &network{conns: make(chan net.Conn), over: make(chan struct{})} }

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.over:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error   { n.once.Do(func() { close(n.over) }); return nil }
func (n *network) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "own.test" }

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

// bench is a command on a network of its own.
type bench struct {
	command
	network        *network
	stdout, stderr lockedBuffer
}

// lockedBuffer may be read while the command writes.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// newBench makes one, with a server on its network if there is a handler.
func newBench(t *testing.T, handler http.Handler) *bench {
	b := &bench{network: newNetwork()}
	transport := &http.Transport{DialContext: b.network.dial}
	b.command = command{
		stdin:  strings.NewReader(""),
		stdout: &b.stdout,
		stderr: &b.stderr,
		getenv: func(name string) string { return map[string]string{secretVariable: testSecret}[name] },
		base:   transport,
		listen: func(string) (net.Listener, error) { return b.network, nil },
	}
	t.Cleanup(transport.CloseIdleConnections)
	if handler == nil {
		return b
	}
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(b.network)
	}()
	t.Cleanup(func() {
		server.Close()
		<-served
	})
	return b
}

// do runs the command, and checks that nobody learns the secret.
func (b *bench) do(t *testing.T, ctx context.Context, args ...string) int {
	exit := b.run(ctx, args)
	require.NotContains(t, b.stdout.String()+b.stderr.String(), "topsecret")
	return exit
}

// verifier is a correct receiver, unless config makes it another one.
func verifier(t *testing.T, config webhookmw.Config, handle http.HandlerFunc) http.Handler {
	config.Secrets = []string{testSecret}
	v, err := webhookmw.New(config)
	require.NoError(t, err)
	if handle == nil {
		handle = func(http.ResponseWriter, *http.Request) {}
	}
	return v.Handler(handle)
}

// answers is a handler that goes through a list of statuses; the last one repeats.
func answers(statuses ...int) http.Handler { return &worker{answer: statuses} }

var randomID = regexp.MustCompile(`(evt|dlv)_[A-Z2-7]{26}`)

// lines are those of a text, with IDs made at random replaced.
func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(randomID.ReplaceAllString(text, "${1}_X"), "\n"), "\n")
}
