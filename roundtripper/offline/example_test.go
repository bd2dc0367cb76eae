package offline_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

// Attempts that find no path are charged until it is clear that there is no
// network. Then they wait.
func ExampleNew() {
	gate := offline.New(offline.Config{
		OnChange: func(is bool) { fmt.Println("offline:", is) },
	})
	attempt := func() error { return &net.DNSError{Err: "no resolver", IsTemporary: true} }
	for range 4 {
		pass, ok := gate.TryEnter("api.example.com")
		if !ok {
			fmt.Println("it would wait")
			continue
		}
		fmt.Println("charged:", pass.Done(offline.Classify(attempt())))
	}
	// Output:
	// charged: true
	// charged: true
	// offline: true
	// charged: false
	// it would wait
}

// A wait ends with the caller's context.
func ExampleGate_Enter() {
	gate := offline.New(offline.Config{Failures: 1})
	pass, _ := gate.TryEnter("api.example.com")
	pass.Done(offline.NoPath)

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := gate.Enter(ctx, "api.example.com")
	fmt.Println(err)

	// This machine can be reached all the same.
	_, err = gate.Enter(ctx, "localhost")
	fmt.Println(err)
	// Output:
	// context deadline exceeded
	// context deadline exceeded
}

// What remains of MaxWait bounds the later waits of a call that has waited
// before.
func ExampleGate_MaxWait() {
	gate := offline.New(offline.Config{Failures: 1, MaxWait: time.Minute})
	pass, _ := gate.TryEnter("api.example.com")
	pass.Done(offline.NoPath)

	waited := time.Minute // by earlier Enters of this call
	ctx, cancel := context.WithTimeoutCause(context.Background(), gate.MaxWait()-waited, offline.ErrOffline)
	defer cancel()
	_, err := gate.Enter(ctx, "api.example.com")
	fmt.Println(errors.Is(err, offline.ErrOffline))
	// Output: true
}

// The common mistake: to take every failure for a lost network. One dead host
// would then hold up the calls to all others. An answer is an answer, even if
// it is that there is no such name.
func ExampleClassify() {
	for _, err := range []error{
		nil,
		&net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true},
		&net.DNSError{Err: "network is unreachable", Name: "api.example.com", IsTemporary: true},
		&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded},
	} {
		fmt.Println(offline.Classify(err), err)
	}
	// Output:
	// reached <nil>
	// reached lookup api.example.com: no such host
	// no path lookup api.example.com: network is unreachable
	// unknown read tcp: i/o timeout
}
