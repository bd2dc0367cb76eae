package offline_test

// The steps that the tests of this package take.

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

const host = "api.example.com"

// now enters where no wait is due.
func now(t *testing.T, g *offline.Gate) offline.Pass {
	t.Helper()
	p, ok := g.TryEnter(host)
	require.True(t, ok, "it would wait")
	return p
}

// lose returns a gate that has just gone offline.
func lose(t *testing.T, c offline.Config) *offline.Gate {
	t.Helper()
	g := offline.New(c)
	closeGate(t, g)
	return g
}

func closeGate(t *testing.T, g *offline.Gate) {
	t.Helper()
	for range 100 {
		if g.Offline() {
			return
		}
		now(t, g).Done(offline.NoPath)
	}
	require.Fail(t, "still online")
}

// probe waits for its turn, and says how long that took.
func probe(t *testing.T, g *offline.Gate) (offline.Pass, time.Duration) {
	t.Helper()
	start := time.Now()
	p, err := g.Enter(context.Background(), host)
	require.NoError(t, err)
	return p, time.Since(start)
}

func between(t *testing.T, low, high, got time.Duration, about string) {
	t.Helper()
	assert.GreaterOrEqual(t, got, low, about)
	assert.LessOrEqual(t, got, high, about)
}

// network is what attempts meet with. It counts them, and sees to it that no
// two are under way while it is down.
type network struct {
	takes time.Duration // an attempt

	mu     sync.Mutex
	up     bool
	inside int
	most   int             // under way at once, while down
	sends  []time.Duration // since start
	start  time.Time
}

func newNetwork(takes time.Duration) *network {
	return &network{takes: takes, start: time.Now()}
}

func (n *network) set(up bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up = up
}

// send makes an attempt.
func (n *network) send() offline.Verdict {
	n.mu.Lock()
	n.sends = append(n.sends, time.Since(n.start))
	n.inside++
	if !n.up {
		n.most = max(n.most, n.inside)
	}
	n.mu.Unlock()
	time.Sleep(n.takes)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.inside--
	if n.up {
		return offline.Reached
	}
	return offline.NoPath
}

// call makes attempts until one arrives or ctx ends, as a client with
// unlimited retries and no waits does. It returns how many were charged.
func call(ctx context.Context, g *offline.Gate, n *network) (charged int, err error) {
	for {
		p, err := g.Enter(ctx, host)
		if err != nil {
			return charged, err
		}
		v := n.send()
		if p.Done(v) {
			charged++
		}
		if v == offline.Reached {
			return charged, nil
		}
	}
}
