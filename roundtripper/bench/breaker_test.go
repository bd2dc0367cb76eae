package bench_test

// A breaker that lets a call through.

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

var errDown = errors.New("down")

// fuse asks for leave and reports a result, for one service or for one of many.
type fuse struct {
	name string
	one  func() func(err error) (allowed bool)
	many func() func(key string, err error) (allowed bool)
}

// keyed is what a program has to write whose breaker knows no keys: a map of
// them.
func keyed(one func() func(error) bool) func() func(string, error) bool {
	return func() func(string, error) bool {
		var fuses sync.Map
		return func(key string, err error) bool {
			f, ok := fuses.Load(key)
			if !ok {
				f, _ = fuses.LoadOrStore(key, one())
			}
			return f.(func(error) bool)(err)
		}
	}
}

var fuses = []fuse{
	{"floor", byHand, keyed(byHand)},
	{"rebound", func() func(error) bool {
		b := breaker.New(breaker.Config{})
		return func(err error) bool {
			p, refused := b.Allow()
			return settle(p, refused, err)
		}
	}, func() func(string, error) bool {
		g := breaker.PerHost(breaker.Config{})
		return func(key string, err error) bool {
			p, refused := g.Allow(key)
			return settle(p, refused, err)
		}
	}},
	{"gobreaker", gobreakerTwoStep, keyed(gobreakerTwoStep)},
	{"failsafe-go", failsafePermit, keyed(failsafePermit)},
}

// byHand is the least that a breaker does: a lock before the call and one after
// it, and a count of failures in a row. It never closes again.
func byHand() func(error) bool {
	var mu sync.Mutex
	failures := 0
	return func(err error) bool {
		mu.Lock()
		open := failures >= 5
		mu.Unlock()
		if open {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		if failures++; err == nil {
			failures = 0
		}
		return true
	}
}

func settle(p breaker.Permit, refused, err error) bool {
	if refused != nil {
		return false
	}
	outcome := breaker.Success
	if err != nil {
		outcome = breaker.Failure
	}
	p.Done(outcome, err)
	return true
}

func gobreakerTwoStep() func(error) bool {
	b := gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 5 },
	})
	return func(err error) bool {
		done, refused := b.Allow()
		if refused != nil {
			return false
		}
		done(err)
		return true
	}
}

func failsafePermit() func(error) bool {
	b := circuitbreaker.NewBuilder[any]().WithFailureThreshold(5).Build()
	return func(err error) bool {
		if !b.TryAcquirePermit() {
			return false
		}
		b.RecordError(err)
		return true
	}
}

// BenchmarkBreaker is a call that is allowed and succeeds, for one service or
// going round a thousand.
func BenchmarkBreaker(b *testing.B) {
	for _, f := range shuffled(fuses) {
		b.Run("mode=serial/keys=1/impl="+f.name, func(b *testing.B) {
			b.ReportAllocs()
			call := f.one()
			for b.Loop() {
				if !call(nil) {
					b.Fatal("refused")
				}
			}
		})
	}
	for _, f := range shuffled(fuses) {
		b.Run("mode=parallel/keys=1/impl="+f.name, func(b *testing.B) {
			b.ReportAllocs()
			call := f.one()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if !call(nil) {
						b.Error("refused")
						return
					}
				}
			})
		})
	}
	hosts := make([]string, 1000)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("https://host-%d.example.com:443", i)
	}
	for _, f := range shuffled(fuses) {
		b.Run("mode=parallel/keys=1000/impl="+f.name, func(b *testing.B) {
			b.ReportAllocs()
			call := f.many()
			for i := range 30 * len(hosts) { // until all of them are known, and ours has filled its windows
				call(hosts[i%len(hosts)], nil)
			}
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if !call(hosts[i%len(hosts)], nil) {
						b.Error("refused")
						return
					}
				}
			})
		})
	}
}

// Each of them opens after five failures in a row, for the key that failed.
func TestFusesOpen(t *testing.T) {
	for _, f := range fuses {
		one, many := f.one(), f.many()
		assert.True(t, one(nil))
		for range 5 {
			assert.True(t, one(errDown), f.name)
			assert.True(t, many("a", errDown), f.name)
		}
		assert.False(t, one(nil), f.name)
		assert.False(t, many("a", nil), f.name)
		assert.True(t, many("b", nil), f.name)
	}
}
