package backoff_test

// What the next delay costs, beside a bare draw from math/rand/v2: the floor in
// the same run.

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rebound-go/rebound/backoff"
)

func BenchmarkStrategy(b *testing.B) {
	const base, limit = 500 * time.Millisecond, 8 * time.Second
	for _, bench := range []struct {
		name     string
		strategy backoff.Strategy
	}{
		{"floor", func(int, time.Duration) time.Duration { return time.Duration(rand.Uint64N(uint64(limit) + 1)) }},
		{"exponential", backoff.Exponential(base, limit)},
		{"schedule", backoff.Schedule(base, limit)},
		{"full-jitter", backoff.FullJitter(backoff.Exponential(base, limit))},
		{"equal-jitter", backoff.EqualJitter(backoff.Exponential(base, limit))},
		{"decorrelated", backoff.Decorrelated(base, limit)},
	} {
		b.Run("strategy="+bench.name+"/parallel=no", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bench.strategy(3, base)
			}
		})
		b.Run("strategy="+bench.name+"/parallel=yes", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					bench.strategy(3, base)
				}
			})
		})
	}
}

func BenchmarkSleep(b *testing.B) {
	ended, cancel := context.WithCancel(b.Context())
	cancel()
	for _, bench := range []struct {
		name string
		ctx  context.Context
		d    time.Duration
	}{
		{"none", b.Context(), 0},
		{"ended", ended, time.Hour},
	} {
		b.Run("wait="+bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				backoff.Sleep(bench.ctx, bench.d)
			}
		})
	}
}
