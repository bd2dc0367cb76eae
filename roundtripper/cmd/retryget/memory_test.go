package main

// This file holds the network that tests run on: connections in memory, so that
// all of it stands in one bubble of package testing/synctest.

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// memory is a listener and the way to it.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory {
	return &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "flaky.test" }

// transport sends everything to m, wherever it is meant to go.
func (m *memory) transport() *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		client, server := net.Pipe()
		select {
		case m.conns <- server:
			return client, nil
		case <-m.closed:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

// result is what a run left behind.
type result struct {
	exit           int
	stdout, stderr string
}

// bench is a command on a network in memory, with a server if handler is set.
type bench struct {
	command
	stdout, stderr bytes.Buffer
}

func newBench(t *testing.T, handler http.HandlerFunc) *bench {
	m := newMemory()
	b := new(bench)
	b.command = command{
		stdin:  strings.NewReader(""),
		stdout: &b.stdout,
		stderr: &b.stderr,
		base:   m.transport(),
		listen: func() (net.Listener, error) { return m, nil },
	}
	if handler == nil {
		return b
	}
	s := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(m)
	}()
	t.Cleanup(func() {
		s.Close()
		<-served
	})
	return b
}

// do runs the command until ctx ends.
func (b *bench) do(ctx context.Context, args ...string) result {
	exit := b.run(ctx, args)
	return result{exit, b.stdout.String(), b.stderr.String()}
}

// lines makes a text of lines.
func lines(ls ...string) string { return strings.Join(ls, "\n") + "\n" }

// always answers with one status and body.
func always(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// once answers with a status at first, and after that with 200 and "fine".
func once(status int) http.HandlerFunc {
	var requests int
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if requests++; requests == 1 {
			w.WriteHeader(status)
			return
		}
		io.WriteString(w, "fine")
	}
}
