package breaker_test

// When a breaker opens, for how long, and when it doesn't.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

func TestOpens(t *testing.T) {
	// Results: . success, x failure, - neutral. The last one is what opens it.
	for _, tt := range []struct {
		name    string
		config  breaker.Config
		results string
		opens   bool
	}{
		{"five in a row", breaker.Config{}, "xxxxx", true},
		{"four in a row", breaker.Config{}, "xxxx", false},
		{"four in a row, again and again", breaker.Config{Ratio: 2}, "xxxx.xxxx.xxxx.xxxx.xxxx.xxxx.xxxx", false},
		{"neutral doesn't break a row", breaker.Config{}, "xx-x--x-x", true},
		{"neutral doesn't make a row", breaker.Config{}, "xxxx----------", false},
		{"half of twenty", breaker.Config{}, "x.x.x.x.x.x.x.x.x..x", true},
		{"half of nineteen", breaker.Config{}, "x.x.x.x.x.x.x.x.x.x", false},
		{"half of twenty that begin well", breaker.Config{}, "..x.x.x.x.x.x.x.x.xx", true},
		{"a success doesn't open it", breaker.Config{}, "x.x.x.x.x.x.x.x.x.x.", false},
		{"but the failure after it does", breaker.Config{}, "x.x.x.x.x.x.x.x.x.x.x", true},
		{"nine of the last twenty", breaker.Config{}, "x.x.x.x.x..x.x..x..x", false},
		{"neutral isn't known", breaker.Config{}, "x.x.x.x.x.x.x.x.x-x", false},
		{"old results leave the window", breaker.Config{Consecutive: 9}, "xxxxxxxx" + "...................." + "x", false},
		{"a result leaves the window once", breaker.Config{Consecutive: 9, Window: 4}, "x" + dots(9) + "x.x", true},
		{"one in a row", breaker.Config{Consecutive: 1}, "x", true},
		{"window of one", breaker.Config{Consecutive: 9, Window: 1}, "x", true},
		{"all of three", breaker.Config{Consecutive: 9, Window: 3, Ratio: 1}, ".xxx", true},
		{"all but one of three", breaker.Config{Consecutive: 9, Window: 3, Ratio: 1}, ".xx.xx.x", false},
		{"a tenth of thirty", breaker.Config{Window: 30, Ratio: 0.1}, "x............x...............x", true},
		{"less than that", breaker.Config{Window: 30, Ratio: 0.1}, "x............................x", false},
		{"a window of more than one word", breaker.Config{Window: 100, Ratio: 0.03}, "x" + dots(97) + "xx", true},
		{"which forgets too", breaker.Config{Window: 100, Ratio: 0.03}, "x" + dots(98) + "x" + dots(10) + "x", false},
		{"nonsense is the default", breaker.Config{Consecutive: -1, Window: -1, Ratio: math.NaN(), Cooldown: -1, MaxCooldown: -1, TrialLease: -1, MaxHosts: -1}, "xxxxx", true},
		{"nonsense is the default: window", breaker.Config{Consecutive: -1, Window: -1, Ratio: math.NaN()}, "x.x.x.x.x.x.x.x.x..x", true},
		{"negative ratio", breaker.Config{Ratio: -0.1}, "..................x.", false},
		{"infinite ratio", breaker.Config{Ratio: math.Inf(1)}, "x.x.x.x.x.x.x.x.x.x.x.x.x.x", false},
		{"absurd window", breaker.Config{Window: math.MaxInt}, "x.x.x.x.x.x.x.x.x.x.x.x.x.x", false},
		{"any other outcome is neutral", breaker.Config{Consecutive: 2}, "x????", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := breaker.New(tt.config)
			for i, r := range tt.results {
				require.Equal(t, breaker.Closed, b.State(), "before result %d", i)
				call(t, b.Allow, map[rune]breaker.Outcome{'.': breaker.Success, 'x': breaker.Failure, '-': breaker.Neutral, '?': 7}[r])
			}
			want := breaker.Closed
			if tt.opens {
				want = breaker.Open
			}
			assert.Equal(t, want, b.State())
		})
	}
}

func dots(n int) string { return strings.Repeat(".", n) }

// Failures that take longer than any interval still add up.
func TestSlowFailuresAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Config{})
		for range 5 {
			p := permit(t, b.Allow)
			time.Sleep(time.Minute)
			p.Done(breaker.Failure, errDown)
		}
		assert.Equal(t, breaker.Open, b.State())
	})
}

// A hundred failures among 10,000 calls are no outage.
func TestHarmlessBlips(t *testing.T) {
	b := breaker.New(breaker.Config{})
	for i := range 10_000 {
		// Runs of four every 400 calls: 1 %, never five.
		o := breaker.Success
		if i%400 < 4 {
			o = breaker.Failure
		}
		call(t, b.Allow, o)
	}
	assert.Equal(t, breaker.Closed, b.State())
}

// Twenty callers that gave up say nothing about the service.
func TestCancelledCallsAreNoFailures(t *testing.T) {
	b := breaker.New(breaker.Config{})
	for range 20 {
		permit(t, b.Allow).Done(breaker.Neutral, context.Canceled)
	}
	assert.Equal(t, breaker.Closed, b.State())
	s := b.Status()
	assert.Zero(t, s.Consecutive)
	assert.Zero(t, s.Known)
	assert.NoError(t, s.Cause)
}

// An open breaker refuses, says for how long, and learns nothing from it.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Config{})
		fail(t, b.Allow, 5)
		before := b.Status()
		for range 1000 {
			refused(t, b.Allow)
		}
		assert.Equal(t, before, b.Status())

		left := refused(t, b.Allow)
		time.Sleep(7 * time.Second)
		assert.Equal(t, left-7*time.Second, refused(t, b.Allow))

		_, err := b.Allow()
		refusal, _ := errors.AsType[*breaker.OpenError](err)
		assert.Equal(t, &breaker.OpenError{RetryIn: left - 7*time.Second, Cause: errDown}, refusal)
	})
}

// 30 s, doubled by each failed trial up to 5 min, each spread by up to a half;
// one success sets it back.
func TestCooldownGrowsAndShrinks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config breaker.Config
		want   []time.Duration // in seconds
	}{
		{"defaults", breaker.Config{}, []time.Duration{30, 60, 120, 240, 300, 300, 300}},
		{"max below cooldown", breaker.Config{Cooldown: 10 * time.Second, MaxCooldown: time.Second}, []time.Duration{10, 10, 10}},
		{"cooldown above the standard max", breaker.Config{Cooldown: 600 * time.Second}, []time.Duration{600, 600}},
		{"max", breaker.Config{Cooldown: time.Second, MaxCooldown: 3 * time.Second}, []time.Duration{1, 2, 3, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := breaker.New(tt.config)
				for range 2 { // the second time round, closed in between
					fail(t, b.Allow, 5)
					for i, want := range tt.want {
						want *= time.Second
						if i > 0 {
							cooled(t, b.Allow)
							call(t, b.Allow, breaker.Failure)
						}
						assert.Equal(t, want, b.Status().Cooldown)
						got := refused(t, b.Allow)
						assert.GreaterOrEqual(t, got, want)
						assert.LessOrEqual(t, got, want+want/2)
					}
					cooled(t, b.Allow)
					call(t, b.Allow, breaker.Success)
					require.Equal(t, breaker.Closed, b.State())
				}
			})
		})
	}
}

func TestCooldownIsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var low, high int
		for range 1000 {
			b := breaker.New(breaker.Config{Consecutive: 1, Cooldown: time.Hour})
			fail(t, b.Allow, 1)
			switch got := refused(t, b.Allow); {
			case got < time.Hour || got > 90*time.Minute:
				t.Fatalf("cooldown of %v, want 1h to 1h30m", got)
			case got < 65*time.Minute:
				low++
			case got > 85*time.Minute:
				high++
			}
		}
		// A sixth each. One in 10^20 runs has fewer than 60.
		assert.Greater(t, low, 60)
		assert.Greater(t, high, 60)
	})
}

func TestExtremeDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := breaker.New(breaker.Config{Consecutive: 1, Cooldown: math.MaxInt64, MaxCooldown: math.MaxInt64, TrialLease: math.MaxInt64})
		least := breaker.New(breaker.Config{Consecutive: 1, Cooldown: 1, MaxCooldown: 1, TrialLease: 1})
		for range 2 {
			fail(t, most.Allow, 1)
			assert.Greater(t, refused(t, most.Allow), 70*365*24*time.Hour)
			fail(t, least.Allow, 1)
			assert.Equal(t, time.Duration(1), refused(t, least.Allow))
			time.Sleep(time.Until(most.Status().RetryAt))
		}
	})
}

// The failures that opened it don't count once it is closed.
func TestStartsCleanOnceClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Config{})
		fail(t, b.Allow, 5)
		cooled(t, b.Allow)
		call(t, b.Allow, breaker.Success)
		assert.Equal(t, breaker.Status{State: breaker.Closed, Since: time.Now(), Cooldown: 30 * time.Second}, b.Status())
		fail(t, b.Allow, 4)
		assert.Equal(t, breaker.Closed, b.State())
		fail(t, b.Allow, 1)
		assert.Equal(t, breaker.Open, b.State())
	})
}

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Config{})
		made := time.Now()
		time.Sleep(time.Hour)
		call(t, b.Allow, breaker.Success)
		fail(t, b.Allow, 2)
		want := breaker.Status{State: breaker.Closed, Since: made, Consecutive: 2, Known: 3, Failures: 2, Cooldown: 30 * time.Second, Cause: errDown}
		assert.Equal(t, want, b.Status())

		fail(t, b.Allow, 3)
		want.State, want.Since, want.Consecutive, want.Known, want.Failures = breaker.Open, time.Now(), 5, 6, 5
		want.RetryAt = time.Now().Add(refused(t, b.Allow))
		assert.Equal(t, want, b.Status())

		cooled(t, b.Allow)
		assert.Equal(t, want, b.Status(), "it reads as open until a trial begins")
		permit(t, b.Allow)
		want.State, want.Since, want.RetryAt = breaker.HalfOpen, time.Now(), time.Now().Add(30*time.Second)
		assert.Equal(t, want, b.Status())
	})
}

func TestNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	breakers := make([]*breaker.Breaker, 10_000)
	for i := range breakers {
		breakers[i] = breaker.New(breaker.Config{OnChange: func(breaker.Change) {}})
		fail(t, breakers[i].Allow, 5)
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before)
}

func TestOpenErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  breaker.OpenError
		want string
	}{
		{
			breaker.OpenError{Key: "https://api.example.com:443", RetryIn: 12345678 * time.Microsecond, Cause: errDown},
			"breaker: https://api.example.com:443 is open, next trial in 12.3s: connection refused",
		},
		{breaker.OpenError{Key: "h", RetryIn: 123456 * time.Microsecond}, "breaker: h is open, next trial in 123ms"},
		{breaker.OpenError{RetryIn: 90 * time.Second, Cause: errDown}, "breaker: open, next trial in 1m30s: connection refused"},
	} {
		assert.EqualError(t, &tt.err, tt.want)
	}
}

// The cause belongs to an earlier call: this one didn't time out.
func TestOpenErrorIsNotItsCause(t *testing.T) {
	b := breaker.New(breaker.Config{Consecutive: 1})
	permit(t, b.Allow).Done(breaker.Failure, context.DeadlineExceeded)
	_, err := b.Allow()
	assert.NotErrorIs(t, err, context.DeadlineExceeded)
	refusal, ok := errors.AsType[*breaker.OpenError](fmt.Errorf("call: %w", err))
	require.True(t, ok)
	assert.Equal(t, context.DeadlineExceeded, refusal.Cause)
}

func TestStateText(t *testing.T) {
	for s, want := range map[breaker.State]string{
		breaker.Closed: "closed", breaker.Open: "open", breaker.HalfOpen: "half-open", 9: "State(9)",
	} {
		assert.Equal(t, want, s.String())
	}
}
