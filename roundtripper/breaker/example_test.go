package breaker_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

// send stands for an attempt. This service is down.
func send() error { return errors.New("connection refused") }

func ExampleNew() {
	b := breaker.New(breaker.Config{Consecutive: 3})
	for range 5 {
		permit, err := b.Allow()
		if err != nil {
			refusal, _ := errors.AsType[*breaker.OpenError](err)
			fmt.Println("refused:", refusal.Cause, refusal.RetryIn >= 29*time.Second)
			continue
		}
		err = send()
		permit.Done(breaker.Failure, err)
		fmt.Println("sent:", err)
	}
	// Output:
	// sent: connection refused
	// sent: connection refused
	// sent: connection refused
	// refused: connection refused true
	// refused: connection refused true
}

func ExamplePerHost() {
	g := breaker.PerHost(breaker.Config{
		Consecutive: 1,
		OnChange: func(c breaker.Change) {
			fmt.Printf("%s: %v to %v: %v\n", c.Key, c.From, c.To, c.Cause)
		},
	})
	for _, host := range []string{"a.example", "b.example"} {
		permit, err := g.Allow(host)
		if err != nil {
			continue
		}
		if host == "a.example" {
			permit.Done(breaker.Failure, errors.New("status 503"))
		} else {
			permit.Done(breaker.Success, nil)
		}
	}
	for _, s := range g.Snapshot() {
		fmt.Println(s.Key, s.State)
	}
	// Output:
	// a.example: closed to open: status 503
	// a.example open
	// b.example closed
}

// The common mistake: a caller that gives up is reported as a failure of the
// service, so that impatient callers close it for all.
func ExamplePermit_Done() {
	b := breaker.New(breaker.Config{})
	for range 20 {
		permit, err := b.Allow()
		if err != nil {
			break
		}
		callerGaveUp := true
		if callerGaveUp {
			permit.Done(breaker.Neutral, nil)
		}
	}
	fmt.Println(b.State())
	// Output: closed
}

// A deferred Done sees to calls that panic. Once there was another, it does
// nothing.
func ExamplePermit_Done_deferred() {
	b := breaker.New(breaker.Config{Consecutive: 1})
	call := func() {
		permit, err := b.Allow()
		if err != nil {
			return
		}
		defer permit.Done(breaker.Neutral, nil)
		permit.Done(breaker.Failure, send())
	}
	call()
	fmt.Println(b.State())
	// Output: open
}
