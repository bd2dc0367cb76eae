package roundtripper_test

// A server that kills its connections at a stage of the exchange, for
// kill_test.go.

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// stage is when a connection is killed.
type stage string

const (
	refused       stage = "refused" // before it is one
	handshake     stage = "in the TLS handshake"
	proxyConnect  stage = "in the proxy's CONNECT"
	afterAccept   stage = "after accept"
	afterLine     stage = "after the request line"
	afterHeaders  stage = "after the request's headers"
	midBody       stage = "amid the request's body"
	afterRequest  stage = "after the request"
	midHeaders    stage = "amid the response's headers"
	midText       stage = "amid the response's text"
	midJSON       stage = "amid the response's JSON"
	afterResponse stage = "after the response"
)

// killer is a server that kills its first connections and serves the others.
type killer struct {
	net.Listener
	stage stage
	kills int

	mu    sync.Mutex
	conns []net.Conn
	keys  []string // of each request, as far as it got
	whole int      // requests that arrived with all of their body
	serve sync.WaitGroup
}

func newKiller(t *testing.T, at stage, kills int) *killer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &killer{Listener: l, stage: at, kills: kills}
	k.serve.Go(func() {
		for i := 0; ; i++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			k.mu.Lock()
			k.conns = append(k.conns, conn)
			k.mu.Unlock()
			k.serve.Go(func() {
				defer conn.Close()
				if i < kills {
					k.kill(conn)
					return
				}
				for r := bufio.NewReader(conn); k.answer(conn, r, "OK", "text/plain", 2) == nil; {
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		k.mu.Lock()
		for _, c := range k.conns {
			c.Close()
		}
		k.mu.Unlock()
		k.serve.Wait()
	})
	return k
}

// kill talks to conn up to its stage.
func (k *killer) kill(conn net.Conn) {
	r := bufio.NewReader(conn)
	switch k.stage {
	case afterAccept:
	case handshake:
		io.ReadFull(conn, make([]byte, 20))
	case afterLine, proxyConnect:
		for b := []byte{0}; b[0] != '\n'; {
			if _, err := conn.Read(b); err != nil {
				return
			}
		}
	case afterHeaders:
		k.read(r, 0)
	case midBody:
		k.read(r, killSize/2)
	case afterRequest:
		k.read(r, killSize)
	case midHeaders:
		k.read(r, killSize)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Le")
	case midText:
		k.answer(conn, r, "half", "text/plain", 8)
	case midJSON:
		k.answer(conn, r, `{"a"`, "application/json", 7)
	case afterResponse:
		k.answer(conn, r, "OK", "text/plain", 2)
	}
}

// killSize is the size of the bodies that are sent.
const killSize = 64 << 10

var killBody = bytes.Repeat([]byte("0123456789abcdef"), killSize/16)

// read reads a request and up to n bytes of its body.
func (k *killer) read(r *bufio.Reader, n int64) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(req.Body, n))
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = append(k.keys, req.Header.Get("Idempotency-Key"))
	if req.ContentLength == 0 || bytes.Equal(data, killBody) {
		k.whole++
	}
	return err
}

// answer reads a request and answers it with text, of which length is said to
// be the length.
func (k *killer) answer(conn net.Conn, r *bufio.Reader, text, typ string, length int) error {
	if err := k.read(r, killSize); err != nil {
		return err
	}
	_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", typ, length, text)
	return err
}

// dead is an address at which nobody listens, nor will while the test runs.
func dead(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		l.Close()
	})
	return conn.LocalAddr().String()
}
