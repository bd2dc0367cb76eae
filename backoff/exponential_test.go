package backoff_test

// Exponential against exact arithmetic, at the numbers where a shift, a power or
// a float goes wrong.

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/rebound-go/rebound/backoff"
)

// slowExponential is min(max, base * 2^retry) by big integers.
func slowExponential(base, max time.Duration, retry int) time.Duration {
	if base <= 0 || max <= 0 {
		return 0
	}
	// After 64 doublings even 1 ns is above every maximum.
	doublings := uint(min(64, retry))
	if retry < 0 {
		doublings = 0
	}
	d := new(big.Int).Lsh(big.NewInt(int64(base)), doublings)
	if d.Cmp(big.NewInt(int64(max))) > 0 {
		return max
	}
	return time.Duration(d.Int64())
}

// Azure/azure-sdk-for-go#23441, flowchartsman/retry#4, avast/retry-go#159: after
// some retries the wait was zero or negative, and the loop hot.
func TestExponentialIsExactAndMonotone(t *testing.T) {
	bases := []time.Duration{math.MinInt64, -1, 0, 1, 2, 3, 300 * time.Microsecond, 1500 * time.Microsecond, 500 * time.Millisecond, time.Hour, longest/2 + 1, longest - 1, longest}
	maxima := []time.Duration{math.MinInt64, -1, 0, 1, 2, 1000, time.Millisecond, 8 * time.Second, longest / 2, longest - 1, longest}
	for _, base := range bases {
		for _, max := range maxima {
			strategy := backoff.Exponential(base, max)
			var last time.Duration
			for _, retry := range retries() {
				got, want := strategy(retry, 0), slowExponential(base, max, retry)
				if got != want {
					t.Fatalf("Exponential(%d, %d)(%d) = %d, want %d", base, max, retry, got, want)
				}
				if got < last {
					t.Fatalf("Exponential(%d, %d)(%d) = %d, less than %d before it", base, max, retry, got, last)
				}
				last = got
			}
		}
	}
}

func TestExponentialByHand(t *testing.T) {
	for _, test := range []struct {
		name      string
		base, max time.Duration
		want      []time.Duration
	}{
		{"100 ms up to 5 s", 100 * time.Millisecond, 5 * time.Second, []time.Duration{100e6, 200e6, 400e6, 800e6, 1600e6, 3200e6, 5e9, 5e9}},
		{"reaches its maximum exactly", time.Second, 4 * time.Second, []time.Duration{1e9, 2e9, 4e9, 4e9}},
		{"fractions of a millisecond", 1500 * time.Microsecond, time.Second, []time.Duration{1500e3, 3e6, 6e6}}, // dotnet-sdk-contrib#699 cut them off
		{"base 0", 0, time.Second, []time.Duration{0, 0}},                                                       // azcore waited for its default instead
		{"base negative", -time.Second, time.Second, []time.Duration{0, 0}},
		{"max 0", time.Second, 0, []time.Duration{0, 0}},
		{"max negative", time.Second, -1, []time.Duration{0, 0}},
		{"max below base", time.Second, time.Millisecond, []time.Duration{1e6, 1e6}},
		{"max 1 ns", 1, 1, []time.Duration{1, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			strategy := backoff.Exponential(test.base, test.max)
			for retry, want := range test.want {
				if got := strategy(retry, 0); got != want {
					t.Errorf("retry %d: got %v, want %v", retry, got, want)
				}
			}
		})
	}
}
