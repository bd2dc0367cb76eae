package breaker_test

// The breaker against the rules, written in the plainest way.

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

// model is what a breaker should be: it keeps every result and looks at them
// all each time.
type model struct {
	consecutive, window int
	cooldown            time.Duration

	state   breaker.State
	results []bool // since it was last made or closed; true: failure
	epoch   int    // permits of earlier ones don't count
	until   time.Time
}

const (
	modelCooldown = 10 * time.Second
	modelMax      = 35 * time.Second
	modelLease    = 7 * time.Second
)

func (m *model) allow(now time.Time) bool {
	if m.state == breaker.Closed {
		return true
	}
	if now.Before(m.until) {
		return false
	}
	m.state, m.until = breaker.HalfOpen, now.Add(modelLease)
	m.epoch++
	return true
}

func (m *model) done(epoch int, o breaker.Outcome, now time.Time) {
	switch {
	case epoch != m.epoch:
	case m.state == breaker.Closed && o != breaker.Neutral:
		m.results = append(m.results, o == breaker.Failure)
		if o == breaker.Failure && (m.row() >= m.consecutive || m.half()) {
			m.move(breaker.Open)
		}
	case m.state == breaker.HalfOpen && now.Before(m.until):
		switch o {
		case breaker.Success:
			m.results, m.cooldown = nil, modelCooldown
			m.move(breaker.Closed)
		case breaker.Failure:
			m.cooldown = min(2*m.cooldown, modelMax)
			m.move(breaker.Open)
		default:
			m.until = now
		}
	}
}

func (m *model) move(to breaker.State) {
	m.state = to
	m.epoch++
}

func (m *model) row() (n int) {
	for i := len(m.results) - 1; i >= 0 && m.results[i]; i-- {
		n++
	}
	return n
}

func (m *model) half() bool {
	if len(m.results) < m.window {
		return false
	}
	n := 0
	for _, failed := range m.results[len(m.results)-m.window:] {
		if failed {
			n++
		}
	}
	return 2*n >= m.window
}

func FuzzBreaker(f *testing.F) {
	f.Add(uint8(5), uint8(20), []byte("\x01\x05\x01\x05\x01\x05\x01\x05\x01\x05\x01\x07\xff\x01\x05\x01\xff\x03"))
	f.Add(uint8(2), uint8(3), []byte("0101010101010101"))
	f.Add(uint8(1), uint8(70), []byte{0, 2, 255, 255, 255, 0, 1, 0, 2, 255, 255, 0, 255, 0, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, consecutive, window uint8, ops []byte) {
		m := model{consecutive: max(int(consecutive), 1), window: max(int(window), 1), cooldown: modelCooldown}
		synctest.Test(t, func(t *testing.T) {
			b := breaker.New(breaker.Config{
				Consecutive: m.consecutive, Window: m.window,
				Cooldown: modelCooldown, MaxCooldown: modelMax, TrialLease: modelLease,
			})
			compare(t, b, &m, ops)
		})
	})
}

// compare does each of ops to both. An op is a call, a result for one of the
// permits that are out, or time that passes.
func compare(t *testing.T, b *breaker.Breaker, m *model, ops []byte) {
	type held struct {
		permit breaker.Permit
		epoch  int
	}
	var out []held
	for i, op := range ops {
		kind, arg := op%4, int(op/4)
		was := m.state
		switch {
		case kind == 3:
			time.Sleep(time.Duration(arg) * time.Second)
		case kind == 0 || len(out) == 0:
			p, err := b.Allow()
			if want := m.allow(time.Now()); (err == nil) != want {
				t.Fatalf("op %d: allowed: %t, want %t", i, err == nil, want)
			}
			if err == nil {
				out = append(out, held{p, m.epoch})
			}
		default:
			h, o := out[arg%len(out)], breaker.Outcome(arg%3)
			if kind == 1 { // else it stays, and may be settled again
				h.permit.Done(o, errDown)
				m.done(h.epoch, o, time.Now())
				out[arg%len(out)] = held{h.permit, -1}
			} else {
				h.permit.Done(breaker.Failure, errDown)
				m.done(h.epoch, breaker.Failure, time.Now())
				out[arg%len(out)] = out[len(out)-1]
				out = out[:len(out)-1]
			}
		}
		s := b.Status()
		if s.State != m.state || b.State() != m.state {
			t.Fatalf("op %d: %v, want %v", i, s.State, m.state)
		}
		if s.Cooldown != m.cooldown {
			t.Fatalf("op %d: cooldown %v, want %v", i, s.Cooldown, m.cooldown)
		}
		if m.state == breaker.Open && was != breaker.Open {
			m.until = s.RetryAt // random, within bounds
			if d := time.Until(m.until); d < m.cooldown || d > m.cooldown*3/2 {
				t.Fatalf("op %d: spread to %v, want %v to half as much again", i, d, m.cooldown)
			}
		}
	}
}
