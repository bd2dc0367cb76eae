package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Attempts per call, and the share of calls that fail, by how many attempts succeed.
func TestBudgets(t *testing.T) {
	const calls = 100_000
	for _, tc := range []struct {
		success                    float64
		ours, oursFailed           float64
		throttled, throttledFailed float64
	}{
		{0.5, 1.0527, 0.474, 1.0001, 0.5},
		{0.8, 1.087, 0.131, 1.0001, 0.2},
		{0.9, 1.0968, 0.0135, 1.02, 0.082},
		{0.95, 1.0527, 0, 1.0525, 0.0003},
		{0.99, 1.01, 0, 1.01, 0},
	} {
		t.Run(fmt.Sprint("success=", tc.success), func(t *testing.T) {
			none := send(calls, tc.success, 4, free{})
			fails := 1 - tc.success
			assert.InDelta(t, (1-math.Pow(fails, 4))/tc.success, none.perCall(), 0.015, "without a budget")
			assert.InDelta(t, math.Pow(fails, 4), none.failed(), 0.005)

			ours := send(calls, tc.success, 4, standardTokens())
			assert.InDelta(t, tc.ours, ours.perCall(), 0.006, "package budget")
			assert.InDelta(t, tc.oursFailed, ours.failed(), 0.01)
			assert.LessOrEqual(t, ours.excess, 10.0)

			throttled := send(calls, tc.success, 4, newThrottle())
			assert.InDelta(t, tc.throttled, throttled.perCall(), 0.015, "gRPC's rule")
			assert.InDelta(t, tc.throttledFailed, throttled.failed(), 0.02)
		})
	}
}

// In an outage there are four attempts per call, or one and ten more in all, or one and three more.
func TestBudgetsInAnOutage(t *testing.T) {
	const calls = 100_000
	assert.Equal(t, 400_000, send(calls, 0, 4, free{}).sends)
	assert.Equal(t, 100_003, send(calls, 0, 4, newThrottle()).sends)
	ours := send(calls, 0, 4, standardTokens())
	assert.Equal(t, 100_010, ours.sends)
	assert.Equal(t, calls, ours.failures)
	assert.InDelta(t, 9.6, ours.excess, 1e-6)
}

// From empty, package budget retries after ten successes in a row, gRPC's rule after sixty-one: it wants more than half
// of its tokens, and takes one for the failure first.
func TestComingBackFromEmpty(t *testing.T) {
	for name, tc := range map[string]struct {
		newPayer func() payer
		want     int
	}{
		"package budget": {standardTokens, 10},
		"gRPC's rule":    {newThrottle, 61},
	} {
		afterSuccesses := func(n int) (retry bool) {
			p := tc.newPayer()
			for range 20 {
				p.failed(true)
			}
			for range n {
				p.succeeded()
			}
			return p.failed(true)
		}
		got := 0
		for got < 100 && !afterSuccesses(got) {
			got++
		}
		assert.Equal(t, tc.want, got, name)
	}
}
