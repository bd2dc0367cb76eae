//go:build !race

package breaker_test

// What an allowed call allocates. The race detector makes pools forget at
// random, so this isn't for it.

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

func TestAllowedCallAllocatesNothing(t *testing.T) {
	b := breaker.New(breaker.Config{})
	g := breaker.PerHost(breaker.Config{})
	host := string([]byte("api.example.com"))
	for _, allow := range []allower{b.Allow, func() (breaker.Permit, error) { return g.Allow(host) }} {
		for _, o := range []breaker.Outcome{breaker.Success, breaker.Neutral} {
			assert.Zero(t, testing.AllocsPerRun(1000, func() {
				p, _ := allow()
				p.Done(o, nil)
			}))
		}
	}
}
