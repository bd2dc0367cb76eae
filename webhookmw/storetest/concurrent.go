package storetest

// The promises about many owners at once: each step is atomic.

import (
	"sync"
	"testing"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

const (
	owners      = 50
	eventRounds = 200 // a store that is not atomic in this is so for an instant
)

// race claims with each of the claims at once, and returns the answers in the same order.
func race(t *testing.T, s webhookmw.Store, claims []webhookmw.Claim) []webhookmw.Status {
	t.Helper()
	answers := make([]webhookmw.Status, len(claims))
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range claims {
		wg.Go(func() {
			<-begin
			var err error
			if answers[i], err = s.Claim(t.Context(), claims[i]); err != nil {
				t.Errorf("Claim: %v", err)
			}
		})
	}
	close(begin)
	wg.Wait()
	if t.Failed() { // A claim that failed has no answer, and must not be counted as one.
		t.FailNow()
	}
	return answers
}

// winner returns the only claim that was granted.
func winner(t *testing.T, claims []webhookmw.Claim, answers []webhookmw.Status, rest webhookmw.State) (won webhookmw.Claim) {
	t.Helper()
	n := 0
	for i, answer := range answers {
		switch answer.State {
		case webhookmw.Claimed:
			won = claims[i]
			n++
		case rest:
		default:
			t.Fatalf("Claim: %v, want %v or %v", answer.State, webhookmw.Claimed, rest)
		}
	}
	if n != 1 {
		t.Fatalf("%d of %d claims at once were granted, want 1", n, len(claims))
	}
	return won
}

func attempts(c webhookmw.Claim) (claims []webhookmw.Claim) {
	for range owners {
		claims = append(claims, attempt(c))
	}
	return claims
}

func oneOfMany(t *testing.T, s webhookmw.Store) {
	c := delivery()
	claims := attempts(c)
	won := winner(t, claims, race(t, s, claims), webhookmw.InFlight)
	must(t, s.Release, won)
	claims = attempts(c)
	won = winner(t, claims, race(t, s, claims), webhookmw.InFlight)
	must(t, s.Complete, won)
	for _, answer := range race(t, s, attempts(c)) {
		if answer.State != webhookmw.Completed {
			t.Fatalf("Claim of what is done: %v", answer.State)
		}
	}
}

func oneOfManyAfterLease(t *testing.T, s webhookmw.Store) {
	c := short(delivery())
	c.Retain = long
	want(t, s, c, webhookmw.Claimed)
	time.Sleep(leaseTime + leaseTime/4)
	claims := attempts(c)
	for i := range claims {
		claims[i].Lease = long
	}
	must(t, s.Complete, winner(t, claims, race(t, s, claims), webhookmw.InFlight))
	mustNot(t, s.Complete, c)
}

// One signature under many delivery IDs at once: it came first with one of them.
func signatureOfOne(t *testing.T, s webhookmw.Store) {
	c := delivery()
	claims := attempts(c)
	for i := range claims {
		claims[i].Key, claims[i].Signature = random(), c.Signature
	}
	first := 0
	for _, answer := range race(t, s, claims) {
		if !answer.SignatureReused {
			first++
		}
	}
	if first != 1 {
		t.Fatalf("a signature came first with %d of %d deliveries, want 1", first, len(claims))
	}
}

// Once anybody has been told that a delivery is done, everybody is told that its event is.
func eventWithDelivery(t *testing.T, s webhookmw.Store) {
	for range eventRounds {
		c := delivery()
		want(t, s, c, webhookmw.Claimed)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for {
					got, err := s.Claim(t.Context(), attempt(c))
					if err != nil {
						t.Errorf("Claim: %v", err)
						return
					}
					if got.State == webhookmw.Completed {
						break
					}
					if t.Failed() { // It will never be done.
						return
					}
				}
				another := attempt(c)
				another.Key = random()
				got, err := s.Claim(t.Context(), another)
				if err != nil || !got.EventSeen {
					t.Errorf("Claim of another delivery, once one of the event is done: %+v, %v", got, err)
				}
			})
		}
		if err := s.Complete(t.Context(), c); err != nil {
			t.Errorf("settling the owner's own claim: %v", err) // Not Fatal: the others are at work.
		}
		wg.Wait()
		if t.Failed() {
			return
		}
	}
}

// Deliveries that have nothing to do with each other, each from its claim to its end, at once.
func manyDeliveries(t *testing.T, s webhookmw.Store) {
	var wg sync.WaitGroup
	for range owners {
		wg.Go(func() {
			for range 4 {
				c := delivery()
				for _, step := range []step{s.Release, s.Complete} {
					c = attempt(c)
					if got, err := s.Claim(t.Context(), c); err != nil || got.State != webhookmw.Claimed {
						t.Errorf("Claim: %v, %v", got.State, err)
						return
					}
					if err := step(t.Context(), c); err != nil {
						t.Errorf("settling: %v", err)
						return
					}
				}
				if got, err := s.Claim(t.Context(), attempt(c)); err != nil || got.State != webhookmw.Completed {
					t.Errorf("Claim: %v, %v", got.State, err)
				}
			}
		})
	}
	wg.Wait()
}
