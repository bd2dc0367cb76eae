package roundtripper_test

// A Transport over HTTP/2: streams share a connection, and the base sends a
// request again by itself when the connection goes away.

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

func TestHTTP2(t *testing.T) {
	var conns atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Attempt") < "3" {
			io.Copy(io.Discard, r.Body)
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Trailer", "X-Proto")
		io.Copy(w, r.Body)
		w.Header().Set("X-Proto", r.Proto)
	}))
	srv.EnableHTTP2 = true
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.StartTLS()
	defer srv.Close()
	payload := strings.Repeat("0123456789", 20_000)
	for name, body := range map[string]func() io.Reader{
		"GetBody":      func() io.Reader { return strings.NewReader(payload) },
		"ReplayBuffer": func() io.Reader { return once{strings.NewReader(payload)} },
		"none":         func() io.Reader { return nil },
	} {
		policy := quick(roundtripper.Standard())
		policy.AttemptHeader = "X-Attempt"
		policy.ReplayBuffer = 1 << 20
		client := &http.Client{Transport: roundtripper.New(srv.Client().Transport, policy), Timeout: time.Minute}
		resp, err := client.Do(newRequest(t, "PUT", srv.URL, body()))
		wantEnd(t, outcome(t, resp, err), 3, roundtripper.ReasonOK)
		want := payload
		if name == "none" {
			want = ""
		}
		if got := drink(t, resp); got != want {
			t.Errorf("%s: got %d bytes, want %d", name, len(got), len(want))
		}
		if got := resp.Trailer.Get("X-Proto"); got != "HTTP/2.0" {
			t.Errorf("%s: trailer = %q", name, got)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// A server that refuses at once resets the stream under an upload: the base
// then closes the body while it may still be read (run with -race).
func TestHTTP2EarlyAnswer(t *testing.T) {
	payload := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Attempt") == "1" {
			w.WriteHeader(503)
			return
		}
		data, err := io.ReadAll(r.Body)
		if !bytes.Equal(data, payload) || err != nil {
			http.Error(w, fmt.Sprintf("got %d bytes, %v", len(data), err), 400)
		}
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	policy := quick(roundtripper.Standard())
	policy.AttemptHeader = "X-Attempt"
	tr := roundtripper.New(srv.Client().Transport, policy)
	for range 5 {
		resp, err := tr.RoundTrip(newRequest(t, "PUT", srv.URL, bytes.NewReader(payload)))
		wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
		if got := drink(t, resp); got != "" {
			t.Fatal(got)
		}
	}
}

// An attempt that runs out of time costs its stream, not the connection.
func TestHTTP2AttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		var protocols http.Protocols
		protocols.SetUnencryptedHTTP2(true)
		var requests atomic.Int32
		srv := &http.Server{Protocols: &protocols, ErrorLog: quiet(), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch requests.Add(1) {
			case 1: // no headers
				<-r.Context().Done()
			case 2: // no body
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(200)
				http.NewResponseController(w).Flush()
				<-r.Context().Done()
			default:
				io.WriteString(w, r.Proto)
			}
		})}
		go srv.Serve(n)
		base := &http.Transport{
			Protocols:   &protocols,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return n.dial() },
		}
		start := time.Now()
		resp, err := roundtripper.New(base, roundtripper.Headless()).RoundTrip(newRequest(t, "GET", anyURL, nil))
		wantEnd(t, outcome(t, resp, err), 3, roundtripper.ReasonOK)
		if got := drink(t, resp); got != "HTTP/2.0" {
			t.Errorf("got %q", got)
		}
		if d := time.Since(start); d != 2*8*time.Second+300*time.Millisecond {
			t.Errorf("it took %v, want two attempts of 8 s and waits of 300 ms", d)
		}
		if n := n.dialed.Load(); n != 1 {
			t.Errorf("%d connections, want 1", n)
		}
		base.CloseIdleConnections()
		srv.Close()
		synctest.Wait()
	})
}

// A fault elsewhere: the connection goes away after the body was written. The base asks for
// the body again, so an attempt must leave it a GetBody that works; without
// one, what was kept is ours to send (hashicorp/go-retryablehttp#121).
func TestHTTP2GoAway(t *testing.T) {
	for name, test := range map[string]struct {
		method   string
		getBody  bool
		buffer   int64
		attempts int
		stop     roundtripper.Reason
	}{
		// Sent again below us, whatever the method: the server has said
		// that it did not look at it.
		"POST with GetBody": {"POST", true, 0, 1, roundtripper.ReasonOK},
		"PUT with GetBody":  {"PUT", true, 0, 1, roundtripper.ReasonOK},
		"PUT kept":          {"PUT", false, 100, 2, roundtripper.ReasonOK},
		"PUT not kept":      {"PUT", false, 0, 1, roundtripper.ReasonNotReplayable},
		"POST kept":         {"POST", false, 100, 1, roundtripper.ReasonNotRepeatable},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serveGoAway(t)
			var protocols http.Protocols
			protocols.SetUnencryptedHTTP2(true)
			base := &http.Transport{Protocols: &protocols}
			defer base.CloseIdleConnections()
			policy := quick(roundtripper.Standard())
			policy.ReplayBuffer = test.buffer
			body := newProbe("hello")
			req := newRequest(t, test.method, "http://"+srv.Addr().String(), body)
			req.ContentLength = 5
			if test.getBody {
				req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("hello")), nil }
			}
			resp, err := roundtripper.New(base, policy).RoundTrip(req)
			wantEnd(t, outcome(t, resp, err), test.attempts, test.stop)
			want := `["hello"]`
			if test.stop == roundtripper.ReasonOK {
				want = `["hello" "hello"]`
				drink(t, resp)
			}
			if got := srv.bodies(); fmt.Sprintf("%q", got) != want {
				t.Errorf("the server saw %q, want %s", got, want)
			}
			body.check(t, "body")
		})
	}
}

// goAway is an HTTP/2 server, as far as that goes, whose first connection goes
// away once a request has arrived whole, saying that it was not looked at. The
// others answer 200.
type goAway struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
	seen  []string
}

// Frames of RFC 9113, section 6.
const (
	frameData     = 0x0
	frameHeaders  = 0x1
	frameSettings = 0x4
	frameGoAway   = 0x7

	flagEndStream  = 0x1
	flagAck        = 0x1
	flagEndHeaders = 0x4
)

func serveGoAway(t *testing.T) *goAway {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &goAway{Listener: l}
	var serving sync.WaitGroup
	serving.Go(func() {
		for first := true; ; first = false {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.mu.Unlock()
			serving.Go(func() {
				if err := s.serve(conn, first); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
					t.Logf("serving: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			c.Close()
		}
		s.mu.Unlock()
		serving.Wait()
	})
	return s
}

func (s *goAway) bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *goAway) serve(conn net.Conn, first bool) error {
	send := func(typ, flags byte, stream uint32, payload []byte) error {
		frame := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(typ))
		frame = append(frame, flags)
		frame = binary.BigEndian.AppendUint32(frame, stream)
		_, err := conn.Write(append(frame, payload...))
		return err
	}
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return err
	}
	if err := send(frameSettings, 0, 0, nil); err != nil {
		return err
	}
	body := ""
	for {
		var head [9]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return err
		}
		payload := make([]byte, binary.BigEndian.Uint32(head[:4])>>8)
		if _, err := io.ReadFull(conn, payload); err != nil {
			return err
		}
		typ, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		switch {
		case typ == frameSettings && flags&flagAck == 0:
			if err := send(frameSettings, flagAck, 0, nil); err != nil {
				return err
			}
		case typ == frameData:
			body += string(payload)
		}
		if typ != frameData && typ != frameHeaders || flags&flagEndStream == 0 {
			continue
		}
		s.mu.Lock()
		s.seen = append(s.seen, body)
		s.mu.Unlock()
		body = ""
		var err error
		if first { // last stream 0, no error
			if err = send(frameGoAway, 0, 0, make([]byte, 8)); err == nil {
				err = conn.(*net.TCPConn).CloseWrite()
			}
		} else { // ":status: 200" is entry 8 of the static table
			err = send(frameHeaders, flagEndStream|flagEndHeaders, stream, []byte{0x88})
		}
		if err != nil {
			return err
		}
	}
}
