// Package fleet tests what stores are for: three receiver processes on one store, a sender that fires every delivery
// twice at different receivers at once, and receivers that are killed and come back throughout. It is for the tests of
// the packages beside it.
package fleet

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

const (
	receivers   = 3
	lease       = 2 * time.Second // what a receiver that was killed holds up its delivery for
	addressVar  = "REBOUND_FLEET_ADDRESS"
	countVar    = "REBOUND_DELIVERIES"
	fewCount    = 1000
	senderCount = 16
)

// Deliveries is how many deliveries a run makes: REBOUND_DELIVERIES, or 1,000.
func Deliveries(t testing.TB) int {
	text := os.Getenv(countVar)
	if text == "" {
		return fewCount
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		t.Fatalf("%s: %q is no count", countVar, text)
	}
	return n
}

// Serve makes this process a receiver, if it was started as one, and then never returns. Call it first in TestMain.
func Serve(receiver func() (webhookmw.Store, http.Handler)) {
	addr := os.Getenv(addressVar)
	if addr == "" {
		return
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // The test is gone.
	}()
	store, next := receiver()
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Store: store, Lease: lease})
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	panic(http.Serve(l, v.Handler(next)))
}

// process is one receiver, again and again.
type process struct {
	addr string
	env  []string
	cmd  *exec.Cmd
}

func (p *process) start() error {
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(append(os.Environ(), p.env...), addressVar+"="+p.addr)
	p.cmd.Stderr = os.Stderr
	if _, err := p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	return err
}

// kill is SIGKILL.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// Counts is what became of a run.
type Counts struct {
	Deliveries, Attempts, Taken, Duplicates int
	Conflicts, Unavailable, Failed          int // answers 409, 503 and other than 2xx
	Broken                                  int // attempts without an answer
	Kills                                   int
	Elapsed                                 time.Duration
}

func (c *Counts) String() string {
	return fmt.Sprintf("%d deliveries in %v, fired twice: %d attempts, %d taken, %d duplicates, %d answered 409, %d 503, %d otherwise, %d without an answer; %d receivers killed",
		c.Deliveries, c.Elapsed.Round(time.Millisecond), c.Attempts, c.Taken, c.Duplicates, c.Conflicts, c.Unavailable, c.Failed, c.Broken, c.Kills)
}

// run is a fleet at work.
type run struct {
	processes [receivers]*process
	client    http.Client

	mu     sync.Mutex
	counts Counts
}

// Run makes n deliveries, the events of which are [EventID] of 0 to n-1, each to two of three receivers at once, and
// repeats each until it is acknowledged by both. env is added to the environment of the receivers.
func Run(t *testing.T, n int, env ...string) *Counts {
	t.Helper()
	r := &run{client: http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 2 * senderCount},
	}}
	defer r.client.CloseIdleConnections()
	for i := range r.processes {
		r.processes[i] = &process{addr: FreeAddress(t), env: env}
		if err := r.processes[i].start(); err != nil {
			t.Fatalf("starting a receiver: %v", err)
		}
		defer r.processes[i].kill()
	}
	start := time.Now()
	done := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		if err := r.killThroughout(done); err != nil {
			t.Errorf("restarting a receiver: %v", err)
		}
	})
	r.send(n)
	close(done)
	killer.Wait()
	r.counts.Deliveries, r.counts.Elapsed = n, time.Since(start)
	return &r.counts
}

// send fires the deliveries, some of them at a time.
func (r *run) send(n int) {
	next := make(chan int)
	var senders sync.WaitGroup
	for range senderCount {
		senders.Go(func() {
			for i := range next {
				first := rand.IntN(receivers)
				var twins sync.WaitGroup
				twins.Go(func() { r.deliver(i, first) })
				twins.Go(func() { r.deliver(i, first+1+rand.IntN(receivers-1)) })
				twins.Wait()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	senders.Wait()
}

// deliver makes attempts, each at another receiver, until one is acknowledged.
func (r *run) deliver(i, receiver int) {
	for ; ; receiver++ {
		resp, err := r.client.Do(Request("http://"+r.processes[receiver%receivers].addr, i))
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if r.note(resp, err) {
			return
		}
		time.Sleep(20*time.Millisecond + rand.N(80*time.Millisecond))
	}
}

// note counts an attempt, and reports whether it was acknowledged.
func (r *run) note(resp *http.Response, err error) (acknowledged bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Attempts++
	switch {
	case err != nil:
		r.counts.Broken++
	case resp.StatusCode == http.StatusConflict:
		r.counts.Conflicts++
	case resp.StatusCode == http.StatusServiceUnavailable:
		r.counts.Unavailable++
	case resp.StatusCode/100 != 2:
		r.counts.Failed++
	case resp.Header.Get("Webhook-Duplicate") != "":
		r.counts.Duplicates++
		return true
	default:
		r.counts.Taken++
		return true
	}
	return false
}

// killThroughout kills one receiver after the other until done.
func (r *run) killThroughout(done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		case <-time.After(100*time.Millisecond + rand.N(300*time.Millisecond)):
		}
		p := r.processes[rand.IntN(receivers)]
		p.kill()
		r.counts.Kills++
		if err := p.start(); err != nil {
			return err
		}
	}
}

// FreeAddress is an address on loopback for a server that goes and comes back. Its port is below those that systems give
// to outgoing connections, one of which would otherwise be in the way sooner or later.
func FreeAddress(t testing.TB) string {
	t.Helper()
	var failed error
	for range 100 {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(10_000+rand.IntN(20_000))))
		if err == nil {
			l.Close()
			return l.Addr().String()
		}
		failed = err
	}
	t.Fatal(failed)
	return ""
}
