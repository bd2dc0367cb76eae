package backoff_test

// None, Constant and Schedule.

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/rebound-go/rebound/backoff"
)

const longest time.Duration = math.MaxInt64

// retries holds the numbers at which arithmetic goes wrong, in ascending order.
func retries() []int {
	numbers := []int{math.MinInt, math.MinInt32, -64, -1}
	for n := range 1001 {
		numbers = append(numbers, n)
	}
	return append(numbers, 10_000, math.MaxInt32-1, math.MaxInt32, math.MaxInt-1, math.MaxInt)
}

func TestFixedStrategies(t *testing.T) {
	for _, test := range []struct {
		name     string
		strategy backoff.Strategy
		want     []time.Duration // by retry; the last repeats
	}{
		{"none", backoff.None(), []time.Duration{0}},
		{"constant", backoff.Constant(300 * time.Microsecond), []time.Duration{300 * time.Microsecond}},
		{"constant, nothing", backoff.Constant(0), []time.Duration{0}},
		{"constant, negative", backoff.Constant(-time.Second), []time.Duration{0}},
		{"constant, most negative", backoff.Constant(math.MinInt64), []time.Duration{0}},
		{"constant, longest", backoff.Constant(longest), []time.Duration{longest}},
		{"schedule, empty", backoff.Schedule(), []time.Duration{0}},
		{"schedule, one", backoff.Schedule(5), []time.Duration{5}},
		{"schedule, three", backoff.Schedule(25, 50, 10), []time.Duration{25, 50, 10}},
		{"schedule, negative ones", backoff.Schedule(-1, 7, math.MinInt64), []time.Duration{0, 7, 0}},
		{"schedule, longest", backoff.Schedule(0, longest), []time.Duration{0, longest}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, retry := range retries() {
				want := test.want[min(max(0, retry), len(test.want)-1)]
				for _, prev := range []time.Duration{math.MinInt64, 0, time.Second, longest} {
					if got := test.strategy(retry, prev); got != want {
						t.Fatalf("strategy(%d, %d) = %d, want %d", retry, prev, got, want)
					}
				}
			}
		})
	}
}

func TestScheduleCopiesItsArgument(t *testing.T) {
	delays := []time.Duration{1, -2, 3}
	before := slices.Clone(delays)
	strategy := backoff.Schedule(delays...)
	if !slices.Equal(delays, before) {
		t.Errorf("Schedule made %v of its argument %v", delays, before)
	}
	clear(delays)
	if got := strategy(2, 0); got != 3 {
		t.Errorf("strategy(2, 0) = %d once the argument has changed, want 3", got)
	}
}
