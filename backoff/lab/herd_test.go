package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// span is a range, both ends included. Where it is for single runs it is wider than what 2,000 of them came to, so that
// chance does not fail the tests; where it is for a mean, it is more than five standard errors wide to each side.
type span [2]float64

func (s span) holds(t *testing.T, what string, got float64) {
	t.Helper()
	if got < s[0] || got > s[1] {
		t.Errorf("%s: %g, want %g to %g", what, got, s[0], s[1])
	}
}

func exactly(x float64) span { return span{x, x} }

// Without jitter there is nothing random but who is served: the waves come at 0, 500+R, 1500+2R, 3500+3R, 7500+4R,
// 15500+5R and every 8000+R from then on, each serves a hundred, and the first to be served is the fourth.
func TestNoJitterIsArithmetic(t *testing.T) {
	for _, answer := range []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond} {
		h := theHerd(named("none"))
		h.answer = answer
		s := h.run()
		wave := 3500*time.Millisecond + 3*answer
		for k, at := range s.through {
			if k > 0 && k%100 == 0 {
				wave += answer + min(8*time.Second, 4*time.Second<<(k/100-1))
			}
			if at != wave {
				t.Fatalf("answers after %v: client %d is through at %v, want %v", answer, k+1, at, wave)
			}
		}
		assert.Equal(t, 71500*time.Millisecond+12*answer, s.last())
		assert.Equal(t, 1000, s.busiest)
		assert.Equal(t, 1000, s.late)
		assert.Equal(t, 8500, s.sends)
		assert.Equal(t, 4500, s.refused)
	}
}

// The figures of every run of each jitter, and their means.
func TestJitter(t *testing.T) {
	const runs = 20
	busiest := map[string]figures{}
	for _, tc := range []struct {
		name                                 string
		last, busiest, sliding, late, sends  span
		meanLast, meanBusiest, median, nines span
	}{
		{"full", span{10.2, 11.05}, span{225, 340}, span{245, 360}, span{28, 80}, span{5150, 5340},
			span{10.65, 11.0}, span{260, 292}, span{4.55, 4.75}, span{10.0, 10.45}},
		{"equal", span{6.8, 7.25}, span{365, 470}, span{385, 485}, span{55, 140}, span{4640, 4810},
			span{6.93, 7.07}, span{396, 426}, span{5.22, 5.36}, span{6.78, 6.92}},
		{"decorrelated", span{7.5, 9.9}, span{100, 175}, span{110, 185}, span{40, 95}, span{3640, 3870},
			span{8.5, 9.15}, span{119, 139}, span{4.02, 4.14}, span{7.5, 8.05}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := theHerd(named(tc.name)).times(runs)
			for _, s := range all {
				assert.Len(t, s.through, 1000)
				tc.last.holds(t, "last client", lastSeconds(s))
				tc.busiest.holds(t, "busiest slot", busiestSlot(s))
				tc.sliding.holds(t, "busiest 100 ms", slidingSlot(s))
				tc.late.holds(t, "busiest slot once it is up", lateSlot(s))
				tc.sends.holds(t, "attempts", sendCount(s))
				// The last wait is at most 8 s, and begins when the last failure is known. A few clients with
				// equal jitter are refused once more, by a slot that is full.
				if s.refused == 0 {
					assert.LessOrEqual(t, s.last(), 11050*time.Millisecond)
				}
				assert.Less(t, s.refused, 40)
			}
			busiest[tc.name] = over(all, busiestSlot)
			tc.meanLast.holds(t, "last client on average", over(all, lastSeconds).mean)
			tc.meanBusiest.holds(t, "busiest slot on average", busiest[tc.name].mean)
			tc.median.holds(t, "median on average", over(all, medianSeconds).mean)
			tc.nines.holds(t, "99 % on average", over(all, slowSeconds).mean)
		})
	}
	assert.Greater(t, 1000.0, 2*busiest["equal"].high)
	assert.Greater(t, busiest["equal"].low, busiest["full"].high)
	assert.Greater(t, busiest["full"].low, busiest["decorrelated"].high)
}

// How many get through if each may try four times.
func TestFourAttempts(t *testing.T) {
	for name, want := range map[string]span{
		"none": exactly(100), "full": {36, 55}, "equal": {260, 293}, "decorrelated": {858, 889},
	} {
		h := theHerd(named(name))
		h.attempts = 4
		all := h.times(20)
		want.holds(t, name, over(all, throughCount).mean)
		for _, s := range all {
			assert.Equal(t, 1000, len(s.through)+s.gaveUp)
			assert.LessOrEqual(t, s.sends, 4000)
		}
	}
}

// The shape does not depend on how long the outage is, nor on how many clients there are; the end does.
func TestOutageAndSize(t *testing.T) {
	for _, tc := range []struct {
		outage time.Duration
		name   string
		last   span
		sends  span
	}{
		{time.Second, "none", exactly(64.05), exactly(7500)},
		{time.Second, "full", span{5, 9.6}, span{3740, 3900}},
		{time.Second, "equal", span{3.3, 3.7}, span{3400, 3520}},
		{time.Second, "decorrelated", span{4.8, 6.6}, span{2440, 2590}},
		{4 * time.Second, "none", exactly(80.15), exactly(9500)},
		{10 * time.Second, "none", exactly(88.2), exactly(10500)},
		{10 * time.Second, "full", span{17.3, 18.06}, span{6980, 7300}},
		{10 * time.Second, "equal", span{17.6, 18.06}, span{6020, 6150}},
		{10 * time.Second, "decorrelated", span{17.8, 18.06}, span{6020, 6330}},
		{30 * time.Second, "full", span{37.3, 38.06}, span{11800, 12400}},
		{30 * time.Second, "equal", span{37.6, 38.06}, span{9350, 9650}},
		{30 * time.Second, "decorrelated", span{37.8, 38.06}, span{9850, 10450}},
	} {
		h := theHerd(named(tc.name))
		h.outage = tc.outage
		all := h.times(5)
		tc.last.holds(t, fmt.Sprint(tc.name, ", down for ", tc.outage, ": last client"), over(all, lastSeconds).mean)
		tc.sends.holds(t, fmt.Sprint(tc.name, ", down for ", tc.outage, ": attempts"), over(all, sendCount).mean)
	}
	for name, want := range map[string]span{"full": {0.25, 0.3}, "equal": {0.38, 0.43}, "decorrelated": {0.11, 0.15}} {
		h := theHerd(named(name))
		h.size, h.capacity = 5000, 500
		want.holds(t, name+", 5,000 clients: share in the busiest slot", over(h.times(3), busiestSlot).mean/5000)
	}
}

func BenchmarkHerd(b *testing.B) {
	for _, s := range strategies() {
		b.Run("jitter="+s.name, func(b *testing.B) {
			b.ReportAllocs()
			h := theHerd(s.delay)
			for b.Loop() {
				h.run()
			}
		})
	}
}
