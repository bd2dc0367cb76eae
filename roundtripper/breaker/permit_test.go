package breaker_test

// Permits: settled once, however often they are copied.

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

func TestDoneCountsOnce(t *testing.T) {
	b := breaker.New(breaker.Config{})
	p := permit(t, b.Allow)
	twin := p
	for range 10 {
		p.Done(breaker.Failure, errDown)
		twin.Done(breaker.Failure, errDown)
	}
	assert.Equal(t, 1, b.Status().Consecutive)
	assert.Equal(t, 1, b.Status().Known)
}

// The first Done is the one that counts, so a deferred one is harmless.
func TestFirstDoneCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t, breaker.Config{})
		func() {
			p := permit(t, b.Allow)
			defer p.Done(breaker.Neutral, nil)
			p.Done(breaker.Success, nil)
		}()
		assert.Equal(t, breaker.Closed, b.State())
	})
}

// A permit that was settled is nothing to the calls that come after it.
func TestOldPermitIsNotANewOne(t *testing.T) {
	b := breaker.New(breaker.Config{})
	var old []breaker.Permit
	for range 100 {
		p := permit(t, b.Allow)
		p.Done(breaker.Success, nil)
		old = append(old, p)
	}
	live := permit(t, b.Allow)
	for _, p := range old {
		p.Done(breaker.Failure, errDown)
	}
	assert.Zero(t, b.Status().Consecutive)
	live.Done(breaker.Failure, errDown)
	assert.Equal(t, 1, b.Status().Consecutive)
}

func TestZeroPermit(t *testing.T) {
	var p breaker.Permit
	p.Done(breaker.Failure, errDown)
}

// Of many goroutines that settle copies of one permit, one does.
func TestDoneCountsOnceForAll(t *testing.T) {
	b := breaker.New(breaker.Config{Consecutive: 1 << 30, Window: 1 << 20})
	const permits, goroutines = 500, 4
	all := make([]breaker.Permit, permits)
	for i := range all {
		all[i] = permit(t, b.Allow)
	}
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for _, p := range all {
				p.Done(breaker.Failure, errDown)
				// Others come and go on the same tickets.
				if other, err := b.Allow(); err == nil {
					other.Done(breaker.Neutral, nil)
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, permits, b.Status().Known)
}
