package main

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

// realGuard is package breaker as a guard: it lets the clock of a synctest bubble catch up with the simulation.
type realGuard struct {
	b       *breaker.Breaker
	start   time.Time
	permits []breaker.Permit // by the number that the simulation knows them by
}

// newRealGuard works by the same figures as c. No share of failures opens it, as none opens a circuit.
func newRealGuard(c circuit) *realGuard {
	return &realGuard{
		b: breaker.New(breaker.Config{
			Consecutive: c.row,
			Ratio:       2,
			Cooldown:    c.cooldown,
			MaxCooldown: c.maxCooldown,
			TrialLease:  c.lease,
		}),
		start: time.Now(),
	}
}

func (g *realGuard) allow(now time.Duration) (permit uint64, wait time.Duration, ok bool) {
	time.Sleep(now - time.Since(g.start))
	p, err := g.b.Allow()
	if err != nil {
		return 0, err.(*breaker.OpenError).RetryIn, false
	}
	g.permits = append(g.permits, p)
	return uint64(len(g.permits) - 1), 0, true
}

func (g *realGuard) done(now time.Duration, permit uint64, failed bool) {
	time.Sleep(now - time.Since(g.start))
	outcome := breaker.Success
	if failed {
		outcome = breaker.Failure
	}
	g.permits[permit].Done(outcome, nil)
}

// The simulated rule and the package agree on every step of a long random history: calls that take their time, late
// results, trials that fail, succeed or stay silent. Only how much a cooldown is lengthened is each one's own.
func TestCircuitIsTheRuleOfPackageBreaker(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			c := ownCircuit(time.Second)
			c.maxCooldown, c.lease = 5*time.Second, 300*time.Millisecond
			real := newRealGuard(c)
			type call struct{ ours, theirs uint64 }
			var calls []call
			now := time.Duration(0)
			opened, failing := 0, 0.5
			for range 2000 {
				now += rand.N(150 * time.Millisecond)
				if rand.IntN(50) == 0 {
					failing = rand.Float64()
				}
				if len(calls) > 0 && rand.IntN(2) == 0 {
					k := rand.IntN(len(calls))
					failed := rand.Float64() < failing
					c.done(now, calls[k].ours, failed)
					real.done(now, calls[k].theirs, failed)
					calls[k] = calls[len(calls)-1]
					calls = calls[:len(calls)-1]
				} else {
					ours, wait, ok := c.allow(now)
					theirs, theirWait, theirOK := real.allow(now)
					require.Equal(t, theirOK, ok, "allowed at %v", now)
					require.Equal(t, theirWait, wait, "wait at %v", now)
					if ok {
						calls = append(calls, call{ours, theirs})
					}
				}
				status := real.b.Status()
				require.Equal(t, [...]breaker.State{breaker.Closed, breaker.Open, breaker.HalfOpen}[c.state], status.State, "at %v", now)
				if c.opened > opened {
					opened = c.opened
					require.Equal(t, status.Cooldown, c.current)
					for _, until := range []time.Duration{c.until, status.RetryAt.Sub(real.start)} {
						require.GreaterOrEqual(t, until-now, c.current)
						require.LessOrEqual(t, until-now, c.current*3/2)
					}
					c.until = status.RetryAt.Sub(real.start)
				}
			}
			assert.Greater(t, opened, 5, "a history that opens it now and then")
		})
	}
}

// The herd does with a real breaker per client what it does with the simulated ones.
func TestHerdBehindRealBreakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := theHerd(named("full"))
		h.spread = leaves
		breakers := make([]*realGuard, h.size)
		for i := range breakers {
			breakers[i] = newRealGuard(ownCircuit(30 * time.Second))
		}
		h.breaker = func(client int) guard { return breakers[client] }
		s := h.run()
		assert.Len(t, s.through, 1000)
		span{46, 48.56}.holds(t, "last client", lastSeconds(s))
		span{5120, 5320}.holds(t, "attempts", sendCount(s))
		assert.Equal(t, s.last(), time.Since(breakers[0].start)-h.answer, "the clock of the bubble")
	})
}
