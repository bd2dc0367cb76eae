package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the published simulation found holds, as far as it does: no jitter is the worst by far; full jitter does the least
// work, with equal jitter beside it; decorrelated does a fifth more and is about as fast.
func TestContention(t *testing.T) {
	time, work := map[string]float64{}, map[string]float64{}
	for _, s := range contenders() {
		all := contention{100, s.delay}.times(60)
		time[s.name] = over(all, contestSeconds).mean
		work[s.name] = over(all, contestWrites).mean
	}
	for name, want := range map[string]struct{ time, work span }{
		"immediate":    {span{1.95, 2.1}, span{2380, 2480}},
		"none":         {span{58, 68}, span{1800, 1930}},
		"equal":        {span{6, 7.4}, span{800, 826}},
		"full":         {span{4.4, 5.5}, span{787, 806}},
		"decorrelated": {span{4, 5.2}, span{980, 1030}},
	} {
		want.time.holds(t, name+": seconds", time[name])
		want.work.holds(t, name+": writes", work[name])
	}
	assert.Greater(t, time["none"], 5*time["full"])
	assert.Greater(t, work["none"], 2*work["full"])
	assert.InDelta(t, 1.25, work["decorrelated"]/work["full"], 0.15)
	assert.InDelta(t, 1, work["equal"]/work["full"], 0.1)
	assert.InDelta(t, 1, time["decorrelated"]/time["full"], 0.25)
	assert.Less(t, time["immediate"], time["full"], "to wait for nothing is fastest")
	assert.Greater(t, work["immediate"], work["none"], "and the most work")
}

// A client alone writes once, after four messages of 10 ms each on average.
func TestContentionAlone(t *testing.T) {
	for _, s := range contenders() {
		all := contention{1, s.delay}.times(30)
		assert.Equal(t, figures{1, 1, 1}, over(all, contestWrites), s.name)
		assert.InDelta(t, 0.04, over(all, contestSeconds).mean, 0.005, s.name)
	}
}

func BenchmarkContention(b *testing.B) {
	for _, s := range contenders() {
		b.Run("jitter="+s.name, func(b *testing.B) {
			b.ReportAllocs()
			c := contention{100, s.delay}
			for b.Loop() {
				c.run()
			}
		})
	}
}
