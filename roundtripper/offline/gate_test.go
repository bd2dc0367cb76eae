package offline_test

// When the gate closes and opens, and who is charged.

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

func TestCloses(t *testing.T) {
	// Attempts: . reached, x no path, - unknown.
	for _, tt := range []struct {
		failures int
		attempts string
		charged  string // y or n for each
		offline  bool
	}{
		{0, "xx", "yy", false},
		{0, "xxx", "yyn", true},
		{-1, "xxx", "yyn", true},
		{0, "xx.xx", "yyyyy", false},
		{0, "xx.xxx", "yyyyyn", true},
		{0, "x-x-", "yyyy", false},
		{0, "x--x-x", "yyyyyn", true},
		{0, "----", "yyyy", false},
		{0, "xx?x", "yyyn", true},
		{1, "x", "n", true},
		{2, ".x-x", "yyyn", true},
	} {
		t.Run(fmt.Sprintf("failures=%d/%s", tt.failures, tt.attempts), func(t *testing.T) {
			g := offline.New(offline.Config{Failures: tt.failures})
			var charged string
			for _, a := range tt.attempts {
				assert.False(t, g.Offline())
				v := map[rune]offline.Verdict{'.': offline.Reached, 'x': offline.NoPath, '-': offline.Unknown, '?': 7}[a]
				charged += map[bool]string{true: "y", false: "n"}[now(t, g).Done(v)]
			}
			assert.Equal(t, tt.charged, charged)
			assert.Equal(t, tt.offline, g.Offline())
			_, ok := g.TryEnter(host)
			assert.Equal(t, !tt.offline, ok)
		})
	}
}

func TestFiftyFailAtOnce(t *testing.T) {
	g := offline.New(offline.Config{})
	var passes []offline.Pass
	for range 50 {
		passes = append(passes, now(t, g))
	}
	charged := 0
	for _, p := range passes {
		if p.Done(offline.NoPath) {
			charged++
		}
	}
	assert.Equal(t, 2, charged)
	assert.True(t, g.Offline())
}

// Any attempt that got through shows that there is a network, also one that
// began before it was lost.
func TestStragglerOpens(t *testing.T) {
	g := offline.New(offline.Config{})
	straggler := now(t, g)
	closeGate(t, g)
	assert.True(t, straggler.Done(offline.Reached))
	assert.False(t, g.Offline())
	now(t, g)
}

// Failures of attempts that began before the outage don't send a gate offline
// that has recovered since. They are charged, as all is well.
func TestOldFailuresDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := offline.New(offline.Config{})
		var old []offline.Pass
		for range 10 {
			old = append(old, now(t, g))
		}
		closeGate(t, g)
		for _, p := range old[:5] {
			assert.False(t, p.Done(offline.NoPath), "the network is away")
		}
		hung, _ := probe(t, g)
		time.Sleep(10 * time.Second)
		p, _ := probe(t, g)
		p.Done(offline.Reached)

		now(t, g).Done(offline.NoPath)
		now(t, g).Done(offline.NoPath)
		for _, p := range append(old[5:], hung) {
			assert.True(t, p.Done(offline.NoPath))
			assert.False(t, g.Offline())
		}
		now(t, g).Done(offline.NoPath)
		assert.True(t, g.Offline())
	})
}

// The probe of an earlier outage is nothing to the one of this.
func TestProbeOfAnEarlierOutage(t *testing.T) {
	for _, late := range []offline.Verdict{offline.NoPath, offline.Unknown} {
		synctest.Test(t, func(t *testing.T) {
			g := offline.New(offline.Config{})
			straggler := now(t, g)
			closeGate(t, g)
			hung, _ := probe(t, g)
			straggler.Done(offline.Reached)
			closeGate(t, g)
			probe(t, g)
			time.Sleep(time.Second)
			hung.Done(late)
			_, waited := probe(t, g)
			assert.Equal(t, 9*time.Second, waited, "the lease of the other")
		})
	}
}

func TestDoneCountsOnce(t *testing.T) {
	g := offline.New(offline.Config{})
	p := now(t, g)
	twin := p
	for range 10 {
		assert.True(t, p.Done(offline.NoPath))
		assert.True(t, twin.Done(offline.NoPath))
	}
	assert.False(t, g.Offline())

	closeGate(t, g)
	p, ok := g.TryEnter("localhost")
	assert.True(t, ok)
	assert.Equal(t, offline.Pass{}, p)
	assert.True(t, p.Done(offline.NoPath), "a zero Pass is always charged")
}

// A deferred Done is harmless: the first one counts.
func TestFirstDoneCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := lose(t, offline.Config{})
		p, _ := probe(t, g)
		assert.False(t, p.Done(offline.NoPath))
		assert.True(t, p.Done(offline.Unknown))
		_, ok := g.TryEnter(host)
		assert.False(t, ok, "the turn wasn't handed on")
	})
}

// A pass that was settled is nothing to those that come after it.
func TestOldPassIsNotANewOne(t *testing.T) {
	g := offline.New(offline.Config{})
	var old []offline.Pass
	for range 100 {
		p := now(t, g)
		p.Done(offline.Reached)
		old = append(old, p)
	}
	live := now(t, g)
	for _, p := range old {
		p.Done(offline.NoPath)
	}
	assert.False(t, g.Offline())
	assert.True(t, live.Done(offline.NoPath))
}

func TestThisMachineIsExempt(t *testing.T) {
	for _, here := range []string{
		"localhost", "LocalHost", "localhost.", "api.localhost", "127.0.0.1", "127.255.1.2", "::1", "[::1]",
		"0:0:0:0:0:0:0:1", "::1%lo", "[::1%25lo]", "::ffff:127.0.0.1", "0.0.0.0", "::",
	} {
		t.Run(here, func(t *testing.T) {
			g := offline.New(offline.Config{})
			enter := func() offline.Pass {
				p, ok := g.TryEnter(here)
				assert.True(t, ok, "never held back")
				return p
			}
			for range 10 {
				assert.True(t, enter().Done(offline.NoPath))
			}
			assert.False(t, g.Offline(), "its failures prove nothing")
			for range 2 {
				now(t, g).Done(offline.NoPath)
				enter().Done(offline.Reached)
			}
			early := enter()
			now(t, g).Done(offline.NoPath)
			assert.True(t, g.Offline(), "nor does its success break a row")
			for range 10 {
				assert.True(t, enter().Done(offline.NoPath), "it is charged")
				enter().Done(offline.Reached)
			}
			early.Done(offline.Reached)
			assert.True(t, g.Offline(), "nor open the gate")
		})
	}
}

func TestOtherMachinesAreNot(t *testing.T) {
	for _, there := range []string{
		"", "example.com", "localhost.example.com", "notlocalhost", "128.0.0.1", "192.168.0.1", "::2", "[fe80::1%eth0]",
		"127.0.0.1.example.com", "localhost%lo",
	} {
		t.Run(there, func(t *testing.T) {
			g := offline.New(offline.Config{})
			for range 3 {
				p, ok := g.TryEnter(there)
				assert.True(t, ok)
				p.Done(offline.NoPath)
			}
			assert.True(t, g.Offline())
		})
	}
}
