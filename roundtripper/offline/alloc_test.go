//go:build !race

package offline_test

// What an attempt allocates while all is well. The race detector makes pools
// forget at random, so this isn't for it.

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

func TestOnlineAllocatesNothing(t *testing.T) {
	for _, hint := range []offline.Hint{nil, says(true, true)} {
		g := offline.New(offline.Config{Hint: hint})
		ctx := t.Context()
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			p, _ := g.Enter(ctx, host)
			p.Done(offline.Reached)
		}))
	}
}
