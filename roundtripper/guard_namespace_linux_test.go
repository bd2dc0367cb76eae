package roundtripper_test

// This file tests the offline gate behind a Transport with real sockets, in a
// network namespace that has no network until the test gives it one. Nothing
// leaves it.

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
)

const (
	gdInside = "REBOUND_TEST_ROUNDTRIPPER_NAMESPACE"
	gdNoLink = "no kind of link can be made here"
)

// TestOfflineRealSockets runs itself again in a namespace of its own.
func TestOfflineRealSockets(t *testing.T) {
	if os.Getenv(gdInside) != "" {
		gdNoNetwork(t)
		return
	}
	if _, err := exec.LookPath("ip"); err != nil {
		const missing = "there is no ip command to bring up a link with"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestOfflineRealSockets$", "-test.v", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), gdInside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 { // root of a user namespace of its own
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skipf("no network namespace to be had: %v", err)
	}
	t.Logf("%s", out)
	if err != nil { // A step that failed is no reason to skip, whatever could not be made after it.
		t.Fatalf("inside: %v", err)
	}
	if strings.Contains(string(out), gdNoLink) {
		t.Skip(gdNoLink)
	}
	if !strings.Contains(string(out), "--- PASS: TestOfflineRealSockets/returns") {
		t.Error("it did not run to the end")
	}
}

// gdIP runs the ip command.
func gdIP(t *testing.T, args string) bool {
	out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput()
	if err != nil {
		t.Logf("ip %s: %v %s", args, err, out)
	}
	return err == nil
}

// gdCalm is a policy whose gate looks for the network often, for maxWait.
func gdCalm(maxWait time.Duration) roundtripper.Policy {
	p := roundtripper.Standard()
	p.MaxRetries, p.Backoff, p.TotalTimeout = 2, nil, 0
	p.Offline = offline.New(offline.Config{MaxProbe: 20 * time.Millisecond, Resume: 20 * time.Millisecond, MaxWait: maxWait})
	p.Breaker = breaker.PerHost(breaker.Config{Consecutive: 3})
	p.Budget = budget.New(budget.Config{Initial: 5})
	return p
}

// gdNoNetwork runs inside. The subtests build on one another.
func gdNoNetwork(t *testing.T) {
	if !gdIP(t, "link set lo up") {
		t.Skip(gdNoLink)
	}

	// Whatever the name resolver and the kernel say when there is nothing, it
	// closes the gate, and a host on this machine is reached all the same.
	t.Run("closes", func(t *testing.T) {
		for _, url := range []string{"http://api.example.com/", "https://api.example.com/", "http://192.0.2.1/", "http://[2001:db8::1]/"} {
			base := &http.Transport{DisableKeepAlives: true}
			p := gdCalm(50 * time.Millisecond)
			resp, err := roundtripper.New(base, p).RoundTrip(gdGet(t.Context(), url))
			if errors.Is(err, syscall.EAFNOSUPPORT) {
				continue // a kernel without IPv6
			}
			r := outcome(t, resp, err)
			if got := gdCharged(r); r.Stop != roundtripper.ReasonOffline || !slices.Equal(got, []int{1, 2}) || len(r.Attempts) < 4 {
				t.Errorf("%s: stop %q, charged %v of %d: %v", url, r.Stop, got, len(r.Attempts), err)
			}
			for _, a := range r.Attempts {
				if a.Sent || a.Verdict.Reason != roundtripper.ReasonNetwork {
					t.Errorf("%s: %+v: want a network error, and nothing sent", url, a)
				}
			}
			if !p.Offline.Offline() {
				t.Errorf("%s: the gate is open", url)
			}
			here, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: http.NotFoundHandler()}
			go server.Serve(here)
			if r := gdEnd(t, roundtripper.New(base, p), gdGet(t.Context(), "http://"+here.Addr().String())); len(r.Attempts) != 1 {
				t.Errorf("loopback: %+v, want one attempt", r)
			}
			server.Close()
			if !p.Offline.Offline() {
				t.Errorf("%s: an answer from this machine opened the gate", url)
			}
		}
	})

	t.Run("returns", gdReturns)
}

// gdReturns makes calls while there is no link, brings it up, and sees them
// complete.
func gdReturns(t *testing.T) {
	for _, kind := range []string{"veth peer name rebound1", "dummy"} {
		if gdIP(t, "link add rebound0 type "+kind) {
			break
		}
	}
	if _, err := net.InterfaceByName("rebound0"); err != nil {
		t.Skip(gdNoLink)
	}
	gdIP(t, "link set rebound1 up")                    // the other end of rebound0, if it has one
	listener, err := net.Listen("tcp", "0.0.0.0:8080") // no address yet but loopback
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })}
	go server.Serve(listener)
	defer server.Close()

	base := &http.Transport{}
	defer base.CloseIdleConnections()
	p := gdCalm(time.Minute)
	waiting := make(chan struct{}, 1000)
	p.Observe = func(e roundtripper.Event) {
		if e.State == roundtripper.StateOffline {
			waiting <- struct{}{}
		}
	}
	client := &http.Client{Transport: roundtripper.New(base, p)}
	var wg sync.WaitGroup
	reports := make(chan *roundtripper.Report, 4)
	call := func(method string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://192.0.2.1:8080/", strings.NewReader("hello"))
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Errorf("%s: %v", method, err)
			return
		}
		if got := drink(t, resp); got != "hello" {
			t.Errorf("%s: answer %q", method, got)
		}
		reports <- outcome(t, resp, nil)
	}
	wg.Go(func() { call("GET") })
	for range 5 { // it has made three attempts, and probes since
		<-waiting
	}
	for range 3 { // a write without a key waits too: nothing of it has left
		wg.Go(func() { call("POST") })
	}
	for range 5 {
		<-waiting
	}
	if s := p.Breaker.State("http://192.0.2.1:8080"); s != breaker.Closed {
		t.Errorf("the breaker is %v", s)
	}

	if !gdIP(t, "link set rebound0 up") || !gdIP(t, "addr add 192.0.2.1/24 dev rebound0") {
		t.Skip(gdNoLink)
	}
	wg.Wait()
	close(reports)
	charged := 0
	for r := range reports {
		charged += len(gdCharged(r))
		if last := r.Attempts[len(r.Attempts)-1]; !last.Charged || r.Stop != roundtripper.ReasonOK {
			t.Errorf("stop %q: %+v", r.Stop, last)
		}
	}
	if charged != 2+4 || p.Offline.Offline() {
		t.Errorf("%d attempts charged, want two failures and four answers; offline is %v", charged, p.Offline.Offline())
	}
	if got := p.Budget.Tokens("http://192.0.2.1:8080"); got < 3.39 || got > 3.41 {
		t.Errorf("%v tokens, want 5 - 2 + 0.4", got)
	}

	// Nobody has this address: the connection is not made in time, be it the
	// dialler's or the attempt's.
	p = gdCalm(50 * time.Millisecond)
	p.AttemptTimeout = 10 * time.Millisecond
	r := gdEnd(t, roundtripper.New(base, p), gdGet(t.Context(), "http://192.0.2.9:8080/"))
	if got := gdCharged(r); !slices.Equal(got, []int{1, 2}) || !p.Offline.Offline() {
		t.Errorf("silent peer: charged %v, offline is %v, stop %q", got, p.Offline.Offline(), r.Stop)
	}
	// One that answers, but never with a response, is there.
	p.Offline = offline.New(offline.Config{})
	silent, err := net.Listen("tcp", "192.0.2.1:8081")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	r = gdEnd(t, roundtripper.New(base, p), gdGet(t.Context(), "http://192.0.2.1:8081/"))
	if got := gdCharged(r); !slices.Equal(got, []int{1, 2, 3}) || p.Offline.Offline() {
		t.Errorf("peer without an answer: charged %v, offline is %v, stop %q", got, p.Offline.Offline(), r.Stop)
	}
}
