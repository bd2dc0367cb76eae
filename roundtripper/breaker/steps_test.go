package breaker_test

// The steps that the tests of this package take.

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

var errDown = errors.New("connection refused")

// allower is a Breaker, or one host of a Group.
type allower func() (breaker.Permit, error)

func of(g *breaker.Group, host string) allower {
	return func() (breaker.Permit, error) { return g.Allow(host) }
}

// call makes a call that must be allowed.
func call(t *testing.T, allow allower, o breaker.Outcome) {
	t.Helper()
	permit(t, allow).Done(o, errDown)
}

func permit(t *testing.T, allow allower) breaker.Permit {
	t.Helper()
	p, err := allow()
	require.NoError(t, err)
	return p
}

// refused makes a call that must be refused, and returns how long it is to
// wait.
func refused(t *testing.T, allow allower) time.Duration {
	t.Helper()
	p, err := allow()
	refusal, ok := errors.AsType[*breaker.OpenError](err)
	require.True(t, ok, "allowed, or another error: %v", err)
	require.Equal(t, breaker.Permit{}, p)
	require.Positive(t, refusal.RetryIn)
	return refusal.RetryIn
}

// fail makes n calls that fail.
func fail(t *testing.T, allow allower, n int) {
	t.Helper()
	for range n {
		call(t, allow, breaker.Failure)
	}
}

// cooled sleeps through the cooldown, and not a nanosecond longer.
func cooled(t *testing.T, allow allower) {
	t.Helper()
	time.Sleep(refused(t, allow) - 1)
	time.Sleep(refused(t, allow))
}
