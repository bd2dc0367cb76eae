package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is not random is exact, and what is has the ranges that many runs gave.
func TestGuards(t *testing.T) {
	want := map[string]struct{ through, last, sends, busiest span }{
		"no jitter, a budget per client":                {exactly(800), exactly(56), exactly(8200), exactly(1000)},
		"no jitter, a budget per client by gRPC's rule": {exactly(200), exactly(7.7), exactly(4900), exactly(1000)},
		"no jitter, one budget for all":                 {exactly(0), exactly(0), exactly(1010), exactly(10)},
		"full jitter, one budget for all":               {exactly(0), exactly(0), exactly(1010), span{1, 10}},
		"full jitter, a budget per client":              {exactly(1000), span{10.2, 11.05}, span{5150, 5340}, span{225, 340}},
		"full jitter, a breaker per client, waits":      {exactly(1000), span{33.3, 33.56}, span{5120, 5320}, span{225, 340}},
		"full jitter, ... as package breaker has it":    {exactly(1000), span{46, 48.56}, span{5120, 5320}, span{225, 340}},
		"full jitter, a breaker per client, fails fast": {span{650, 810}, span{6.2, 7.06}, span{4920, 4990}, span{225, 340}},
		"no jitter, a breaker per client, waits":        {exactly(1000), span{68.6, 68.9}, span{5880, 6000}, exactly(1000)},
	}
	for _, g := range guards() {
		w, ok := want[g.name]
		require.True(t, ok, "nothing is known of %q", g.name)
		delete(want, g.name)
		for _, s := range g.times(5) {
			w.through.holds(t, g.name+": through", throughCount(s))
			w.last.holds(t, g.name+": last client", lastSeconds(s))
			w.sends.holds(t, g.name+": attempts", sendCount(s))
			w.busiest.holds(t, g.name+": busiest slot", busiestSlot(s))
			assert.Equal(t, 1000, len(s.through)+s.gaveUp)
		}
	}
	assert.Empty(t, want, "not run")
}

// One breaker for all is a gain or a catastrophe, by how fast those who waited leave.
func TestSharedBreaker(t *testing.T) {
	for _, tc := range []struct {
		name           string
		c              circuit
		spread         time.Duration
		last, sends    span
		busiest, again span
	}{
		{"30 s, too fast", plainCircuit(30 * time.Second), leaves, span{120, 215}, span{2050, 2450}, span{150, 270}, span{50, 450}},
		{"30 s", plainCircuit(30 * time.Second), 2 * time.Second, span{32, 32.3}, exactly(2000), span{45, 100}, exactly(0)},
		{"30 s, slowly", plainCircuit(30 * time.Second), 10 * time.Second, span{39.9, 41}, exactly(2000), span{12, 32}, exactly(0)},
		{"5 s, too fast", plainCircuit(5 * time.Second), leaves, span{20, 38}, span{2050, 2450}, span{150, 270}, span{50, 450}},
		{"5 s", plainCircuit(5 * time.Second), 2 * time.Second, span{7, 7.3}, exactly(2000), span{45, 100}, exactly(0)},
		{"as the package has it, too fast", ownCircuit(30 * time.Second), leaves,
			span{90, 400}, span{2001, 2450}, span{70, 280}, span{1, 450}},
		{"as the package has it", ownCircuit(30 * time.Second), 2 * time.Second,
			span{60, 79.2}, exactly(2000), span{45, 100}, exactly(0)},
	} {
		for _, s := range shared(tc.c, tc.spread).times(10) {
			assert.Len(t, s.through, 1000, tc.name)
			tc.last.holds(t, tc.name+": last client", lastSeconds(s))
			tc.sends.holds(t, tc.name+": attempts", sendCount(s))
			tc.busiest.holds(t, tc.name+": busiest slot", busiestSlot(s))
			tc.again.holds(t, tc.name+": refused although it is up", refusedCount(s))
		}
	}
}
