package bench_test

// How many connections failures use up. A response that is given up must be read
// to its end, or its connection can't carry the next request.

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkConnections is 100 GETs, one after the other, each of which sees one
// 503 first, over a real connection. conns is how many connections were made,
// and is the point here: the time is mostly the server's.
func BenchmarkConnections(b *testing.B) {
	for _, size := range []int{2, 10 << 10, 200 << 10} {
		server := failing(size)
		for _, c := range shuffled(retriers()) {
			b.Run(fmt.Sprintf("error=%d/impl=%s", size, c.name), func(b *testing.B) {
				b.ReportAllocs()
				total := 0
				for b.Loop() {
					total += hundred(b, server, c)
				}
				b.ReportMetric(float64(total)/float64(b.N), "conns")
			})
		}
		server.Close()
	}
}

// failing answers every other request with a 503 and a body of size bytes.
func failing(size int) *httptest.Server {
	body := make([]byte, size)
	var requests atomic.Int64
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1)%2 == 1 {
			w.Header().Set("Content-Length", strconv.Itoa(size))
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write(body)
		}
	}))
}

// hundred makes the calls and counts the connections.
func hundred(b *testing.B, server *httptest.Server, c contender) int {
	var mu sync.Mutex // dialling is on goroutines of the transport's own
	var conns []net.Conn
	base := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, conn)
		}
		return conn, err
	}}
	requests := 0
	do, _ := c.over(doer(func(req *http.Request) (*http.Response, error) {
		requests++
		return base.RoundTrip(req)
	}), "client")
	for range 100 {
		resp, err := do(newRequest(b, http.MethodGet, nil))
		finish(b, resp, err, 0)
	}
	if requests != 200 {
		b.Fatal(requests)
	}
	base.CloseIdleConnections()
	mu.Lock()
	defer mu.Unlock()
	for _, conn := range conns { // one that was never read to its end is not idle
		conn.Close()
	}
	return len(conns)
}
