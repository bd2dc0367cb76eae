package backoff_test

// Sleep, to the nanosecond. A goroutine left behind would keep its bubble from
// ending, and fail the test.

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/backoff"
)

var errShutdown = errors.New("shutting down")

// sleep runs Sleep, and wants it to return want after exactly elapsed.
func sleep(t *testing.T, ctx context.Context, d time.Duration, want error, elapsed time.Duration) {
	t.Helper()
	start := time.Now()
	if err := backoff.Sleep(ctx, d); err != want {
		t.Errorf("Sleep(%v) = %v, want %v", d, err, want)
	}
	if got := time.Since(start); got != elapsed {
		t.Errorf("Sleep(%v) took %v, want %v", d, got, elapsed)
	}
}

func TestSleepWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, d := range []time.Duration{1, 300 * time.Microsecond, time.Second, 1000 * time.Hour} {
			sleep(t, ctx, d, nil, d)
			sleep(t, context.Background(), d, nil, d)
		}
	})
}

func TestSleepWithoutAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{0, -1, -time.Hour, math.MinInt64} {
			sleep(t, t.Context(), d, nil, 0)
		}
	})
}

// gojek/heimdall#145: a wait that did not hear the caller give up.
func TestSleepEndsWithItsContext(t *testing.T) {
	after := func(d time.Duration, end func()) { time.AfterFunc(d, end) }
	for _, test := range []struct {
		name string
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		{"canceled", func(parent context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(parent)
			after(50*time.Millisecond, cancel)
			return ctx, cancel
		}, context.Canceled},
		{"canceled with a cause", func(parent context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(parent)
			after(50*time.Millisecond, func() { cancel(errShutdown) })
			return ctx, func() { cancel(nil) }
		}, errShutdown},
		{"parent canceled with a cause", func(parent context.Context) (context.Context, context.CancelFunc) {
			outer, cancelOuter := context.WithCancelCause(parent)
			ctx, cancel := context.WithCancel(outer)
			after(50*time.Millisecond, func() { cancelOuter(errShutdown) })
			return ctx, cancel
		}, errShutdown},
		{"deadline", func(parent context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(parent, 50*time.Millisecond)
		}, context.DeadlineExceeded},
		{"deadline with a cause", func(parent context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(parent, 50*time.Millisecond, errShutdown)
		}, errShutdown},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := test.ctx(t.Context())
				defer cancel()
				sleep(t, ctx, 10*time.Second, test.want, 50*time.Millisecond)
				// It has ended by now, so no wait begins, not even one of no length.
				for _, d := range []time.Duration{time.Hour, 1, 0, -1} {
					sleep(t, ctx, d, test.want, 0)
				}
			})
		})
	}
}

// The wait ends before the context does: that the context ends later is no matter.
func TestSleepBeforeTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		sleep(t, ctx, time.Second-1, nil, time.Second-1)
	})
}

func TestSleepManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		const sleepers = 1000
		results := make(chan error, sleepers)
		for range sleepers {
			go func() { results <- backoff.Sleep(ctx, time.Hour) }()
		}
		synctest.Wait()
		start := time.Now()
		cancel(errShutdown)
		for range sleepers {
			if err := <-results; err != errShutdown {
				t.Fatalf("got %v, want %v", err, errShutdown)
			}
		}
		if got := time.Since(start); got != 0 {
			t.Errorf("the last one returned %v after the cancellation", got)
		}
	})
}

func TestSleepAllocatesNothingWithoutAWait(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	live, cancel := context.WithCancel(context.Background())
	defer cancel()
	if got := testing.AllocsPerRun(100, func() {
		backoff.Sleep(live, 0)
		backoff.Sleep(ended, time.Hour)
	}); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}
