package backoff_test

// Properties of any arguments.

import (
	"math"
	"testing"
	"time"

	"github.com/rebound-go/rebound/backoff"
)

func FuzzExponential(f *testing.F) {
	for _, retry := range []int64{math.MinInt64, -1, 0, 1, 34, 35, 36, 55, 56, 62, 63, 64, 1000, math.MaxInt64} {
		f.Add(int64(500*time.Millisecond), int64(30*time.Second), retry)
		f.Add(int64(1), int64(math.MaxInt64), retry)
		f.Add(int64(math.MaxInt64), int64(math.MaxInt64), retry)
		f.Add(int64(0), int64(time.Second), retry)
		f.Add(int64(time.Second), int64(-1), retry)
	}
	f.Fuzz(func(t *testing.T, base, limit, number int64) {
		retry := int(number)
		strategy := backoff.Exponential(time.Duration(base), time.Duration(limit))
		got := strategy(retry, 0)
		if want := slowExponential(time.Duration(base), time.Duration(limit), retry); got != want {
			t.Fatalf("Exponential(%d, %d)(%d) = %d, want %d", base, limit, retry, got, want)
		}
		if got < 0 || got > max(0, time.Duration(limit)) {
			t.Fatalf("Exponential(%d, %d)(%d) = %d is out of range", base, limit, retry, got)
		}
		if retry < math.MaxInt {
			if next := strategy(retry+1, got); next < got {
				t.Fatalf("Exponential(%d, %d): %d after %d", base, limit, next, got)
			}
		}
	})
}

func FuzzJitter(f *testing.F) {
	for _, d := range []int64{math.MinInt64, -1, 0, 1, 2, 3, int64(time.Second), math.MaxInt64/3 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		f.Add(d, int64(30*time.Second), 3, d)
		f.Add(int64(time.Second), d, math.MaxInt, d)
	}
	f.Fuzz(func(t *testing.T, first, second int64, retry int, last int64) {
		base, limit, prev := time.Duration(first), time.Duration(second), time.Duration(last)

		whole := backoff.Constant(base)(retry, prev)
		if got := backoff.FullJitter(backoff.Constant(base))(retry, prev); got < 0 || got > whole {
			t.Errorf("full jitter over %d: %d", whole, got)
		}
		if got := backoff.EqualJitter(backoff.Constant(base))(retry, prev); got < whole-whole/2 || got > whole {
			t.Errorf("equal jitter over %d: %d", whole, got)
		}

		low, high := min(base, limit), limit
		if base <= 0 || limit <= 0 {
			low, high = 0, 0
		} else if from := max(base, prev); from <= longest/3 {
			high = min(limit, 3*from)
		}
		if got := backoff.Decorrelated(base, limit)(retry, prev); got < low || got > high {
			t.Errorf("Decorrelated(%d, %d) after %d: %d, want %d to %d", base, limit, prev, got, low, high)
		}
	})
}
