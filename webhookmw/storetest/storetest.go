// Package storetest checks that a [webhookmw.Store] keeps every promise that its documentation makes, concurrency
// included.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) webhookmw.Store { return mystore.New(...) })
//	}
//
// It needs about three seconds, since leases and memories have to run out before its eyes. A store that keeps time by
// [time.Now] in this process can be tested without waiting, each of the [Cases] in a bubble of testing/synctest:
//
//	for _, c := range storetest.Cases() {
//		t.Run(c.Name, func(t *testing.T) {
//			synctest.Test(t, func(t *testing.T) { c.Run(t, newStore(t)) })
//		})
//	}
package storetest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// Case is one promise.
type Case struct {
	Name string

	// Run checks it on a store that is used for nothing else meanwhile. What the store holds from other cases does no
	// harm: each case claims deliveries of its own.
	Run func(t *testing.T, s webhookmw.Store)
}

// Run checks every promise, each in a subtest with a store from newStore, which may clean up with t.Cleanup and may
// return the same store each time.
func Run(t *testing.T, newStore func(t *testing.T) webhookmw.Store) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, newStore(t)) })
	}
}

// Cases returns the promises.
func Cases() []Case {
	return []Case{
		{"claim", claim},
		{"complete", complete},
		{"release", release},
		{"mismatch", mismatch},
		{"owner", owner},
		{"settled once", settledOnce},
		{"lease", lease},
		{"lease taken over", takenOver},
		{"late owner", lateOwner},
		{"retention", retention},
		{"event seen", eventSeen},
		{"event seen for as long", eventSeenForAsLong},
		{"signature reused", signatureReused},
		{"signature remembered for as long", signatureForAsLong},
		{"one of many claims", oneOfMany},
		{"one of many after the lease", oneOfManyAfterLease},
		{"signature of one of many", signatureOfOne},
		{"event done with its delivery", eventWithDelivery},
		{"many deliveries at once", manyDeliveries},
	}
}

// The times that cases run on. A lease is long enough for a slow store to take a few steps within it.
const (
	leaseTime  = 400 * time.Millisecond
	retainTime = 600 * time.Millisecond
	long       = time.Minute

	slowRounds = 10
)

// delivery is a claim for a delivery that no store has seen, under leases that outlast the test.
func delivery() webhookmw.Claim {
	return webhookmw.Claim{
		Key: random(), Event: random(), Signature: random(), Fingerprint: random(),
		Token: rand.Text(), Lease: long, Retain: long,
	}
}

func random() [32]byte { return sha256.Sum256([]byte(rand.Text())) }

// attempt is another attempt at the same delivery: signed anew, by another owner.
func attempt(c webhookmw.Claim) webhookmw.Claim {
	c.Signature, c.Token = random(), rand.Text()
	return c
}

// short makes the lease and the memory run out within the test.
func short(c webhookmw.Claim) webhookmw.Claim {
	c.Lease, c.Retain = leaseTime, retainTime
	return c
}

// inTime fails the test with the complaint if what remembered sees is gone. Where it took longer than that was to last, on a
// machine with other things to do, nothing is shown, and it is asked again.
func inTime(t *testing.T, lasts time.Duration, complaint string, remembered func() bool) {
	t.Helper()
	for range slowRounds {
		start := time.Now()
		if remembered() {
			return
		}
		if time.Since(start) < lasts {
			t.Fatal(complaint)
		}
	}
	t.Fatalf("%s, or the store takes too long: %d times more than %v", complaint, slowRounds, lasts)
}

// state claims c and returns where the delivery stands.
func state(t *testing.T, s webhookmw.Store, c webhookmw.Claim) webhookmw.State {
	t.Helper()
	got, err := s.Claim(t.Context(), c)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	return got.State
}

// want claims c and fails the test if the answer is another one.
func want(t *testing.T, s webhookmw.Store, c webhookmw.Claim, want webhookmw.State) webhookmw.Status {
	t.Helper()
	got, err := s.Claim(t.Context(), c)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	if got.State != want {
		t.Fatalf("Claim: %v, want %v", got.State, want)
	}
	return got
}

type step func(context.Context, webhookmw.Claim) error

// must takes a step that must succeed.
func must(t *testing.T, step step, c webhookmw.Claim) {
	t.Helper()
	if err := step(t.Context(), c); err != nil {
		t.Fatalf("settling the owner's own claim: %v", err)
	}
}

// mustNot takes a step that is not the caller's to take.
func mustNot(t *testing.T, step step, c webhookmw.Claim) {
	t.Helper()
	if err := step(t.Context(), c); !errors.Is(err, webhookmw.ErrNotOwner) {
		t.Fatalf("settling a claim that is not the caller's: error %v, want ErrNotOwner", err)
	}
}
