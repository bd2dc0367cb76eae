package bench_test

// The next delay.

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/PuerkitoBio/rehttp"
	cenkalti "github.com/cenkalti/backoff/v5"
	"github.com/gojek/heimdall/v7"
	"github.com/hashicorp/go-retryablehttp"
	sethvargo "github.com/sethvargo/go-retry"
	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/backoff"
)

const (
	baseDelay = 500 * time.Millisecond
	maxDelay  = 8 * time.Second
)

// pacer gives the delay before the fourth retry or, if it counts for itself,
// before the next. The floor is the draw alone. Full jitter is what rebound,
// rehttp and go-retry do; the others do what they have: cenkalti half of the
// delay up or down, go-retryablehttp a linear draw between the two bounds,
// heimdall up to a second on top.
type pacer struct {
	name string
	// begin begins a sequence. Those of cenkalti are for one goroutine each;
	// the rest share one.
	begin func() (next func() time.Duration)
	most  time.Duration
}

func shared(next func() time.Duration) func() func() time.Duration {
	return func() func() time.Duration { return next }
}

func pacers() []pacer {
	ours := backoff.FullJitter(backoff.Exponential(baseDelay, maxDelay))
	rehttpDelay := rehttp.ExpJitterDelay(baseDelay, maxDelay)
	sethvargoDelay := sethvargo.WithFullJitter(sethvargo.WithCappedDuration(maxDelay, sethvargo.NewExponential(baseDelay)))
	heimdallDelay := heimdall.NewExponentialBackoff(baseDelay, maxDelay, 2, time.Second)
	return []pacer{
		{"floor", shared(func() time.Duration { return time.Duration(rand.Uint64N(uint64(maxDelay) + 1)) }), maxDelay},
		{"rebound", shared(func() time.Duration { return ours(3, baseDelay) }), maxDelay},
		{"rehttp", shared(func() time.Duration { return rehttpDelay(rehttp.Attempt{Index: 3}) }), maxDelay},
		{"go-retry", shared(func() time.Duration { d, _ := sethvargoDelay.Next(); return d }), maxDelay},
		{"go-retryablehttp", shared(func() time.Duration {
			return retryablehttp.LinearJitterBackoff(baseDelay, maxDelay, 3, nil)
		}), 4 * maxDelay},
		{"heimdall", shared(func() time.Duration { return heimdallDelay.Next(3) }), maxDelay + time.Second},
		{"cenkalti", func() func() time.Duration {
			b := cenkalti.NewExponentialBackOff()
			b.InitialInterval, b.MaxInterval, b.Multiplier = baseDelay, maxDelay, 2
			return b.NextBackOff
		}, maxDelay + maxDelay/2},
	}
}

func BenchmarkNextDelay(b *testing.B) {
	for _, p := range shuffled(pacers()) {
		b.Run("mode=serial/impl="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			next := p.begin()
			for b.Loop() {
				next()
			}
		})
	}
	for _, p := range shuffled(pacers()) {
		b.Run("mode=parallel/impl="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				next := p.begin()
				for pb.Next() {
					next()
				}
			})
		})
	}
}

// Each of them draws: within its bounds, and not the same each time.
func TestPacersDraw(t *testing.T) {
	for _, p := range pacers() {
		next := p.begin()
		seen := map[time.Duration]bool{}
		for range 100 {
			d := next()
			assert.True(t, 0 <= d && d <= p.most, "%s: %v", p.name, d)
			seen[d] = true
		}
		assert.Greater(t, len(seen), 50, p.name)
	}
}
