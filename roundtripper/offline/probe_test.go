package offline_test

// The probes: one at a time, on the schedule, whatever becomes of one.

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

func TestSchedule(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, tt := range []struct {
		max  time.Duration
		want []time.Duration // the longest time before each probe
	}{
		{0, []time.Duration{1 * s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s, 30 * s}},
		{-1, []time.Duration{1 * s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s}},
		{5 * s, []time.Duration{1 * s, 2 * s, 4 * s, 5 * s, 5 * s}},
		{100 * ms, []time.Duration{100 * ms, 100 * ms, 100 * ms}},
		{1, []time.Duration{1, 1, 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := lose(t, offline.Config{MaxProbe: tt.max})
			for range 3 { // and again after each recovery
				for i, want := range tt.want {
					p, waited := probe(t, g)
					between(t, want/2, want, waited, "before probe "+string(rune('1'+i)))
					time.Sleep(3 * ms) // the time that an attempt takes comes on top
					assert.False(t, p.Done(offline.NoPath))
				}
				p, _ := probe(t, g)
				assert.True(t, p.Done(offline.Reached))
				closeGate(t, g)
			}
		})
	}
}

func TestTimesAreRandom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var low, high int
		for range 1000 {
			switch _, waited := probe(t, lose(t, offline.Config{})); {
			case waited < 600*time.Millisecond:
				low++
			case waited > 900*time.Millisecond:
				high++
			}
		}
		// A fifth each. One in 10^20 runs has fewer than 90.
		assert.Greater(t, low, 90)
		assert.Greater(t, high, 90)
	})
}

// 500 calls, five minutes without a network: one probe at a time, on the
// schedule; on return all leave within Resume; two were charged for it.
func TestFiveHundredWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := offline.New(offline.Config{})
		n := newNetwork(4 * time.Millisecond)
		var wg sync.WaitGroup
		var mu sync.Mutex
		charged := 0
		var left []time.Duration
		one := func() {
			c, err := call(t.Context(), g, n)
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			charged += c
			left = append(left, time.Since(n.start))
		}
		wg.Go(one)
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		for range 499 {
			wg.Go(one)
		}
		time.Sleep(5*time.Minute - 100*time.Millisecond)
		n.set(true)
		returned := time.Since(n.start)
		n.mu.Lock()
		probes := n.sends[3:]
		n.mu.Unlock()
		wg.Wait()

		assert.Equal(t, 1, n.most, "attempts at once")
		// 1+2+4+8+16 s and 30 s each from then on at the longest, half that at
		// the shortest.
		assert.GreaterOrEqual(t, len(probes), 5+(300-31)/30)
		assert.LessOrEqual(t, len(probes), 5+(300-15)/15+1)
		step := time.Second
		for i := 1; i < len(probes); i++ {
			step = min(2*step, 30*time.Second)
			between(t, step/2, step, probes[i]-probes[i-1]-n.takes, "between probes")
		}
		assert.Equal(t, 2+500, charged, "but for the first two, the successes alone")
		first, last := left[0], left[len(left)-1]
		between(t, returned, returned+30*time.Second+n.takes, first, "the probe that gets through")
		between(t, first+time.Second, first+2*time.Second+n.takes, last, "the last one to leave")
		assert.Len(t, n.sends, 3+len(probes)+500)
	})
}

// The caller of a probe gives up: the next in the queue goes at once, and the
// schedule is where it was.
func TestProbeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lose(t, offline.Config{})
		p, _ := probe(t, g)
		p.Done(offline.NoPath)
		p, _ = probe(t, g)
		took := make(chan offline.Pass)
		for range 2 {
			go func() {
				next, err := g.Enter(t.Context(), host)
				assert.NoError(t, err)
				took <- next
			}()
		}
		time.Sleep(time.Second)
		start := time.Now()
		assert.True(t, p.Done(offline.Unknown))
		p = <-took
		assert.True(t, p.Done(offline.Unknown))
		p = <-took
		assert.Equal(t, start, time.Now())

		p.Done(offline.NoPath)
		_, waited := probe(t, g)
		between(t, 2*time.Second, 4*time.Second, waited, "the step after 1 and 2")
	})
}

// A probe that hangs has its turn until its lease runs out; what it says late
// is proof if it got through, and else nothing.
func TestProbeHangs(t *testing.T) {
	for _, lease := range []time.Duration{0, time.Second} {
		for _, late := range []offline.Verdict{offline.Reached, offline.NoPath, offline.Unknown} {
			synctest.Test(t, func(t *testing.T) {
				g := lose(t, offline.Config{Lease: lease})
				hung, _ := probe(t, g)
				want := lease
				if want == 0 {
					want = 10 * time.Second
				}
				_, waited := probe(t, g)
				assert.Equal(t, want, waited)

				assert.Equal(t, late != offline.NoPath, hung.Done(late))
				assert.Equal(t, late != offline.Reached, g.Offline())
				if late != offline.Reached {
					_, ok := g.TryEnter(host)
					assert.False(t, ok, "the other probe is still under way")
				}
			})
		}
	}
}

// Nobody asks, so nothing is sent; whoever asks then goes at once.
func TestNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lose(t, offline.Config{})
		n := newNetwork(time.Millisecond)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := call(ctx, g, n)
				assert.Equal(t, context.DeadlineExceeded, err)
			})
		}
		wg.Wait()
		sends := len(n.sends)
		time.Sleep(time.Hour)
		assert.Len(t, n.sends, sends)
		assert.True(t, g.Offline())
		_, waited := probe(t, g)
		assert.Zero(t, waited)
	})
}

// An arrival may take the probe from under those that wait.
func TestArrivalTakesTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lose(t, offline.Config{})
		p, _ := probe(t, g)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, waited := probe(t, g)
			assert.Equal(t, 10*time.Second, waited, "the lease of the arrival's probe")
		})
		synctest.Wait()
		p.Done(offline.Unknown) // wakes the waiter, but doesn't run it yet
		now(t, g)
		wg.Wait()
	})
}

// Whoever is in front leaves without a probe: the next one watches the clock.
func TestFrontLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lose(t, offline.Config{})
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 100 {
			synctest.Wait()
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+1)*time.Millisecond)
				defer cancel()
				_, err := g.Enter(ctx, host)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			})
		}
		synctest.Wait()
		wg.Go(func() {
			_, err := g.Enter(t.Context(), host)
			assert.NoError(t, err)
			between(t, 500*time.Millisecond, time.Second, time.Since(start), "the first probe")
		})
		wg.Wait()
	})
}

// TryEnter never waits, and takes the turn when it may.
func TestTryEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lose(t, offline.Config{})
		_, ok := g.TryEnter(host)
		require.False(t, ok)
		time.Sleep(time.Second)
		p := now(t, g)
		_, ok = g.TryEnter(host)
		require.False(t, ok)
		p.Done(offline.Reached)
		now(t, g)
	})
}
