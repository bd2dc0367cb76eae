package fleet

// Claims, and what it takes to remember them.

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// NewClaim is a claim of a delivery that nobody has seen, for a minute; what is done is remembered for an hour.
func NewClaim() webhookmw.Claim {
	return webhookmw.Claim{
		Key: Random(), Event: Random(), Signature: Random(), Fingerprint: Random(),
		Token: rand.Text(), Lease: time.Minute, Retain: time.Hour,
	}
}

// Random is a hash like no other.
func Random() [32]byte { return sha256.Sum256([]byte(rand.Text())) }

// Claimed claims c, and fails the test where that is not granted.
func Claimed(t testing.TB, s webhookmw.Store, c webhookmw.Claim) {
	t.Helper()
	status, err := s.Claim(t.Context(), c)
	if err != nil || status.State != webhookmw.Claimed {
		t.Fatalf("claim: %v, %v", status.State, err)
	}
}

// Repeated tests that a client may repeat what it got no answer to: the same claim again is the same owner's.
func Repeated(t *testing.T, s webhookmw.Store) {
	c := NewClaim()
	Claimed(t, s, c)
	Claimed(t, s, c)
	complete(t, s, c)
	answered(t, s, c, webhookmw.Status{State: webhookmw.Completed, EventSeen: true})
}

// Forever tests that a lease for ever is one like any other.
func Forever(t *testing.T, s webhookmw.Store) {
	c := NewClaim()
	c.Lease, c.Retain = math.MaxInt64, math.MaxInt64
	Claimed(t, s, c)
	twin := c
	twin.Token = rand.Text()
	answered(t, s, twin, webhookmw.Status{State: webhookmw.InFlight})
	complete(t, s, c)
	answered(t, s, twin, webhookmw.Status{State: webhookmw.Completed, EventSeen: true})
}

func complete(t *testing.T, s webhookmw.Store, c webhookmw.Claim) {
	t.Helper()
	if err := s.Complete(t.Context(), c); err != nil {
		t.Fatalf("complete: %v", err)
	}
}

func answered(t *testing.T, s webhookmw.Store, c webhookmw.Claim, want webhookmw.Status) {
	t.Helper()
	if got, err := s.Claim(t.Context(), c); err != nil || got != want {
		t.Fatalf("claim: %+v, %v; want %+v", got, err, want)
	}
}

// Remember measures one delivery after the other, from 8 goroutines a core.
func Remember(b *testing.B, remember func(context.Context, webhookmw.Claim) error) {
	var mu sync.Mutex
	var all []time.Duration
	b.ReportAllocs()
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		var took []time.Duration
		for pb.Next() {
			c := NewClaim()
			start := time.Now()
			if err := remember(context.Background(), c); err != nil {
				b.Error(err)
				return
			}
			took = append(took, time.Since(start))
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, took...)
	})
	if b.Failed() {
		return
	}
	slices.Sort(all)
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "deliveries/s")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-us")
}
