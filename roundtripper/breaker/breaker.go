package breaker

// The breaker: one state machine for one service.

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// A Breaker counts the results of calls to one service and refuses calls while
// it is down. It is made by [New]; the zero Breaker is of no use. It may be used
// by any number of goroutines at once and mustn't be copied.
type Breaker struct {
	config  *Config // defaults applied
	key     string
	changes *changes

	// word is what an allowed call has to know, written under mu and read
	// without: from the lowest bit state, clean flag, generation.
	word atomic.Uint64
	out  atomic.Int64 // permits not settled yet
	used atomic.Int64 // the Group's clock at the latest use

	mu         sync.Mutex
	state      State
	generation uint64 // goes up when permits given so far stop counting
	since      time.Time
	until      time.Time // when a trial may start; zero if closed
	cooldown   time.Duration
	row        int // failures in a row
	window     window
	cause      error
}

const (
	stateMask       = 1<<2 - 1
	clean           = 1 << 2 // closed, and one more success would change nothing
	generationShift = 3
)

// gone is the state of a breaker that its Group has forgotten. Whoever still
// has a pointer to it looks again: else a host could have two.
const gone State = 3

var errGone = errors.New("breaker: forgotten")

// New returns a closed Breaker.
func New(c Config) *Breaker {
	c = c.withDefaults()
	return newBreaker(&c, "", &changes{onChange: c.OnChange})
}

func newBreaker(c *Config, key string, changes *changes) *Breaker {
	return &Breaker{
		config:   c,
		key:      key,
		changes:  changes,
		since:    time.Now(),
		cooldown: c.Cooldown,
		window:   window{size: c.Window},
	}
}

// State returns what the breaker does with calls at the moment.
func (b *Breaker) State() State { return State(b.word.Load() & stateMask) }

// Status returns what there is to see of the breaker.
func (b *Breaker) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Status{
		Key:         b.key,
		State:       b.state,
		Since:       b.since,
		RetryAt:     b.until,
		Consecutive: b.row,
		Known:       b.window.known,
		Failures:    b.window.failures,
		Cooldown:    b.cooldown,
		Cause:       b.cause,
	}
}

// Allow asks for leave to make a call. The error, if any, is an [*OpenError],
// and then there is nothing to settle. Allow never waits. It may run OnChange.
func (b *Breaker) Allow() (Permit, error) {
	b.out.Add(1) // before word is read: see retire
	if w := b.word.Load(); State(w&stateMask) == Closed {
		return newPermit(b, w>>generationShift), nil
	}
	p, err := b.try()
	if err != nil {
		b.out.Add(-1)
		return Permit{}, err
	}
	b.announce(p)
	return p, nil
}

// announce delivers the change that p brought. If OnChange panics, the caller
// doesn't get p, and the next one has its place.
func (b *Breaker) announce(p Permit) {
	delivered := false
	defer func() {
		if !delivered {
			p.Done(Neutral, nil)
		}
	}()
	b.changes.deliver()
	delivered = true
}

// try gives the trial to whoever comes first once it may start.
func (b *Breaker) try() (Permit, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.state {
	case gone:
		return Permit{}, errGone
	case Open, HalfOpen:
		now := time.Now()
		if left := b.until.Sub(now); left > 0 {
			return Permit{}, &OpenError{Key: b.key, RetryIn: left, Cause: b.cause}
		}
		b.until = now.Add(b.config.TrialLease)
		b.move(HalfOpen, now)
	}
	return newPermit(b, b.generation), nil
}

// settle takes the result of a call that began in generation. It reports
// whether there are changes to deliver.
func (b *Breaker) settle(generation uint64, outcome Outcome, err error) bool {
	w := b.word.Load()
	switch {
	case w>>generationShift != generation,
		w&clean != 0 && outcome == Success,
		State(w&stateMask) == Closed && outcome == Neutral:
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.generation != generation:
		return false
	case b.state == Closed:
		return b.count(outcome, err)
	default:
		return b.judge(outcome, err)
	}
}

// count adds a result to those of a closed breaker, which may open it.
func (b *Breaker) count(outcome Outcome, err error) bool {
	switch outcome {
	case Success:
		b.row = 0
		b.window.add(false)
	case Failure:
		b.row++
		b.window.add(true)
		b.cause = err
		if b.row >= b.config.Consecutive || b.window.reached(b.config.Ratio) {
			b.open(time.Now())
			return true
		}
	}
	b.publish()
	return false
}

// judge takes the result of the trial.
func (b *Breaker) judge(outcome Outcome, err error) bool {
	now := time.Now()
	if !now.Before(b.until) {
		return false // its lease is over, though nobody has come for it yet
	}
	switch outcome {
	case Success:
		b.row = 0
		b.window.clear()
		b.cause = nil
		b.cooldown = b.config.Cooldown
		b.until = time.Time{}
		b.move(Closed, now)
		return true
	case Failure:
		b.row++
		b.cause = err
		b.cooldown = min(2*b.cooldown, b.config.MaxCooldown)
		b.open(now)
		return true
	}
	b.until = now // the next caller's turn
	return false
}

func (b *Breaker) open(now time.Time) {
	b.until = now.Add(b.cooldown + rand.N(b.cooldown/2+1))
	b.move(Open, now)
}

// move begins a generation, usually in another state.
func (b *Breaker) move(to State, now time.Time) {
	if to != b.state {
		change := Change{Key: b.key, From: b.state, To: to, At: now}
		if to == Open {
			change.Cause = b.cause
		}
		b.changes.add(change)
		b.state, b.since = to, now
	}
	b.generation++
	b.publish()
}

func (b *Breaker) publish() {
	w := b.generation<<generationShift | uint64(b.state)
	if b.state == Closed && b.window.failures == 0 && b.window.full() {
		w |= clean
	}
	b.word.Store(w)
}
