package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Events come in the order of their times, those that are scheduled on the way too.
func TestLoopIsInOrder(t *testing.T) {
	var l loop[time.Duration]
	for range 500 {
		at := rand.N(time.Second)
		l.after(at, at)
	}
	var got []time.Duration
	for want := range l.events() {
		assert.Equal(t, want, l.now)
		got = append(got, l.now)
		if len(got) < 1000 {
			wait := rand.N(time.Second)
			l.after(wait, l.now+wait)
		}
	}
	assert.True(t, slices.IsSorted(got), "out of order: %v", got)
	assert.Len(t, got, 1499)
}

// Of events at the same time each comes first once in a while.
func TestLoopTiesAreRandom(t *testing.T) {
	const events, runs = 4, 4000
	var first [events]int
	for range runs {
		var l loop[int]
		for i := range events {
			l.after(time.Second, i)
		}
		for i := range l.events() {
			first[i]++
			break
		}
	}
	for i, n := range first {
		assert.InDelta(t, runs/events, n, 200, "event %d came first %d times of %d", i, n, runs) // 7 standard deviations
	}
}
