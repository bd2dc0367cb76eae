package bench_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// rememberer takes note of the nth delivery.
type rememberer struct {
	name     string
	remember func() (remember func(n uint64))
}

var rememberers = []rememberer{
	{"map-of-pairs", func() func(uint64) {
		var mu sync.Mutex
		seen := map[[2]string]time.Time{}
		return func(n uint64) {
			key := [2]string{fmt.Sprintf("dlv_%016x", n), fmt.Sprintf("evt_%016x", n)}
			mu.Lock()
			seen[key] = time.Now()
			mu.Unlock()
		}
	}},
	{"map-of-hashes", func() func(uint64) {
		type shard struct {
			mu   sync.Mutex
			seen map[[16]byte]int64
			_    [48]byte
		}
		shards := make([]shard, 64)
		for i := range shards {
			shards[i].seen = map[[16]byte]int64{}
		}
		return func(n uint64) {
			c := claimOf(n)
			s := &shards[n%64]
			s.mu.Lock()
			s.seen[[16]byte(c.Key[:])] = time.Now().UnixNano()
			s.mu.Unlock()
		}
	}},
	{"rebound-claim", func() func(uint64) {
		m := webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 1 << 28})
		return func(n uint64) { m.Claim(context.Background(), claimOf(n)) }
	}},
	{"rebound-claim+complete", func() func(uint64) {
		m := webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 1 << 28})
		return func(n uint64) {
			m.Claim(context.Background(), claimOf(n))
			m.Complete(context.Background(), claimOf(n))
		}
	}},
}

func claimOf(n uint64) webhookmw.Claim {
	c := webhookmw.Claim{Token: "owner", Lease: 30 * time.Second, Retain: 24 * time.Hour}
	for i, hash := range []*[32]byte{&c.Key, &c.Event, &c.Signature, &c.Fingerprint} {
		binary.BigEndian.PutUint64(hash[:], n)
		hash[31] = byte(i)
	}
	return c
}

// BenchmarkRemember notes a million deliveries that are new, from all cores at once. Run it with -benchtime 1000000x.
func BenchmarkRemember(b *testing.B) {
	for _, r := range rememberers {
		b.Run("by="+r.name, func(b *testing.B) {
			remember := r.remember()
			var n atomic.Uint64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					remember(n.Add(1))
				}
			})
		})
	}
}

// BenchmarkMillion is a collection of the whole heap with a million deliveries in it, and what each of them takes.
func BenchmarkMillion(b *testing.B) {
	for _, r := range rememberers {
		b.Run("by="+r.name, func(b *testing.B) {
			before := heap()
			remember := r.remember()
			for n := range uint64(1_000_000) {
				remember(n)
			}
			perEntry := float64(heap()-before) / 1e6
			for b.Loop() {
				runtime.GC()
			}
			b.ReportMetric(perEntry, "B/entry")
			runtime.KeepAlive(remember)
		})
	}
}

func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
