package offline_test

// The waits: how they end.

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

// lost returns a gate that stays closed: its one probe is under way for ever.
func lost(t *testing.T, c offline.Config) *offline.Gate {
	t.Helper()
	c.Lease = 1000 * time.Hour
	g := lose(t, c)
	probe(t, g)
	return g
}

func TestWaitEnds(t *testing.T) {
	cause := errors.New("shutting down")
	for _, tt := range []struct {
		name string
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		max  time.Duration
		want error
		wait time.Duration
	}{
		{"max wait", nop, 0, offline.ErrOffline, 10 * time.Minute},
		{"max wait, set", nop, time.Minute, offline.ErrOffline, time.Minute},
		{"max wait, negative", nop, -1, offline.ErrOffline, 10 * time.Minute},
		{"deadline", timeout(time.Second), 0, context.DeadlineExceeded, time.Second},
		{"a late deadline", timeout(time.Hour), 0, context.DeadlineExceeded, time.Hour},
		{"a deadline's cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Hour, cause)
		}, 0, cause, time.Hour},
		{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(cause) })
			return ctx, func() { cancel(nil) }
		}, 0, cause, time.Second},
		{"dead on arrival", timeout(0), 0, context.DeadlineExceeded, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := lost(t, offline.Config{MaxWait: tt.max})
				ctx, cancel := tt.ctx(context.Background())
				defer cancel()
				start := time.Now()
				p, err := g.Enter(ctx, host)
				assert.Equal(t, tt.want, err)
				assert.Equal(t, tt.wait, time.Since(start))
				assert.Equal(t, offline.Pass{}, p)
			})
		})
	}
}

func nop(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }

func timeout(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

// A call whose context is dead doesn't waste a turn.
func TestDeadCallTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lose(t, offline.Config{})
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := g.Enter(ctx, host)
		assert.Equal(t, context.Canceled, err)
		now(t, g)
	})
}

// A call that enters again and again keeps account of its waits.
func TestMaxWaitInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lose(t, offline.Config{})
		start := time.Now()
		var waited time.Duration
		for {
			ctx, cancel := context.WithTimeoutCause(t.Context(), g.MaxWait()-waited, offline.ErrOffline)
			began := time.Now()
			p, err := g.Enter(ctx, host)
			waited += time.Since(began)
			cancel()
			if err != nil {
				assert.Equal(t, offline.ErrOffline, err)
				break
			}
			assert.False(t, p.Done(offline.NoPath))
		}
		assert.Equal(t, 10*time.Minute, time.Since(start))
	})
}

// A thousand waiters leave evenly over Resume; who comes later goes at once.
func TestResume(t *testing.T) {
	for _, resume := range []time.Duration{0, -1, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			g := lose(t, offline.Config{Resume: resume})
			if resume <= 0 {
				resume = 2 * time.Second
			}
			p, _ := probe(t, g)
			start := time.Now()
			var wg sync.WaitGroup
			waits := make([]time.Duration, 1000)
			for i := range waits {
				wg.Go(func() {
					_, waits[i] = probe(t, g)
				})
			}
			synctest.Wait()
			p.Done(offline.Reached)
			synctest.Wait()
			for range 100 {
				now(t, g).Done(offline.Reached)
			}
			assert.Equal(t, start, time.Now())
			wg.Wait()
			slices.Sort(waits)
			between(t, 0, resume, waits[999], "the last")
			for i := 100; i < 1000; i += 100 {
				want := resume * time.Duration(i) / 1000
				between(t, want-resume/8, want+resume/8, waits[i], "evenly") // eight sigmas
			}
		})
	}
}

// The gate closes again while waiters are about to leave: they wait on, and
// leave spread once more.
func TestClosesWhileResuming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lose(t, offline.Config{})
		p, _ := probe(t, g)
		start := time.Now()
		var wg sync.WaitGroup
		var mu sync.Mutex
		var left []time.Duration
		for range 200 {
			wg.Go(func() {
				p, err := g.Enter(t.Context(), host)
				assert.NoError(t, err)
				mu.Lock()
				left = append(left, time.Since(start))
				mu.Unlock()
				p.Done(offline.Unknown)
			})
		}
		synctest.Wait()
		p.Done(offline.Reached)
		time.Sleep(time.Second)
		closeGate(t, g)
		hung, _ := probe(t, g) // first in the queue
		mu.Lock()
		early := len(left)
		mu.Unlock()
		assert.InDelta(t, 100, early, 60, "left before it closed")
		time.Sleep(9 * time.Second)
		mu.Lock()
		assert.Len(t, left, early, "nobody leaves while it is closed")
		mu.Unlock()
		hung.Done(offline.Reached)
		reopened := time.Since(start)
		wg.Wait()
		assert.Len(t, left, 200)
		between(t, reopened, reopened+time.Second, left[early], "the first to leave")
		between(t, reopened+time.Second, reopened+2*time.Second, left[199], "the last to leave")
	})
}

// Calls come, give up, hang and fail at random while the network comes and
// goes. Once it stays, everybody gets through.
func TestNobodyIsLeftBehind(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			g := offline.New(offline.Config{Failures: 2, MaxProbe: 4 * time.Second, Lease: time.Second})
			var up atomic.Bool
			var wg sync.WaitGroup
			attempt := func() offline.Verdict {
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(20*time.Second))
				defer cancel()
				p, err := g.Enter(ctx, host)
				if err != nil {
					return offline.Unknown
				}
				v := offline.NoPath
				time.Sleep(rand.N(1500 * time.Millisecond))
				switch {
				case rand.IntN(4) == 0:
					v = offline.Unknown
				case up.Load():
					v = offline.Reached
				}
				if rand.IntN(10) > 0 { // else it is lost
					p.Done(v)
				}
				return v
			}
			for range 50 {
				wg.Go(func() {
					for attempt() != offline.Reached || rand.IntN(20) > 0 {
					}
				})
			}
			for i := range 11 {
				time.Sleep(rand.N(time.Minute))
				up.Store(i%2 == 0)
			}
			start := time.Now()
			wg.Wait()
			require.Less(t, time.Since(start), 30*time.Minute)
			p, _ := probe(t, g)
			p.Done(offline.Reached)
			require.False(t, g.Offline())
		})
	}
}
