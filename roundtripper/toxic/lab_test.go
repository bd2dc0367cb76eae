package toxic_test

// This file holds the lab: a server, a proxy in front of it that can be poisoned, and a base transport, all of which
// count what is open.

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long the lab waits for what must come, however slow the machine is.
const patience = 15 * time.Second

// bodySize is the length of the server's long answers, and of the long uploads.
const bodySize = 64 << 10

// lab is one network with one server at its end.
type lab struct {
	url   string
	base  *http.Transport
	proxy *toxiproxy.Proxy

	dials, dialled atomic.Int64 // connections that the client asked for; those that are open
	served         atomic.Int64 // connections that are open at the server

	onArrival func() // nil: nobody wants to know

	mu       sync.Mutex
	arrivals map[string]int // by the mark of a call
}

func newLab(t *testing.T, secure bool) *lab {
	l := &lab{arrivals: make(map[string]int)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(l.serve))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			l.served.Add(1)
		case http.StateClosed, http.StateHijacked:
			l.served.Add(-1)
		}
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	dialer := &net.Dialer{}
	l.base = &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			l.dials.Add(1)
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			l.dialled.Add(1)
			return &countedConn{Conn: c, open: &l.dialled}, nil
		},
	}
	scheme := "http"
	if secure {
		server.StartTLS()
		scheme = "https"
		l.base.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	} else {
		server.Start()
	}
	l.proxy = newProxy(t, server.Listener.Addr().String())
	l.url = scheme + "://" + l.proxy.Listen

	t.Cleanup(func() {
		l.base.CloseIdleConnections()
		assert.Eventually(t, func() bool { return l.dialled.Load() == 0 }, patience, time.Millisecond,
			"a connection of the client was leaked")
		l.proxy.Stop()
		server.Close()
		assert.Eventually(t, func() bool { return l.served.Load() == 0 }, patience, time.Millisecond,
			"a connection of the server was leaked")
	})
	return l
}

// newProxy starts a proxy in front of upstream.
func newProxy(t *testing.T, upstream string) *toxiproxy.Proxy {
	t.Helper()
	for range 100 {
		p := toxiproxy.NewProxy(newAPI(), t.Name(), nextAddress(), upstream)
		if p.Start() == nil {
			return p
		}
	}
	require.FailNow(t, "no port is free")
	return nil
}

func newAPI() *toxiproxy.ApiServer {
	return toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
}

// lastPort counts down from below the range from which systems take the ports that nobody chose: so a port that is
// given up for a while, or for good, is taken by nobody else.
var lastPort atomic.Int64

func init() { lastPort.Store(30000 - rand.Int64N(10000)) }

func nextAddress() string { return fmt.Sprintf("127.0.0.1:%d", lastPort.Add(-1)) }

// poison adds a toxic. cure puts a clean proxy in the place of the poisoned one: to take a toxic out of connections that
// are stuck takes the proxy seconds for each piece of data that is.
func (l *lab) poison(t *testing.T, kind, stream, attributes string) (cure func()) {
	t.Helper()
	_, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(
		fmt.Sprintf(`{"type": %q, "stream": %q, "attributes": {%s}}`, kind, stream, attributes)))
	require.NoError(t, err)
	return func() {
		l.proxy.Stop()
		l.base.CloseIdleConnections()
		l.proxy = toxiproxy.NewProxy(newAPI(), t.Name(), l.proxy.Listen, l.proxy.Upstream)
		require.NoError(t, l.proxy.Start())
	}
}

// serve takes each request whole and answers by its path.
func (l *lab) serve(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.arrivals[r.Header.Get("Mark")]++
	l.mu.Unlock()
	if l.onArrival != nil {
		l.onArrival()
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	if r.Header.Get("Accept") == "application/json" {
		w.Header().Set("Content-Type", "application/json")
	} else {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	switch r.URL.Path {
	case "/short":
		io.WriteString(w, `"taken"`)
	case "/until-close":
		// Only the end of the connection says where the body ends.
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "HTTP/1.0 200 OK\r\nContent-Type: %s\r\n\r\n%s", w.Header().Get("Content-Type"), longJSON)
	default:
		w.Header().Set("Content-Length", fmt.Sprint(bodySize))
		io.WriteString(w, longJSON)
	}
}

// longJSON is a JSON string.
var longJSON = `"` + strings.Repeat("x", bodySize-2) + `"`

func (l *lab) arrived(mark string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.arrivals[mark]
}

// countedConn counts itself out once, however often it is closed.
type countedConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// upload is a request body of which each copy is counted until it is closed.
type upload struct {
	data           string
	made, released atomic.Int64
}

func (u *upload) open() (io.ReadCloser, error) {
	u.made.Add(1)
	return &uploadBody{Reader: strings.NewReader(u.data), upload: u}, nil
}

type uploadBody struct {
	io.Reader
	upload *upload
	once   sync.Once
}

func (b *uploadBody) Close() error {
	b.once.Do(func() { b.upload.released.Add(1) })
	return nil
}

// TestMain lets many tests run at once, since they do little but wait, and fails if a goroutine of a client has
// outlived them all.
func TestMain(m *testing.M) {
	zerolog.SetGlobalLevel(zerolog.Disabled) // a toxic logs past the logger that it is given
	flag.Parse()
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	code := m.Run()
	if left := leftovers(); code == 0 && left != "" {
		fmt.Fprintln(os.Stderr, "goroutines were leaked:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// leftovers waits for the goroutines of clients to end, and gives the stacks of those that do not.
func leftovers() string {
	var left []string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		left = left[:0]
		buf := make([]byte, 4<<20)
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "persistConn") || strings.Contains(g, "rebound/roundtripper.") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return ""
		}
	}
	return strings.Join(left, "\n\n")
}

// redirect puts another server behind the proxy, which keeps its address.
func (l *lab) redirect(t *testing.T, upstream string) {
	t.Helper()
	require.NoError(t, l.proxy.Update(&toxiproxy.Proxy{Listen: l.proxy.Listen, Upstream: upstream, Enabled: false}))
	require.NoError(t, l.proxy.Start())
}
