package sqlstore_test

// A way to the PostgreSQL of the tests that can be cut, or hang.

import (
	"bytes"
	"io"
	"net"
	neturl "net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy is such a way. What is in its fields may be changed under its lock at any time.
type proxy struct {
	listener net.Listener
	server   string

	mu    sync.Mutex
	down  bool // new connections are closed at once
	gate  chan struct{}
	conns map[net.Conn]bool

	// cutAt ends a connection when the client sends this, and "" never; before the server sees it, or after, in which case
	// the server's answer is lost.
	cutAt    string
	cutAfter bool
}

// newProxy returns a proxy and the URL of the database behind it.
func newProxy(t *testing.T) (p *proxy, through string) {
	u, err := neturl.Parse(url())
	require.NoError(t, err)
	p = &proxy{server: u.Host, conns: map[net.Conn]bool{}}
	p.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go p.accept()
	t.Cleanup(func() {
		p.resume()
		p.cut()
		p.listener.Close()
	})
	u.Host = p.listener.Addr().String()
	query := u.Query()
	query.Set("sslmode", "disable") // The proxy reads along.
	u.RawQuery = query.Encode()
	return p, u.String()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil || !p.add(client, server) {
			client.Close()
			continue
		}
		go p.forward(server, client, true)
		go p.forward(client, server, false)
	}
}

func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.down {
			c.Close()
			continue
		}
		p.conns[c] = true
	}
	return !p.down
}

// forward passes on what it reads, until one side ends, or the client sends what cuts.
func (p *proxy) forward(to, from net.Conn, fromClient bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		gate := p.gate
		cut := fromClient && p.cutAt != "" && bytes.Contains(buf[:n], []byte(p.cutAt))
		after := p.cutAfter
		if cut {
			p.cutAt = ""
		}
		p.mu.Unlock()
		if gate != nil {
			<-gate
		}
		if cut && after {
			from.Close() // Before the server can answer.
		}
		if !cut || after {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if cut {
			if after {
				to.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, to) // The server finishes what it was told, and closes.
			}
			return
		}
	}
}

// cut ends every connection and lets none in until restore.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

func (p *proxy) restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// hang passes nothing on until resume.
func (p *proxy) hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
}

func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gate != nil {
		close(p.gate)
		p.gate = nil
	}
}

// cutNext cuts the next connection whose client sends text.
func (p *proxy) cutNext(text string, after bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAt, p.cutAfter = text, after
}
