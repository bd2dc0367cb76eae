package roundtripper_test

// Examples: the objects that many clients share, so as to know when to stop.

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
)

// One breaker and one budget for a process. What one client has learnt about a
// host that is down spares the other the same.
func Example_sharedGuards() {
	hosts := breaker.PerHost(breaker.Config{})
	retries := budget.New(budget.Config{})
	down := answers(503)
	newClient := func(p roundtripper.Policy) *http.Client {
		p.Breaker, p.Budget = hosts, retries
		return &http.Client{Transport: roundtripper.New(down, p)}
	}
	reads, writes := newClient(now()), newClient(now())

	for _, client := range []*http.Client{reads, reads, writes} {
		resp, err := client.Get("http://api.example.com/")
		if open, ok := errors.AsType[*breaker.OpenError](err); ok {
			fmt.Println("refused without a request:", open.Key)
			continue
		}
		report, _ := roundtripper.ReportFrom(resp)
		fmt.Println(resp.StatusCode, "attempts:", len(report.Attempts), report.Stop)
		resp.Body.Close()
	}
	fmt.Println("tokens left:", retries.Tokens(""))
	// Output:
	// 503 attempts: 4 retries-spent
	// 503 attempts: 1 breaker-open
	// refused without a request: http://api.example.com:80
	// tokens left: 7
}

// system is the opinion that an operating system may have about the network.
type system struct {
	up      atomic.Bool
	changed chan struct{}
}

func (s *system) Online() (up, known bool) { return s.up.Load(), true }
func (s *system) Changed() <-chan struct{} { return s.changed }

// While there is no network a call waits, and has failed at nothing.
func Example_offline() {
	hint := &system{changed: make(chan struct{})}
	p := now()
	p.Offline = offline.New(offline.Config{Hint: hint}) // one for the machine
	p.Observe = func(e roundtripper.Event) {
		fmt.Println(e.State)
		if e.State == roundtripper.StateOffline {
			hint.up.Store(true) // the train leaves the tunnel
			close(hint.changed)
		}
	}
	client := &http.Client{Transport: roundtripper.New(answers(200), p)}
	resp, err := client.Get("http://api.example.com/")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	report, _ := roundtripper.ReportFrom(resp)
	fmt.Println(resp.StatusCode, "attempts:", len(report.Attempts))
	// Output:
	// offline
	// sending
	// done
	// 200 attempts: 1
}
