package webhookmw_test

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/storetest"
)

func TestMemoryKeepsThePromises(t *testing.T) {
	for _, c := range storetest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.Run(t, webhookmw.NewMemory(webhookmw.MemoryConfig{}))
			})
		})
	}
}

// The instant in which a step would show that it is two is short, so that it takes many rounds to hit it.
func TestMemoryStepsAreAtomic(t *testing.T) {
	for _, c := range storetest.Cases() {
		for range 15 {
			if c.Name == "event done with its delivery" {
				c.Run(t, webhookmw.NewMemory(webhookmw.MemoryConfig{}))
			}
		}
	}
}

func TestStateNames(t *testing.T) {
	for state, want := range map[webhookmw.State]string{
		webhookmw.Claimed: "claimed", webhookmw.InFlight: "in flight", webhookmw.Completed: "completed",
		webhookmw.Mismatch: "mismatch", -1: "unknown state", 4: "unknown state",
	} {
		require.Equal(t, want, state.String())
	}
}

// claimOf is the claim of the nth delivery, with everything its own.
func claimOf(n uint64) webhookmw.Claim {
	c := webhookmw.Claim{Token: "owner", Lease: 30 * time.Second, Retain: 24 * time.Hour}
	for i, hash := range []*[32]byte{&c.Key, &c.Event, &c.Signature, &c.Fingerprint} {
		binary.BigEndian.PutUint64(hash[:], n)
		hash[31] = byte(i)
	}
	return c
}

func take(t *testing.T, m *webhookmw.Memory, c webhookmw.Claim) {
	t.Helper()
	status, err := m.Claim(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, webhookmw.Claimed, status.State)
}

func finish(t *testing.T, m *webhookmw.Memory, c webhookmw.Claim) {
	t.Helper()
	take(t, m, c)
	require.NoError(t, m.Complete(t.Context(), c))
}

func full(t *testing.T, m *webhookmw.Memory, c webhookmw.Claim) {
	t.Helper()
	_, err := m.Claim(t.Context(), c)
	require.ErrorIs(t, err, webhookmw.ErrFull)
}

func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 10})
		for n := range uint64(5) {
			finish(t, m, claimOf(n))
			take(t, m, claimOf(5+n))
		}
		full(t, m, claimOf(10))
		for n := range uint64(10) { // nothing that is there was forgotten for it
			status, err := m.Claim(t.Context(), claimOf(n))
			require.NoError(t, err)
			require.Equal(t, []webhookmw.State{webhookmw.Completed, webhookmw.InFlight}[n/5], status.State)
		}
		require.NoError(t, m.Release(t.Context(), claimOf(5)))
		take(t, m, claimOf(10))
		full(t, m, claimOf(11))

		time.Sleep(30*time.Second - 1) // the leases of five
		full(t, m, claimOf(11))
		time.Sleep(time.Nanosecond)
		for n := range uint64(5) {
			finish(t, m, claimOf(11+n))
		}
		full(t, m, claimOf(20))

		time.Sleep(24*time.Hour - 30*time.Second - time.Millisecond) // the memory of the first five
		full(t, m, claimOf(20))
		time.Sleep(time.Millisecond)
		for n := range uint64(5) {
			finish(t, m, claimOf(20+n))
		}
		full(t, m, claimOf(30))
	})
}

// Signatures are bounded as well: a delivery that fails again and again brings a new one each time. They take no room from
// deliveries, and the oldest go first.
func TestMemoryBoundsSignatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 1000
		m := webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: limit})
		attempt := func(n uint64) webhookmw.Claim {
			c := claimOf(1)
			binary.BigEndian.PutUint64(c.Signature[:], n)
			return c
		}
		for n := range uint64(10 * limit) {
			take(t, m, attempt(n))
			require.NoError(t, m.Release(t.Context(), attempt(n)))
			time.Sleep(time.Second)
		}
		known := func(n uint64) bool {
			c := attempt(n)
			c.Key[9] = 1
			status, err := m.Claim(t.Context(), c)
			require.NoError(t, err)
			require.NoError(t, m.Release(t.Context(), c))
			return status.SignatureReused
		}
		for n := uint64(8 * limit); n < 10*limit; n++ {
			require.True(t, known(n), n)
		}
		for n := range uint64(2 * limit) {
			require.False(t, known(n), n)
		}
		for n := range uint64(limit) {
			take(t, m, claimOf(n))
		}
		full(t, m, claimOf(limit))
	})
}

// One entry and four signatures: most shards have none to let go of.
func TestMemoryWithoutRoomForASignature(t *testing.T) {
	m := webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 1})
	for n := range uint64(100) {
		take(t, m, claimOf(n))
		require.NoError(t, m.Release(t.Context(), claimOf(n)))
	}
	finish(t, m, claimOf(100))
	full(t, m, claimOf(101))
}

// A claim that was refused leaves nothing behind, its signature included.
func TestMemoryForgetsWhatItRefused(t *testing.T) {
	m := webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 1})
	take(t, m, claimOf(1))
	refused := claimOf(2)
	full(t, m, refused)
	require.NoError(t, m.Release(t.Context(), claimOf(1)))
	other := refused
	other.Key[9] = 1
	status, err := m.Claim(t.Context(), other)
	require.NoError(t, err)
	require.Equal(t, webhookmw.Status{State: webhookmw.Claimed}, status)
}

// Durations that nobody means: as good as for ever, and over at once.
func TestMemoryWithExtremeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := webhookmw.NewMemory(webhookmw.MemoryConfig{})
		time.Sleep(time.Hour)
		c := claimOf(1)
		c.Lease, c.Retain = math.MaxInt64, math.MaxInt64
		take(t, m, c)
		status, err := m.Claim(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, webhookmw.InFlight, status.State)
		require.NoError(t, m.Complete(t.Context(), c))
		time.Sleep(30 * 365 * 24 * time.Hour)
		status, err = m.Claim(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, webhookmw.Completed, status.State)

		c = claimOf(2)
		c.Lease, c.Retain = 0, 0
		take(t, m, c)
		take(t, m, c)
	})
}

// An expiry is kept in milliseconds, and nothing goes before its time for that.
func TestMemoryKeepsPartsOfAMillisecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := webhookmw.NewMemory(webhookmw.MemoryConfig{})
		c := claimOf(1)
		c.Retain = 1500 * time.Microsecond
		finish(t, m, c)
		time.Sleep(1499 * time.Microsecond)
		status, err := m.Claim(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, webhookmw.Completed, status.State)
	})
}

// What has expired makes room by itself as new deliveries come, long before the limit.
func TestMemoryReclaimsAsItGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := webhookmw.NewMemory(webhookmw.MemoryConfig{})
		heap := func() uint64 {
			var stats runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&stats)
			return stats.HeapAlloc
		}
		n := uint64(0)
		round := func() {
			for range 3_000 {
				c := claimOf(n)
				c.Retain = time.Minute
				m.Claim(t.Context(), c)
				m.Complete(t.Context(), c)
				n++
			}
			time.Sleep(2 * time.Minute)
		}
		round()
		before := heap()
		for range 10 {
			round()
		}
		require.Less(t, heap(), before+1<<20)
		runtime.KeepAlive(m)
	})
}

// model is a Store as one would write it to be plainly right.
type model struct {
	deliveries map[[32]byte]*modelDelivery
	events     map[[32]byte]time.Time
	signatures map[[32]byte]modelSignature
}

type modelDelivery struct {
	claim        webhookmw.Claim
	done         bool
	lease, until time.Time // until: when it is forgotten, finished or not
}

type modelSignature struct {
	key   [32]byte
	until time.Time
}

func (m *model) Claim(_ context.Context, c webhookmw.Claim) (status webhookmw.Status, err error) {
	now := time.Now()
	signature, ok := m.signatures[c.Signature]
	if !ok || !now.Before(signature.until) {
		signature.key = c.Key
	}
	if end := now.Add(c.Retain); end.After(signature.until) {
		signature.until = end
	}
	m.signatures[c.Signature] = signature
	status.SignatureReused = signature.key != c.Key
	status.EventSeen = now.Before(m.events[c.Event])
	d := m.deliveries[c.Key]
	switch {
	case d == nil, d.done && !now.Before(d.until), !d.done && !now.Before(d.lease):
		next := &modelDelivery{claim: c, lease: now.Add(c.Lease), until: now.Add(max(c.Lease, c.Retain))}
		if d != nil && !d.done && d.until.After(next.until) {
			next.until = d.until
		}
		m.deliveries[c.Key] = next
		status.State = webhookmw.Claimed
	case d.claim.Fingerprint != c.Fingerprint:
		status.State = webhookmw.Mismatch
	case d.done:
		status.State, status.EventSeen = webhookmw.Completed, true
	default:
		status.State = webhookmw.InFlight
	}
	return status, nil
}

func (m *model) Complete(_ context.Context, c webhookmw.Claim) error {
	d := m.deliveries[c.Key]
	if d == nil || d.done || d.claim.Token != c.Token || !time.Now().Before(d.until) {
		return webhookmw.ErrNotOwner
	}
	d.done, d.until = true, time.Now().Add(c.Retain)
	if d.until.After(m.events[c.Event]) {
		m.events[c.Event] = d.until
	}
	return nil
}

func (m *model) Release(_ context.Context, c webhookmw.Claim) error {
	d := m.deliveries[c.Key]
	if d == nil || d.done || d.claim.Token != c.Token || !time.Now().Before(d.until) {
		return webhookmw.ErrNotOwner
	}
	delete(m.deliveries, c.Key)
	return nil
}

// Any history of steps on a few deliveries, with times that run out on the way: the answers are the model's.
func TestMemoryAgreesWithTheModel(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			m := webhookmw.NewMemory(webhookmw.MemoryConfig{})
			reference := &model{map[[32]byte]*modelDelivery{}, map[[32]byte]time.Time{}, map[[32]byte]modelSignature{}}
			var held []webhookmw.Claim
			for i := range 3000 {
				var c webhookmw.Claim
				c.Event[5] = byte(rng.IntN(8))
				c.Key = c.Event
				c.Key[9] = byte(rng.IntN(3))
				c.Fingerprint[31] = byte(rng.IntN(8) / 7)
				c.Signature[0] = byte(rng.IntN(40))
				c.Token = string(rune('a' + i))
				c.Lease = time.Duration(1+rng.IntN(50)) * time.Second
				c.Retain = 50*time.Second + time.Duration(rng.IntN(3))*time.Minute
				if len(held) > 0 && rng.IntN(2) == 0 {
					c = held[rng.IntN(len(held))]
				}
				switch rng.IntN(4) {
				case 0:
					require.Equal(t, reference.Complete(t.Context(), c), m.Complete(t.Context(), c), "seed %d, step %d", seed, i)
				case 1:
					require.Equal(t, reference.Release(t.Context(), c), m.Release(t.Context(), c), "seed %d, step %d", seed, i)
				default:
					want, _ := reference.Claim(t.Context(), c)
					got, err := m.Claim(t.Context(), c)
					require.NoError(t, err)
					require.Equal(t, want, got, "seed %d, step %d", seed, i)
					if want.State == webhookmw.Claimed {
						held = append(held, c)
					}
				}
				time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
			}
		})
	}
}

func TestMemoryUnderManyGoroutines(t *testing.T) {
	m := webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 4000})
	var wg sync.WaitGroup
	for g := range uint64(8) {
		wg.Go(func() {
			for n := range uint64(500) {
				c := claimOf(g<<32 | n)
				if status, err := m.Claim(t.Context(), c); err != nil || status.State != webhookmw.Claimed {
					t.Errorf("%v, %v", status.State, err)
				}
				if err := m.Complete(t.Context(), c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	full(t, m, claimOf(1<<40))
}
