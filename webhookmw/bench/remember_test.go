package bench_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
	"github.com/maypok86/otter/v2"
	"github.com/patrickmn/go-cache"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

const (
	million  = 1_000_000
	retained = 24 * time.Hour
	lease    = 30 * time.Second
)

// remembered is something that remembers deliveries. claim takes the nth delivery if nobody has it, and complete says that
// it is done; both may be called by many goroutines at once. end, if there is one, lets go of everything, which goroutines
// of a library's own would keep alive into the next measurement.
type remembered struct {
	claim    func(n uint64) bool
	complete func(n uint64)
	end      func()
}

func (m remembered) close() {
	if m.end != nil {
		m.end()
	}
}

// rememberers are what receivers use. Only Memory knows more than one thing of a delivery: whether its event was done
// under another delivery, whether its signature came before, who its owner is. The ones that have no step for "take it if
// it is not there" get a lock around the two that they have.
var rememberers = []struct {
	name string
	make func() remembered
}{
	{"map-of-pairs", func() remembered {
		var mu sync.Mutex
		seen := map[pair]time.Time{}
		return remembered{
			claim: func(n uint64) bool {
				key := pairOf(n)
				mu.Lock()
				defer mu.Unlock()
				now := time.Now()
				if until, ok := seen[key]; ok && now.Before(until) {
					return false
				}
				seen[key] = now.Add(lease)
				return true
			},
			complete: func(n uint64) {
				key := pairOf(n)
				mu.Lock()
				defer mu.Unlock()
				seen[key] = time.Now().Add(retained)
			},
		}
	}},
	{"map-of-hashes", func() remembered {
		type shard struct {
			mu   sync.Mutex
			seen map[[16]byte]int64
			_    [48]byte // one cache line each
		}
		shards := make([]shard, 64)
		for i := range shards {
			shards[i].seen = map[[16]byte]int64{}
		}
		return remembered{
			claim: func(n uint64) bool {
				key := claimOf(n).Key
				s := &shards[key[31]%64]
				s.mu.Lock()
				defer s.mu.Unlock()
				now := time.Now().UnixNano()
				if until, ok := s.seen[[16]byte(key[:])]; ok && now < until {
					return false
				}
				s.seen[[16]byte(key[:])] = now + int64(lease)
				return true
			},
			complete: func(n uint64) {
				key := claimOf(n).Key
				s := &shards[key[31]%64]
				s.mu.Lock()
				defer s.mu.Unlock()
				s.seen[[16]byte(key[:])] = time.Now().UnixNano() + int64(retained)
			},
		}
	}},
	{"golang-lru", func() remembered {
		var mu sync.Mutex
		seen := expirable.NewLRU[pair, bool](0, nil, 0) // With a TTL it would start a goroutine that nothing can end.
		return remembered{
			claim: func(n uint64) bool {
				key := pairOf(n)
				mu.Lock()
				defer mu.Unlock()
				if seen.Contains(key) {
					return false
				}
				seen.Add(key, false)
				return true
			},
			complete: func(n uint64) { seen.Add(pairOf(n), true) },
		}
	}},
	{"otter", func() remembered {
		seen := otter.Must(&otter.Options[pair, bool]{
			MaximumSize:      1 << 28,
			ExpiryCalculator: otter.ExpiryWriting[pair, bool](retained),
		})
		return remembered{
			claim:    func(n uint64) bool { _, ok := seen.SetIfAbsent(pairOf(n), false); return ok },
			complete: func(n uint64) { seen.Set(pairOf(n), true) },
			end:      func() { seen.InvalidateAll(); seen.StopAllGoroutines() },
		}
	}},
	{"go-cache", func() remembered {
		seen := cache.New(retained, time.Hour)
		return remembered{
			claim:    func(n uint64) bool { return seen.Add(textOf(n), false, lease) == nil },
			complete: func(n uint64) { seen.Set(textOf(n), true, retained) },
			end:      seen.Flush,
		}
	}},
	{"rebound-memory", func() remembered {
		m := webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 1 << 28})
		return remembered{
			claim: func(n uint64) bool {
				status, err := m.Claim(context.Background(), claimOf(n))
				return err == nil && status.State == webhookmw.Claimed
			},
			complete: func(n uint64) {
				if err := m.Complete(context.Background(), claimOf(n)); err != nil {
					panic(err)
				}
			},
		}
	}},
}

// pair is a delivery's ID and its event's, which is what a receiver has in hand.
type pair struct{ delivery, event string }

func pairOf(n uint64) pair {
	text := textOf(n)
	return pair{text[:20], text[20:]}
}

// textOf is both in one.
func textOf(n uint64) string {
	var digits [8]byte
	binary.BigEndian.PutUint64(digits[:], mix(n))
	text := make([]byte, 0, 40)
	text = hex.AppendEncode(append(text, "dlv_"...), digits[:])
	return string(hex.AppendEncode(append(text, "evt_"...), digits[:]))
}

// claimOf is what a Store would be told of it. To hash the IDs is the Verifier's part, and measured there.
func claimOf(n uint64) webhookmw.Claim {
	c := webhookmw.Claim{Token: "owner", Lease: lease, Retain: retained}
	for i, hash := range []*[32]byte{&c.Key, &c.Event, &c.Signature, &c.Fingerprint} {
		for word := 0; word < len(hash); word += 8 {
			n = mix(n + uint64(i))
			binary.BigEndian.PutUint64(hash[word:], n)
		}
	}
	return c
}

// mix spreads the bits of n, so that what follows one another lies nowhere near one another. It is the finalizer of
// SplitMix64.
func mix(n uint64) uint64 {
	n += 0x9E3779B97F4A7C15
	n = (n ^ n>>30) * 0xBF58476D1CE4E5B9
	n = (n ^ n>>27) * 0x94D049BB133111EB
	return n ^ n>>31
}

// BenchmarkRemember notes deliveries that are new, from all cores at once. Run it with -benchtime 1000000x, so that a
// million are live at its end.
func BenchmarkRemember(b *testing.B) {
	for _, i := range rand.Perm(len(rememberers)) {
		r := rememberers[i]
		b.Run("do=insert/impl="+r.name, func(b *testing.B) {
			benchRemember(b, r.make(), func(m remembered, n uint64) { m.claim(n) })
		})
		b.Run("do=claim+complete/impl="+r.name, func(b *testing.B) {
			benchRemember(b, r.make(), func(m remembered, n uint64) { m.claim(n); m.complete(n) })
		})
	}
}

func benchRemember(b *testing.B, m remembered, take func(m remembered, n uint64)) {
	defer m.close()
	var n atomic.Uint64
	runtime.GC()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			take(m, n.Add(1))
		}
	})
}

// BenchmarkHold is a collection of the whole heap with a million deliveries in it and nothing else: how long it takes
// (GC-ms, the median), and how many bytes each of them does (B/entry).
func BenchmarkHold(b *testing.B) {
	for _, i := range rand.Perm(len(rememberers)) {
		r := rememberers[i]
		b.Run("live=1000000/impl="+r.name, func(b *testing.B) {
			before := heap()
			m := r.make()
			defer m.close()
			for n := range uint64(million) {
				m.claim(n)
				m.complete(n)
			}
			perEntry := float64(heap()-before) / million
			var collections []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				runtime.GC()
				collections = append(collections, time.Since(start))
			}
			slices.Sort(collections)
			b.ReportMetric(perEntry, "B/entry")
			b.ReportMetric(float64(collections[len(collections)/2])/float64(time.Millisecond), "GC-ms")
			runtime.KeepAlive(m.claim)
		})
	}
}

// heap is what is alive.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // the first may leave to the second what pools hold
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// Whoever is benched takes a delivery once, and another one all the same, also when many come at once.
func TestRememberers(t *testing.T) {
	for _, r := range rememberers {
		t.Run(r.name, func(t *testing.T) {
			m := r.make()
			defer m.close()
			require.True(t, m.claim(1))
			require.False(t, m.claim(1))
			m.complete(1)
			require.False(t, m.claim(1))
			require.True(t, m.claim(2))

			var wg sync.WaitGroup
			var taken atomic.Int64
			for range 8 {
				wg.Go(func() {
					for n := range uint64(1000) {
						if m.claim(100 + n) {
							taken.Add(1)
							m.complete(100 + n)
						}
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, 1000, taken.Load())
		})
	}
}
