package bench_test

// A retry budget that is told of a success. No peer exports one that could be
// told.

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/budget"
)

const host = "https://host.example.com:443"

// earner takes a success. With full, it has all the tokens that it can hold, as
// while all is well; without, each success adds to them.
type earner struct {
	name string
	earn func(full bool) (success func(), tokens func() float64)
}

var earners = []earner{
	// The floor is the look, or the addition, that can't be done without.
	{"floor", func(full bool) (func(), func() float64) {
		var tokens atomic.Int64
		most := int64(1 << 40)
		if full {
			most = 0
		}
		return func() {
			if tokens.Load() < most {
				tokens.Add(100)
			}
		}, func() float64 { return float64(tokens.Load()) / 1000 }
	}},
	{"rebound", func(full bool) (func(), func() float64) { return earning(full, false) }},
	{"rebound-per-host", func(full bool) (func(), func() float64) { return earning(full, true) }},
}

func earning(full, perHost bool) (func(), func() float64) {
	c := budget.Config{PerHost: perHost}
	if !full {
		c.Max, c.Initial = 1e9, -1
	}
	b := budget.New(c)
	return func() { b.Success(host) }, func() float64 { return b.Tokens(host) }
}

// BenchmarkBudget is a success, from all processors at once.
func BenchmarkBudget(b *testing.B) {
	for _, tokens := range []string{"full", "low"} {
		for _, e := range shuffled(earners) {
			b.Run("tokens="+tokens+"/impl="+e.name, func(b *testing.B) {
				b.ReportAllocs()
				success, _ := e.earn(tokens == "full")
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						success()
					}
				})
			})
		}
	}
}

// A low budget earns a tenth of a token, a full one nothing.
func TestEarnersEarn(t *testing.T) {
	for _, e := range earners {
		for full, want := range map[bool]float64{true: 0, false: 0.1} {
			success, tokens := e.earn(full)
			before := tokens()
			success()
			assert.InDelta(t, want, tokens()-before, 1e-9, "%s full=%t", e.name, full)
		}
	}
}
