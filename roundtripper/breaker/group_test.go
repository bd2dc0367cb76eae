package breaker_test

// Many hosts: kept apart, bounded, and forgotten in the right order.

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

func keys(g *breaker.Group) (keys []string) {
	for _, s := range g.Snapshot() {
		keys = append(keys, s.Key)
	}
	return keys
}

func TestHostsAreKeptApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := breaker.PerHost(breaker.Config{})
		fail(t, of(g, "down"), 5)
		call(t, of(g, "up"), breaker.Success)
		refused(t, of(g, "down"))
		assert.Equal(t, breaker.Open, g.State("down"))
		assert.Equal(t, breaker.Closed, g.State("up"))
		assert.Equal(t, breaker.Closed, g.State("never seen"))

		_, err := g.Allow("down")
		assert.ErrorContains(t, err, "breaker: down is open, next trial in ")
		assert.Equal(t, []breaker.Status{
			{
				Key: "down", State: breaker.Open, Since: time.Now(), RetryAt: time.Now().Add(refused(t, of(g, "down"))),
				Consecutive: 5, Known: 5, Failures: 5, Cooldown: 30 * time.Second, Cause: errDown,
			},
			{Key: "up", Since: time.Now(), Known: 1, Cooldown: 30 * time.Second},
		}, g.Snapshot())
	})
}

// 100,000 hosts come and go; what was open stays open.
func TestManyHostsAreBounded(t *testing.T) {
	for _, limit := range []int{0, 16} {
		g := breaker.PerHost(breaker.Config{MaxHosts: limit})
		var down []string
		for i := range 10 {
			down = append(down, fmt.Sprint("down-", i))
			fail(t, of(g, down[i]), 5)
		}
		n := 100_000
		if limit == 0 { // each costs a look at many more
			limit, n = 1024, 1500
		}
		for i := range n {
			call(t, of(g, fmt.Sprint("host-", i)), breaker.Outcome(i%3))
		}
		assert.Len(t, g.Snapshot(), limit)
		for _, host := range down {
			assert.Equal(t, breaker.Open, g.State(host))
		}
	}
}

func TestForgettingOrder(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(t *testing.T, g *breaker.Group)
		want   []string // after a call to host "new"
	}{
		{"the one used longest ago", func(t *testing.T, g *breaker.Group) {
			call(t, of(g, "a"), breaker.Success)
			call(t, of(g, "b"), breaker.Success)
		}, []string{"b", "new"}},
		{"the other was used again", func(t *testing.T, g *breaker.Group) {
			call(t, of(g, "a"), breaker.Success)
			call(t, of(g, "b"), breaker.Success)
			call(t, of(g, "a"), breaker.Success)
		}, []string{"a", "new"}},
		{"an idle one before a busy one", func(t *testing.T, g *breaker.Group) {
			permit(t, of(g, "a"))
			call(t, of(g, "b"), breaker.Success)
		}, []string{"a", "new"}},
		{"a settled one is idle", func(t *testing.T, g *breaker.Group) {
			p := permit(t, of(g, "a"))
			permit(t, of(g, "b"))
			p.Done(breaker.Neutral, nil)
			p.Done(breaker.Neutral, nil)
		}, []string{"b", "new"}},
		{"a refused call isn't in progress", func(t *testing.T, g *breaker.Group) {
			permit(t, of(g, "a"))
			fail(t, of(g, "b"), 5)
			cooled(t, of(g, "b"))
			call(t, of(g, "b"), breaker.Success)
		}, []string{"a", "new"}},
		{"a closed one before an open one", func(t *testing.T, g *breaker.Group) {
			fail(t, of(g, "a"), 5)
			call(t, of(g, "b"), breaker.Success)
		}, []string{"a", "new"}},
		{"a busy one before an open one", func(t *testing.T, g *breaker.Group) {
			fail(t, of(g, "a"), 5)
			permit(t, of(g, "b"))
		}, []string{"a", "new"}},
		{"a closed one before a half-open one", func(t *testing.T, g *breaker.Group) {
			fail(t, of(g, "a"), 5)
			cooled(t, of(g, "a"))
			call(t, of(g, "a"), breaker.Neutral)
			call(t, of(g, "b"), breaker.Success)
		}, []string{"a", "new"}},
		{"one that is closed again", func(t *testing.T, g *breaker.Group) {
			fail(t, of(g, "a"), 5)
			cooled(t, of(g, "a"))
			call(t, of(g, "a"), breaker.Success)
			fail(t, of(g, "b"), 5)
		}, []string{"b", "new"}},
		{"all open: the one nearest to its trial", func(t *testing.T, g *breaker.Group) {
			fail(t, of(g, "a"), 5)
			cooled(t, of(g, "a"))
			call(t, of(g, "a"), breaker.Failure) // for a minute at least
			fail(t, of(g, "b"), 5)               // for 45 s at most
		}, []string{"a", "new"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := breaker.PerHost(breaker.Config{MaxHosts: 2})
				tt.before(t, g)
				call(t, of(g, "new"), breaker.Success)
				assert.Equal(t, tt.want, keys(g))
			})
		})
	}
}

// Hosts that come once go in the order in which they came.
func TestForgettingInOrder(t *testing.T) {
	g := breaker.PerHost(breaker.Config{MaxHosts: 3})
	host := func(i int) string { return fmt.Sprintf("host-%03d", i) }
	for i := range 100 {
		call(t, of(g, host(i)), breaker.Success)
		if i >= 2 {
			require.Equal(t, []string{host(i - 2), host(i - 1), host(i)}, keys(g))
		}
	}
}

// A host that is forgotten while open is closed from then on, and OnChange is
// told so.
func TestForgettingAnOpenOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []breaker.Change
		g := breaker.PerHost(breaker.Config{MaxHosts: 1, OnChange: func(c breaker.Change) { got = append(got, c) }})
		fail(t, of(g, "a"), 5)
		cooled(t, of(g, "a"))
		trial := permit(t, of(g, "a"))
		time.Sleep(time.Second)
		got = nil
		call(t, of(g, "b"), breaker.Success)
		assert.Equal(t, []breaker.Change{{Key: "a", From: breaker.HalfOpen, To: breaker.Closed, At: time.Now()}}, got)
		assert.Equal(t, breaker.Closed, g.State("a"))

		trial.Done(breaker.Failure, errDown)
		assert.Equal(t, breaker.Closed, g.State("a"), "its trial is forgotten too")
		assert.Len(t, got, 1)
	})
}

// The calls in progress to a host that is forgotten count for nothing.
func TestForgettingABusyOne(t *testing.T) {
	g := breaker.PerHost(breaker.Config{MaxHosts: 1})
	var old []breaker.Permit
	for range 5 {
		old = append(old, permit(t, of(g, "a")))
	}
	permit(t, of(g, "b"))
	call(t, of(g, "a"), breaker.Success)
	for _, p := range old {
		p.Done(breaker.Failure, errDown)
	}
	assert.Equal(t, breaker.Closed, g.State("a"))
	assert.Equal(t, 1, g.Snapshot()[0].Known)
}

// While hosts come and go on all sides, one that is in use or open stays.
func TestChurn(t *testing.T) {
	g := breaker.PerHost(breaker.Config{MaxHosts: 16, Cooldown: 1})
	fail(t, of(g, "down"), 5)
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				p, err := g.Allow(fmt.Sprint("host-", i, "-", n%100))
				if err != nil {
					t.Error(err)
					return
				}
				p.Done(breaker.Success, nil)
			}
		})
	}
	for n := range 300 {
		host := fmt.Sprint("slow-", n)
		var permits []breaker.Permit
		for range 5 {
			permits = append(permits, permit(t, of(g, host)))
			runtime.Gosched()
		}
		for _, p := range permits {
			p.Done(breaker.Failure, errDown)
		}
		require.Equal(t, breaker.Open, g.State(host))
		for g.State(host) != breaker.Closed {
			if p, err := g.Allow(host); err == nil {
				p.Done(breaker.Success, nil)
			}
		}
	}
	stop.Store(true)
	wg.Wait()
	assert.Equal(t, breaker.Open, g.State("down"))
	assert.Len(t, g.Snapshot(), 16)
}
