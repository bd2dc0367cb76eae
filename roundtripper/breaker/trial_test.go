package breaker_test

// The trial: one at a time, whatever becomes of it.

import (
	"context"
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

// halfOpen returns a breaker whose next call is the trial.
func halfOpen(t *testing.T, c breaker.Config) *breaker.Breaker {
	t.Helper()
	b := breaker.New(c)
	fail(t, b.Allow, 5)
	cooled(t, b.Allow)
	require.Equal(t, breaker.Open, b.State(), "it reads as open until a trial begins")
	return b
}

func TestOneOfAHundredIsTheTrial(t *testing.T) {
	for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure} {
		synctest.Test(t, func(t *testing.T) {
			b := halfOpen(t, breaker.Config{})
			var wg sync.WaitGroup
			var calls atomic.Int64
			for range 100 {
				wg.Go(func() {
					p, err := b.Allow()
					if err != nil {
						return
					}
					calls.Add(1)
					time.Sleep(time.Second)
					p.Done(o, errDown)
				})
			}
			synctest.Wait()
			assert.Equal(t, breaker.HalfOpen, b.State())
			assert.Equal(t, 30*time.Second, refused(t, b.Allow), "the rest of the lease")
			wg.Wait()
			assert.Equal(t, int64(1), calls.Load())
			if o == breaker.Success {
				assert.Equal(t, breaker.Closed, b.State())
			} else {
				assert.Equal(t, breaker.Open, b.State())
			}
		})
	}
}

// However a trial ends without a result, the next caller has its place at
// once; nothing opens, closes or grows.
func TestTrialWithoutResult(t *testing.T) {
	for name, attempt := range map[string]func(p breaker.Permit){
		"cancelled": func(p breaker.Permit) { p.Done(breaker.Neutral, context.Canceled) },
		"panic": func(p breaker.Permit) {
			defer func() { _ = recover() }()
			defer p.Done(breaker.Neutral, nil)
			panic("in the transport")
		},
		"goexit": func(p breaker.Permit) {
			var wg sync.WaitGroup
			wg.Go(func() {
				defer p.Done(breaker.Neutral, nil)
				runtime.Goexit()
			})
			wg.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := halfOpen(t, breaker.Config{})
				for range 3 {
					attempt(permit(t, b.Allow))
					assert.Equal(t, breaker.HalfOpen, b.State())
					assert.Equal(t, 30*time.Second, b.Status().Cooldown)
				}
				p := permit(t, b.Allow)
				refused(t, b.Allow)
				p.Done(breaker.Failure, errDown)
				assert.Equal(t, breaker.Open, b.State())
				assert.Equal(t, 60*time.Second, b.Status().Cooldown)
			})
		})
	}
}

// A trial that hangs has its place until its lease runs out.
func TestHungTrial(t *testing.T) {
	for _, late := range []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Neutral} {
		synctest.Test(t, func(t *testing.T) {
			b := halfOpen(t, breaker.Config{TrialLease: 10 * time.Second})
			hung := permit(t, b.Allow)
			assert.Equal(t, 10*time.Second, refused(t, b.Allow))
			time.Sleep(10*time.Second - 1)
			assert.Equal(t, time.Duration(1), refused(t, b.Allow))
			time.Sleep(time.Nanosecond)
			next := permit(t, b.Allow)

			before := b.Status()
			hung.Done(late, errDown)
			assert.Equal(t, before, b.Status(), "the late result counts for nothing")
			refused(t, b.Allow)

			next.Done(breaker.Success, nil)
			assert.Equal(t, breaker.Closed, b.State())
		})
	}
}

// A result that comes after the lease is late even if nobody has taken over.
func TestLateTrial(t *testing.T) {
	for _, late := range []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Neutral} {
		synctest.Test(t, func(t *testing.T) {
			b := halfOpen(t, breaker.Config{})
			hung := permit(t, b.Allow)
			time.Sleep(30 * time.Second)
			before := b.Status()
			hung.Done(late, errDown)
			assert.Equal(t, before, b.Status())
			call(t, b.Allow, breaker.Success)
			assert.Equal(t, breaker.Closed, b.State())
		})
	}
}

func TestTrialJustInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t, breaker.Config{})
		p := permit(t, b.Allow)
		time.Sleep(30*time.Second - 1)
		p.Done(breaker.Success, nil)
		assert.Equal(t, breaker.Closed, b.State())
	})
}

// Results of calls that began before the breaker opened count for nothing
// after it, whatever they are and whatever state it is in.
func TestSlowResultsFromBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Config{})
		var slow []breaker.Permit
		for range 40 {
			slow = append(slow, permit(t, b.Allow))
		}
		answer := func() {
			t.Helper()
			before := b.Status()
			for _, p := range slow[:10] {
				p.Done(breaker.Failure, errDown)
			}
			slow[10].Done(breaker.Success, nil)
			slow = slow[11:]
			assert.Equal(t, before, b.Status())
		}
		fail(t, b.Allow, 5)
		answer()
		cooled(t, b.Allow)
		p := permit(t, b.Allow)
		answer()
		p.Done(breaker.Success, nil)
		answer()
		assert.Equal(t, breaker.Closed, b.State())
	})
}

// Of failures that come in at the same time one opens the breaker, and the
// others come too late to be taken for that of a trial.
func TestFailuresAtOnce(t *testing.T) {
	for range 2000 {
		b := breaker.New(breaker.Config{Consecutive: 1})
		var permits [4]breaker.Permit
		for i := range permits {
			permits[i] = permit(t, b.Allow)
		}
		var wg sync.WaitGroup
		for _, p := range permits {
			wg.Go(func() { p.Done(breaker.Failure, errDown) })
		}
		wg.Wait()
		require.Equal(t, 30*time.Second, b.Status().Cooldown)
		require.Equal(t, 1, b.Status().Consecutive)
	}
}

// A result from before a trial can't close the breaker either.
func TestTrialOfAnEarlierTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t, breaker.Config{TrialLease: time.Second})
		first := permit(t, b.Allow)
		time.Sleep(time.Second)
		call(t, b.Allow, breaker.Failure)
		first.Done(breaker.Success, nil)
		assert.Equal(t, breaker.Open, b.State())
		cooled(t, b.Allow)
		permit(t, b.Allow)
		first.Done(breaker.Success, nil)
		assert.Equal(t, breaker.HalfOpen, b.State())
	})
}
