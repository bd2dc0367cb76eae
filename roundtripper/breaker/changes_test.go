package breaker_test

// OnChange: each change once, in order, one at a time, and free to call back.

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

func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got, want []breaker.Change
		g := breaker.PerHost(breaker.Config{OnChange: func(c breaker.Change) { got = append(got, c) }})
		allow := of(g, "h")
		then := func(from, to breaker.State, cause error) {
			want = append(want, breaker.Change{Key: "h", From: from, To: to, At: time.Now(), Cause: cause})
			assert.Equal(t, want, got)
		}
		fail(t, allow, 5)
		then(breaker.Closed, breaker.Open, errDown)

		cooled(t, allow)
		p := permit(t, allow)
		then(breaker.Open, breaker.HalfOpen, nil)
		time.Sleep(time.Second)
		p.Done(breaker.Failure, errDown)
		then(breaker.HalfOpen, breaker.Open, errDown)

		cooled(t, allow)
		p = permit(t, allow)
		then(breaker.Open, breaker.HalfOpen, nil)
		p.Done(breaker.Neutral, nil)
		permit(t, allow)
		time.Sleep(30 * time.Second)
		p = permit(t, allow) // takes over
		p.Done(breaker.Success, nil)
		then(breaker.HalfOpen, breaker.Closed, nil)
	})
}

// within fails the test if f hangs, as it does when a callback deadlocks.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		buf := make([]byte, 1<<16)
		t.Fatalf("deadlock\n%s", buf[:runtime.Stack(buf, true)])
	}
}

func TestCallbackMayCallBack(t *testing.T) {
	var g *breaker.Group
	var got []string
	g = breaker.PerHost(breaker.Config{Consecutive: 1, Cooldown: 1, MaxHosts: 3, OnChange: func(c breaker.Change) {
		got = append(got, fmt.Sprintf("%s %v", c.Key, c.To))
		g.State(c.Key)
		g.Snapshot()
		if c.Key == "a" && c.To == breaker.Open {
			// Changes made here are delivered once this one is done with.
			fail(t, of(g, "b"), 1)
			got = append(got, "a is done with")
			for g.State("a") == breaker.Open {
				if p, err := g.Allow("a"); err == nil {
					p.Done(breaker.Success, nil)
				}
			}
		}
		for i := range 10 { // makes the group forget
			call(t, of(g, fmt.Sprint("other-", i)), breaker.Success)
		}
	}})
	within(t, func() { fail(t, of(g, "a"), 1) })
	assert.Equal(t, []string{"a open", "a is done with", "b open", "a half-open", "a closed"}, got)
}

func TestBreakerCallbackMayCallBack(t *testing.T) {
	var b *breaker.Breaker
	var got []breaker.State
	b = breaker.New(breaker.Config{Consecutive: 1, Cooldown: 1, OnChange: func(c breaker.Change) {
		got = append(got, c.To)
		b.State()
		b.Status()
		if p, err := b.Allow(); err == nil {
			p.Done(breaker.Neutral, nil)
		}
	}})
	within(t, func() { fail(t, b.Allow, 1) })
	require.NotEmpty(t, got)
	assert.Equal(t, breaker.Open, got[0])
}

// Whoever finds a delivery under way doesn't wait for it.
func TestSlowCallbackHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var got []string
		g := breaker.PerHost(breaker.Config{OnChange: func(c breaker.Change) {
			time.Sleep(time.Minute)
			got = append(got, c.Key)
		}})
		var wg sync.WaitGroup
		wg.Go(func() { fail(t, of(g, "a"), 5) })
		synctest.Wait()
		fail(t, of(g, "b"), 5)
		refused(t, of(g, "a"))
		refused(t, of(g, "b"))
		assert.Equal(t, start, time.Now())
		wg.Wait()
		assert.Equal(t, []string{"a", "b"}, got)
		assert.Equal(t, start.Add(2*time.Minute), time.Now())
	})
}

// Per host, each change starts where the one before ended; there is never more
// than one at a time; and the last one is where things stand.
func TestChangesAreOrdered(t *testing.T) {
	hosts := []string{"a", "b", "c", "d"}
	last := map[string]breaker.State{}
	var inside atomic.Int32
	var total int
	g := breaker.PerHost(breaker.Config{Consecutive: 2, Cooldown: 1, OnChange: func(c breaker.Change) {
		assert.Equal(t, int32(1), inside.Add(1))
		assert.Equal(t, last[c.Key], c.From)
		last[c.Key] = c.To
		total++
		runtime.Gosched()
		inside.Add(-1)
	}})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 2000 {
				if p, err := g.Allow(hosts[(n+i)%len(hosts)]); err == nil {
					p.Done(breaker.Outcome(n*(i+1)/3%3), errDown)
				}
			}
		})
	}
	wg.Wait()
	assert.Greater(t, total, 10)
	for _, host := range hosts {
		assert.Equal(t, g.State(host), last[host], host)
	}
}

// A callback that panics, or ends its goroutine, does so to whoever delivers;
// the breaker goes on, and so do the changes.
func TestCallbackThatPanics(t *testing.T) {
	for name, misbehave := range map[string]func(){
		"panic":  func() { panic("from OnChange") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []breaker.State
				var b *breaker.Breaker
				bad := true
				b = breaker.New(breaker.Config{Consecutive: 1, OnChange: func(c breaker.Change) {
					got = append(got, c.To)
					if bad {
						misbehave()
					}
				}})
				// alone runs f where it may panic, and says whether it got through.
				alone := func(f func()) (through bool) {
					var wg sync.WaitGroup
					wg.Go(func() {
						defer func() { _ = recover() }()
						f()
						through = true
					})
					wg.Wait()
					return through
				}

				p := permit(t, b.Allow)
				assert.False(t, alone(func() { p.Done(breaker.Failure, errDown) }))
				assert.Equal(t, breaker.Open, b.State())
				cooled(t, b.Allow)
				// The trial whose Allow panicked never began: its place is free.
				assert.False(t, alone(func() { _, _ = b.Allow() }))
				p = permit(t, b.Allow)
				assert.False(t, alone(func() { p.Done(breaker.Success, nil) }))
				assert.Equal(t, breaker.Closed, b.State())

				bad = false
				fail(t, b.Allow, 1)
				assert.Equal(t, []breaker.State{breaker.Open, breaker.HalfOpen, breaker.Closed, breaker.Open}, got)
			})
		})
	}
}

// The changes behind one whose callback panics are delivered all the same.
func TestNoChangeIsLostToAPanic(t *testing.T) {
	var g *breaker.Group
	var got []string
	g = breaker.PerHost(breaker.Config{Consecutive: 1, OnChange: func(c breaker.Change) {
		got = append(got, c.Key)
		if c.Key == "a" {
			fail(t, of(g, "b"), 1)
			fail(t, of(g, "c"), 1)
			panic("from OnChange")
		}
	}})
	assert.PanicsWithValue(t, "from OnChange", func() { fail(t, of(g, "a"), 1) })
	assert.Equal(t, []string{"a", "b", "c"}, got)
}
