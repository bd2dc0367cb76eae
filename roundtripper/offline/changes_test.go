package offline_test

// OnChange: each change once, in order, one at a time, and free to call back.

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []bool
		g := offline.New(offline.Config{OnChange: func(offline bool) { got = append(got, offline) }})
		now(t, g).Done(offline.Reached)
		now(t, g).Done(offline.NoPath)
		assert.Empty(t, got)
		closeGate(t, g)
		p, _ := probe(t, g)
		p.Done(offline.NoPath)
		assert.Equal(t, []bool{true}, got)
		p, _ = probe(t, g)
		p.Done(offline.Reached)
		now(t, g).Done(offline.Reached)
		assert.Equal(t, []bool{true, false}, got)
		closeGate(t, g)
		assert.Equal(t, []bool{true, false, true}, got)
	})
}

func TestCallbackMayCallBack(t *testing.T) {
	var g *offline.Gate
	var got []bool
	g = offline.New(offline.Config{Failures: 1, MaxProbe: 1, OnChange: func(is bool) {
		got = append(got, is)
		g.Offline()
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if p, err := g.Enter(ctx, host); err == nil && len(got) < 4 {
			if is {
				p.Done(offline.Reached)
			} else {
				p.Done(offline.NoPath)
			}
		}
	}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		now(t, g).Done(offline.NoPath)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		buf := make([]byte, 1<<16)
		t.Fatalf("deadlock\n%s", buf[:runtime.Stack(buf, true)])
	}
	assert.Equal(t, []bool{true, false, true, false}, got)
}

// Whoever finds a delivery under way doesn't wait for it.
func TestSlowCallbackHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []bool
		g := offline.New(offline.Config{OnChange: func(is bool) {
			time.Sleep(time.Minute)
			got = append(got, is)
		}})
		straggler := now(t, g)
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 3 {
				now(t, g).Done(offline.NoPath)
			}
		})
		synctest.Wait()
		straggler.Done(offline.Reached)
		now(t, g).Done(offline.Reached)
		assert.Equal(t, start, time.Now())
		wg.Wait()
		assert.Equal(t, []bool{true, false}, got)
	})
}

// A callback that panics, or ends its goroutine, does so to whoever delivers;
// the gate goes on.
func TestCallbackThatPanics(t *testing.T) {
	for name, misbehave := range map[string]func(){
		"panic":  func() { panic("from OnChange") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []bool
				var straggler offline.Pass
				g := offline.New(offline.Config{OnChange: func(is bool) {
					got = append(got, is)
					if is {
						straggler.Done(offline.Reached) // a change behind this one
					}
					misbehave()
				}})
				straggler = now(t, g)
				through := false
				var wg sync.WaitGroup
				wg.Go(func() {
					defer func() { _ = recover() }()
					closeGate(t, g)
					through = true
				})
				wg.Wait()
				assert.False(t, through)
				assert.Equal(t, []bool{true, false}, got, "none is lost")
				now(t, g).Done(offline.Reached)
			})
		})
	}
}
