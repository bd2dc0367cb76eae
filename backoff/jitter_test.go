package backoff_test

// Jitter: the range, the ends of the range, and the distribution. Bounds on
// counts are seven standard deviations wide, so that a right generator breaks one
// of them less than once in 10^11 runs.

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rebound-go/rebound/backoff"
)

// jittered holds each random strategy as a function of the delay that it is to
// stay below, and what it stays above.
var jittered = []struct {
	name string
	upTo func(d time.Duration) backoff.Strategy
	low  func(d time.Duration) time.Duration
}{
	{
		"full",
		func(d time.Duration) backoff.Strategy { return backoff.FullJitter(backoff.Constant(d)) },
		func(time.Duration) time.Duration { return 0 },
	},
	{
		"equal",
		func(d time.Duration) backoff.Strategy { return backoff.EqualJitter(backoff.Constant(d)) },
		func(d time.Duration) time.Duration { return d/2 + d%2 },
	},
	{
		"decorrelated",
		func(d time.Duration) backoff.Strategy { return backoff.Decorrelated(d/3, d) },
		func(d time.Duration) time.Duration { return d / 3 },
	},
}

// aws/aws-sdk-java-v2#4809, flowchartsman/retry#4: a generator that is asked for a
// number below 0 or 1 panics.
func TestJitterStaysInRange(t *testing.T) {
	for _, test := range jittered {
		for _, d := range []time.Duration{0, 1, 2, 3, 4, 5, 1000, time.Second, longest - 1, longest} {
			strategy := test.upTo(d)
			for _, retry := range []int{math.MinInt, -1, 0, 1, 30, 64, math.MaxInt} {
				for _, prev := range []time.Duration{math.MinInt64, -1, 0, 1, d, longest/3 + 1, longest} {
					for range 20 {
						if got := strategy(retry, prev); got < test.low(d) || got > d {
							t.Fatalf("%s up to %d: strategy(%d, %d) = %d, want %d to %d", test.name, d, retry, prev, got, test.low(d), d)
						}
					}
				}
			}
		}
	}
}

func TestJitterWithoutADelay(t *testing.T) {
	negative := func(int, time.Duration) time.Duration { return math.MinInt64 }
	for name, strategy := range map[string]backoff.Strategy{
		"full, nil":              backoff.FullJitter(nil),
		"full, none":             backoff.FullJitter(backoff.None()),
		"full, negative":         backoff.FullJitter(negative),
		"full, base 0":           backoff.FullJitter(backoff.Exponential(0, time.Second)),
		"full, max 0":            backoff.FullJitter(backoff.Exponential(time.Second, 0)),
		"equal, nil":             backoff.EqualJitter(nil),
		"equal, none":            backoff.EqualJitter(backoff.None()),
		"equal, negative":        backoff.EqualJitter(negative),
		"decorrelated, base 0":   backoff.Decorrelated(0, time.Second),
		"decorrelated, base -1":  backoff.Decorrelated(-1, time.Second),
		"decorrelated, max 0":    backoff.Decorrelated(time.Second, 0),
		"decorrelated, max -1":   backoff.Decorrelated(time.Second, -1),
		"decorrelated, both min": backoff.Decorrelated(math.MinInt64, math.MinInt64),
	} {
		for _, retry := range []int{-1, 0, 64, math.MaxInt} {
			if got := strategy(retry, time.Second); got != 0 {
				t.Errorf("%s: strategy(%d) = %v, want 0", name, retry, got)
			}
		}
	}
}

// Both reach the inner strategy.
func TestJitterPassesOnItsArguments(t *testing.T) {
	for name, wrap := range map[string]func(backoff.Strategy) backoff.Strategy{"full": backoff.FullJitter, "equal": backoff.EqualJitter} {
		var gotRetry int
		var gotPrev time.Duration
		wrap(func(retry int, prev time.Duration) time.Duration {
			gotRetry, gotPrev = retry, prev
			return 0
		})(7, 9*time.Second)
		if gotRetry != 7 || gotPrev != 9*time.Second {
			t.Errorf("%s: inner strategy got (%d, %v), want (7, 9s)", name, gotRetry, gotPrev)
		}
	}
}

// Every value of a small range, its ends included, comes up as often as it should.
func TestJitterDistribution(t *testing.T) {
	uniform := func(low, high time.Duration) map[time.Duration]float64 {
		p := map[time.Duration]float64{}
		for d := low; d <= high; d++ {
			p[d] = 1 / float64(high-low+1)
		}
		return p
	}
	for _, test := range []struct {
		name     string
		strategy backoff.Strategy
		prev     time.Duration
		want     map[time.Duration]float64
	}{
		{"full, up to 1", backoff.FullJitter(backoff.Constant(1)), 0, uniform(0, 1)},
		{"full, up to 2", backoff.FullJitter(backoff.Constant(2)), 0, uniform(0, 2)},
		{"full, up to 3", backoff.FullJitter(backoff.Constant(3)), 0, uniform(0, 3)},
		{"full, at the cap", backoff.FullJitter(backoff.Exponential(3, 4)), 0, uniform(0, 3)},
		{"equal, 1", backoff.EqualJitter(backoff.Constant(1)), 0, uniform(1, 1)},
		{"equal, 2", backoff.EqualJitter(backoff.Constant(2)), 0, uniform(1, 2)},
		{"equal, 7", backoff.EqualJitter(backoff.Constant(7)), 0, uniform(4, 7)},
		{"equal, 8", backoff.EqualJitter(backoff.Constant(8)), 0, uniform(4, 8)},
		{"decorrelated, first", backoff.Decorrelated(2, 100), 0, uniform(2, 6)},
		{"decorrelated, prev below base", backoff.Decorrelated(2, 100), 1, uniform(2, 6)},
		{"decorrelated, negative prev", backoff.Decorrelated(2, 100), math.MinInt64, uniform(2, 6)},
		{"decorrelated, later", backoff.Decorrelated(2, 100), 3, uniform(2, 9)},
		{"decorrelated, cap not reached", backoff.Decorrelated(2, 6), 0, uniform(2, 6)},
		{"decorrelated, cap", backoff.Decorrelated(1, 4), 2, map[time.Duration]float64{1: 1. / 6, 2: 1. / 6, 3: 1. / 6, 4: 3. / 6}},
		{"decorrelated, base at cap", backoff.Decorrelated(4, 4), 0, uniform(4, 4)},
		{"decorrelated, base above cap", backoff.Decorrelated(9, 4), 0, uniform(4, 4)},
	} {
		t.Run(test.name, func(t *testing.T) {
			const draws = 50_000
			counts := map[time.Duration]int{}
			for range draws {
				counts[test.strategy(0, test.prev)]++
			}
			for d := range counts {
				if _, ok := test.want[d]; !ok {
					t.Errorf("drew %d", d)
				}
			}
			for d, p := range test.want {
				want, bound := draws*p, 7*math.Sqrt(draws*p*(1-p))
				if got := float64(counts[d]); math.Abs(got-want) > bound {
					t.Errorf("drew %d %.0f times, want %.0f within %.0f", d, got, want, bound)
				}
			}
		})
	}
}

// maximhq/bifrost#6964, aws/aws-sdk-go-v2#3091: jitter drawn before the delay is
// cut down to its maximum leaves half of the clients in step.
func TestJitterDoesNotPileUpAtTheCap(t *testing.T) {
	const limit, draws = 30 * time.Second, 200_000
	for _, test := range []struct {
		name     string
		strategy backoff.Strategy
		low      time.Duration
	}{
		{"full", backoff.FullJitter(backoff.Exponential(500*time.Millisecond, limit)), 0},
		{"equal", backoff.EqualJitter(backoff.Exponential(500*time.Millisecond, limit)), limit / 2},
	} {
		for _, retry := range []int{30, math.MaxInt} {
			counts := map[time.Duration]int{}
			sum := 0.
			shortest := limit
			for range draws {
				d := test.strategy(retry, limit)
				if d > limit {
					t.Fatalf("%s: %v is above %v", test.name, d, limit)
				}
				counts[d]++
				sum += float64(d)
				shortest = min(shortest, d)
			}
			if at := counts[limit]; at*1000 >= draws {
				t.Errorf("%s, retry %d: %d of %d at the cap", test.name, retry, at, draws)
			}
			for d, n := range counts {
				if n*100 > draws {
					t.Errorf("%s, retry %d: %d of %d are %v", test.name, retry, n, draws, d)
				}
			}
			width := float64(limit - test.low)
			if float64(shortest-test.low) > width/10 {
				t.Errorf("%s, retry %d: no draw below %v", test.name, retry, shortest)
			}
			want := float64(test.low) + width/2
			bound := 7 * width / math.Sqrt(12*draws)
			if mean := sum / draws; math.Abs(mean-want) > bound {
				t.Errorf("%s, retry %d: mean %v, want %v within %v", test.name, retry, time.Duration(mean), time.Duration(want), time.Duration(bound))
			}
		}
	}
}

// A call's waits, each passed on to the next draw, from the first to the cap.
func TestDecorrelatedGrows(t *testing.T) {
	const base, limit = 500 * time.Millisecond, 8 * time.Second
	strategy := backoff.Decorrelated(base, limit)
	var reached []time.Duration
	for range 1000 {
		var prev time.Duration
		for retry := range 20 {
			d := strategy(retry, prev)
			if high := min(limit, 3*max(base, prev)); d < base || d > high {
				t.Fatalf("retry %d after %v: %v, want %v to %v", retry, prev, d, base, high)
			}
			prev = d
		}
		reached = append(reached, prev)
	}
	if longest := slices.Max(reached); longest != limit {
		t.Errorf("none of 1000 calls reached %v, the longest wait was %v", limit, longest)
	}
}

// Three times a wait of 98 years and more does not fit: the range then ends at the
// longest delay, and does not collapse to its beginning.
func TestDecorrelatedSaturates(t *testing.T) {
	strategy := backoff.Decorrelated(1, longest)
	for _, prev := range []time.Duration{longest/3 + 1, longest / 2, longest - 1, longest} {
		var furthest time.Duration
		for range 1000 {
			furthest = max(furthest, strategy(1, prev))
		}
		if furthest < longest/2 {
			t.Errorf("after %v none of 1000 draws is above %v", prev, furthest)
		}
	}
}

// golang/go#20387, cloudflare/backoff#7: a generator that is shared needs a lock,
// or it is a race. It is the race detector that would fail this test.
func TestStrategiesServeManyGoroutines(t *testing.T) {
	strategies := []backoff.Strategy{
		backoff.Schedule(1, 2, 3),
		backoff.FullJitter(backoff.Exponential(1, time.Second)),
		backoff.EqualJitter(backoff.Exponential(1, time.Second)),
		backoff.Decorrelated(1, time.Second),
	}
	var calls sync.WaitGroup
	for range 64 {
		calls.Go(func() {
			for _, strategy := range strategies {
				var prev time.Duration
				for retry := range 100 {
					prev = strategy(retry, prev)
					if prev < 0 || prev > time.Second {
						t.Errorf("retry %d: %v", retry, prev)
					}
				}
			}
		})
	}
	calls.Wait()
}

func TestStrategiesAllocateNothing(t *testing.T) {
	for name, strategy := range map[string]backoff.Strategy{
		"schedule":     backoff.Schedule(1, 2, 3),
		"full":         backoff.FullJitter(backoff.Exponential(1, time.Second)),
		"equal":        backoff.EqualJitter(backoff.Exponential(1, time.Second)),
		"decorrelated": backoff.Decorrelated(1, time.Second),
	} {
		if got := testing.AllocsPerRun(100, func() { strategy(5, time.Millisecond) }); got != 0 {
			t.Errorf("%s allocates %v times, want 0", name, got)
		}
	}
}
