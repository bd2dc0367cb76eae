package webhookmw_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// Real sockets and real processes.

func TestMain(m *testing.M) {
	if os.Getenv("WEBHOOKMW_TEST_RECEIVER") != "" {
		serve()
	}
	os.Exit(m.Run())
}

// serve is a receiver in a process of its own. It says on standard output where it listens and when its handler begins;
// "hang" as its name keeps the handler from ending.
func serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	handler := func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("working")
		if os.Getenv("WEBHOOKMW_TEST_RECEIVER") == "hang" {
			time.Sleep(time.Hour)
		}
	}
	panic(http.Serve(l, webhookmw.Verify(secret)(http.HandlerFunc(handler))))
}

type process struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	url   string
}

func startReceiver(t *testing.T, name string) *process {
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), "WEBHOOKMW_TEST_RECEIVER="+name)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(p.kill)
	p.lines = bufio.NewScanner(out)
	p.url = "http://" + p.line(t)
	return p
}

func (p *process) line(t *testing.T) string {
	require.True(t, p.lines.Scan(), "the receiver says nothing more")
	return p.lines.Text()
}

// kill ends the process without a chance to say anything: SIGKILL.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// The receiver dies in the middle of the work. The sender's next attempt, after it is back, is handled: nothing is lost.
func TestReceiverKilledInTheMiddle(t *testing.T) {
	send := func(url string) (int, error) {
		r, err := http.NewRequest("POST", url, strings.NewReader(plain))
		require.NoError(t, err)
		webhookmw.Sign(r.Header, secret, "dlv_1", time.Now(), []byte(plain))
		r.Close = true
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		return resp.StatusCode, nil
	}
	first := startReceiver(t, "hang")
	failed := make(chan error, 1)
	go func() {
		_, err := send(first.url)
		failed <- err
	}()
	require.Equal(t, "working", first.line(t))
	first.kill()
	require.Error(t, <-failed, "nothing was acknowledged")

	second := startReceiver(t, "work")
	status, err := send(second.url)
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Equal(t, "working", second.line(t))
}

func TestHundredTwinsOverLoopback(t *testing.T) {
	var runs atomic.Int64
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Wait: time.Minute})
	require.NoError(t, err)
	h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		runs.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != plain {
			w.WriteHeader(500)
		}
	}))
	server := httptest.NewServer(h)
	defer server.Close()
	header := signed("dlv_1", plain).Header
	var wg sync.WaitGroup
	var taken, duplicates atomic.Int64
	begin := make(chan struct{})
	for range 100 {
		wg.Go(func() {
			r, err := http.NewRequest("POST", server.URL, strings.NewReader(plain))
			require.NoError(t, err)
			r.Header = header.Clone()
			<-begin
			resp, err := server.Client().Do(r)
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, 200, resp.StatusCode)
			if resp.Header.Get("Webhook-Duplicate") == "true" {
				duplicates.Add(1)
			} else {
				taken.Add(1)
			}
		})
	}
	close(begin)
	wg.Wait()
	require.EqualValues(t, 1, runs.Load())
	require.EqualValues(t, 1, taken.Load())
	require.EqualValues(t, 99, duplicates.Load())
}

// exchange writes raw bytes to a server and returns its answer.
func exchange(t *testing.T, server *httptest.Server, request string, halfClose bool) *http.Response {
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	if halfClose {
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	return resp
}

// raw is a signed request on the wire, with a body that need not be whole.
func raw(lengthHeader, body string, signedBody string) string {
	var b bytes.Buffer
	b.WriteString("POST /hook HTTP/1.1\r\nHost: example.com\r\n" + lengthHeader + "\r\n")
	signed("dlv_1", signedBody).Header.Write(&b)
	b.WriteString("\r\n" + body)
	return b.String()
}

func TestBodyOnTheWire(t *testing.T) {
	huge := strings.Repeat("x", 131073)
	tests := []struct {
		name, request string
		halfClose     bool
		want          int
		reason        webhookmw.Reason
	}{
		{"declared 10, sent 3, closed", raw("Content-Length: 10", "abc", plain), true, 400, webhookmw.ReasonBodyBroken},
		{"declared too much, sent nothing", raw("Content-Length: 131073", "", plain), false, 413, webhookmw.ReasonTooLarge},
		{"expects to be told to go on", raw("Content-Length: 131073\r\nExpect: 100-continue", "", plain), false, 413, webhookmw.ReasonTooLarge},
		{"chunked, one byte too many", raw("Transfer-Encoding: chunked", "20001\r\n"+huge+"\r\n0\r\n\r\n", huge), false, 413, webhookmw.ReasonTooLarge},
		{"chunked, cut", raw("Transfer-Encoding: chunked", "5\r\nab", plain), true, 400, webhookmw.ReasonBodyBroken},
		{"chunked, whole", raw("Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(plain), plain), plain), false, 200, webhookmw.ReasonAccepted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{}, nil)
			server := httptest.NewServer(rec.handler)
			defer server.Close()
			resp := exchange(t, server, test.request, test.halfClose)
			require.Equal(t, test.want, resp.StatusCode)
			require.Equal(t, test.want != 200, resp.Close)
			require.Eventually(t, func() bool { return rec.last().Reason == test.reason }, 5*time.Second, time.Millisecond)
		})
	}
}
