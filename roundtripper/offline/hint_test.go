package offline_test

// Hints: they make the gate quicker, and can't do harm.

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

// opinion is a Hint that says what it is told to.
type opinion struct {
	polled bool // it has no channel

	mu        sync.Mutex
	up, known bool
	changed   chan struct{}
	asked     int
}

func says(up, known bool) *opinion {
	return &opinion{up: up, known: known, changed: make(chan struct{})}
}

func (o *opinion) Online() (up, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	return o.up, o.known
}

func (o *opinion) Changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.polled {
		return nil
	}
	return o.changed
}

func (o *opinion) now(up, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.up, o.known = up, known
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *opinion) takeAsked() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, o.asked = o.asked, 0
	return n
}

// A hint that says down closes the gate before anything fails, and forbids no
// probe. That probe is charged to nobody.
func TestDownHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []bool
		g := offline.New(offline.Config{Hint: says(false, true), OnChange: func(is bool) { changes = append(changes, is) }})
		assert.False(t, g.Offline(), "nobody has asked yet")
		p, waited := probe(t, g)
		assert.True(t, g.Offline())
		assert.Equal(t, []bool{true}, changes)
		between(t, 500*time.Millisecond, time.Second, waited, "the first probe")
		assert.False(t, p.Done(offline.NoPath))
		_, waited = probe(t, g)
		between(t, time.Second, 2*time.Second, waited, "the second")
	})
}

// A hint that lies for ever costs its first call a second, and no other call
// anything.
func TestDownHintIsRefuted(t *testing.T) {
	for _, polled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			hint := says(false, true)
			hint.polled = polled
			g := offline.New(offline.Config{Hint: hint})
			p, _ := probe(t, g)
			p.Done(offline.Reached)
			for range 1000 {
				now(t, g).Done(offline.Reached)
				time.Sleep(time.Minute)
			}
			assert.False(t, g.Offline())

			// It counts again once it has changed.
			hint.now(true, true)
			now(t, g).Done(offline.Reached)
			hint.now(false, true)
			_, ok := g.TryEnter(host)
			assert.False(t, ok)
			assert.True(t, g.Offline())
		})
	}
}

// Failures close a gate whose hint was refuted, as they close any other.
func TestRefutedHintAndFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := offline.New(offline.Config{Hint: says(false, true)})
		p, _ := probe(t, g)
		p.Done(offline.Reached)
		for i := range 3 {
			assert.False(t, g.Offline())
			assert.Equal(t, i < 2, now(t, g).Done(offline.NoPath))
		}
		assert.True(t, g.Offline())
		_, waited := probe(t, g)
		between(t, 500*time.Millisecond, time.Second, waited, "the first probe")
	})
}

// A hint that says up, or nothing, neither keeps the gate from closing nor
// opens it.
func TestOtherHintsDoNothing(t *testing.T) {
	for _, known := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			g := lose(t, offline.Config{Hint: says(true, known)})
			for _, want := range []time.Duration{1, 2, 4, 8, 16, 30} {
				p, waited := probe(t, g)
				between(t, want*time.Second/2, want*time.Second, waited, "on the schedule")
				p.Done(offline.NoPath)
			}
		})
	}
}

// A change for the better makes the next probe come at once, and begins the
// schedule again.
func TestChangedHint(t *testing.T) {
	for _, tt := range []struct {
		name   string
		polled bool
		known  bool
		within time.Duration
	}{
		{"known", false, true, 0},
		{"unknown", false, false, 0},
		{"polled", true, true, time.Second},
		{"polled, unknown", true, false, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hint := says(false, true)
				hint.polled = tt.polled
				g := offline.New(offline.Config{Hint: hint})
				for range 8 { // until the steps are 30 s
					p, _ := probe(t, g)
					p.Done(offline.NoPath)
				}
				took := make(chan offline.Pass)
				for range 3 {
					go func() {
						p, _ := probe(t, g)
						took <- p
					}()
				}
				time.Sleep(5 * time.Second)
				start := time.Now()
				hint.now(true, tt.known)
				p := <-took
				between(t, 0, tt.within, time.Since(start), "after the change")
				assert.True(t, g.Offline(), "it doesn't open by that")
				p.Done(offline.NoPath)
				start = time.Now()
				p = <-took
				between(t, time.Second, 2*time.Second, time.Since(start), "the next probe")
				p.Done(offline.Reached)
				(<-took).Done(offline.Reached)
			})
		})
	}
}

// An arrival notices the change too, and a change for the worse hurries nobody.
func TestChangedHintAndArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hint := says(true, true)
		g := lose(t, offline.Config{Hint: hint})
		hint.now(false, true)
		_, ok := g.TryEnter(host)
		assert.False(t, ok)
		hint.now(true, true)
		now(t, g)
		hint.now(false, false)
		_, ok = g.TryEnter(host)
		assert.False(t, ok, "one is under way")
	})
}

// Whoever notices the change, the waiters profit: also if it was a call to this
// machine, which needs no turn.
func TestChangedHintNoticedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hint := says(false, true)
		hint.polled = true
		g := offline.New(offline.Config{Hint: hint})
		for range 8 {
			p, _ := probe(t, g)
			p.Done(offline.NoPath)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			_, waited := probe(t, g)
			assert.Equal(t, 100*time.Millisecond, waited)
		})
		time.Sleep(100 * time.Millisecond)
		hint.now(true, true)
		_, ok := g.TryEnter("localhost")
		assert.True(t, ok)
		wg.Wait()
	})
}

// A channel that fires says that there was a change, even if the answer is the
// same as before.
func TestFiredHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hint := says(true, true)
		g := lose(t, offline.Config{Hint: hint})
		for range 8 {
			p, _ := probe(t, g)
			p.Done(offline.NoPath)
		}
		time.AfterFunc(time.Second, func() { hint.now(true, true) })
		_, waited := probe(t, g)
		assert.Equal(t, time.Second, waited)
	})
}

// fired is a hint whose channel is closed from the start, and stays so.
type fired struct{ asked atomic.Int64 }

func (f *fired) Online() (up, known bool) { f.asked.Add(1); return true, true }
func (*fired) Changed() <-chan struct{}   { return closed }

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// A hint that keeps saying that it changed is believed once, and then polled.
func TestClosedChannelDoesNotSpin(t *testing.T) {
	hint := new(fired)
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(time.Millisecond)
		g := offline.New(offline.Config{Hint: hint})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				_, err := call(ctx, g, n)
				assert.Equal(t, context.DeadlineExceeded, err)
			})
		}
		wg.Wait()
		assert.Less(t, len(n.sends), 10+30)
	})
	assert.Less(t, hint.asked.Load(), int64(1000))
}

// A polled hint is asked once a second, by one waiter for all, and not at all
// while nobody waits.
func TestPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hint := says(true, true)
		hint.polled = true
		g := lost(t, offline.Config{Hint: hint})
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := g.Enter(ctx, host)
				assert.Error(t, err)
			})
		}
		synctest.Wait()
		hint.takeAsked()
		time.Sleep(30*time.Second + 1)
		assert.Equal(t, 30, hint.takeAsked())
		wg.Wait()
		hint.takeAsked()
		time.Sleep(time.Hour)
		assert.Zero(t, hint.takeAsked())
	})
}

// A hint that panics does so to the call that asked; the next one in the queue
// watches.
func TestHintThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hint := new(explosive)
		g := lose(t, offline.Config{Hint: hint})
		p, _ := probe(t, g)
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() { assert.Equal(t, "from Online", recover()) }()
			_, _ = g.Enter(t.Context(), host)
		})
		synctest.Wait()
		wg.Go(func() {
			_, err := g.Enter(t.Context(), host)
			assert.NoError(t, err)
		})
		synctest.Wait()
		hint.armed.Store(true)
		time.Sleep(2 * time.Second)
		assert.False(t, hint.armed.Load(), "it went off")
		p.Done(offline.Unknown)
		wg.Wait()
	})
}

// explosive is a polled hint that panics once.
type explosive struct{ armed atomic.Bool }

func (e *explosive) Online() (up, known bool) {
	if e.armed.CompareAndSwap(true, false) {
		panic("from Online")
	}
	return true, true
}

func (*explosive) Changed() <-chan struct{} { return nil }

// What Interfaces says depends on the machine, but it never says more than it
// may. The real thing is tested with real sockets.
func TestInterfaces(t *testing.T) {
	hint := offline.Interfaces()
	assert.Nil(t, hint.Changed())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if up, known := hint.Online(); known {
					assert.False(t, up, "an address is no proof")
				}
			}
		})
	}
	wg.Wait()
}
