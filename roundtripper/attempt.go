package roundtripper

// This file holds one attempt: its copy of the request, and the context that
// bounds it.

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// attempt is one sending of the request. It is the context that the base
// transport gets, so that a call needs no other value than its own; the timer
// and the channel behind it are made when somebody asks for them.
//
// It ends when the body that was handed out reaches its end or is closed, not
// when RoundTrip returns.
type attempt struct {
	call   *call
	number int32
	timed  bool // a Read of the response body has been here: the end is watched for
	handed bool // the response is the caller's

	marks atomic.Uint32 // what has become of the connection, and of the clocks
	state atomic.Int32  // an ending

	req   http.Request  // the attempt's own
	out   *requestBody  // what req.Body is; nil: the request has none, or one that passes as it is
	resp  io.ReadCloser // the base's response body, once there is one
	begun time.Duration // since the call's start

	silence atomic.Int64 // since the call's start, when the peer fell silent; or one of the two below

	mu    sync.Mutex
	asked *asked // nil: the base wants nothing of the context
}

// Values of attempt.silence while there is no silence to measure.
const (
	notWaiting = -1 // nobody waits for the peer
	moving     = -2 // the base is reading the request body
)

// ending says whether an attempt is over, and why.
type ending int32

const (
	running   ending = iota
	finished         // its body was read or closed, or it gave none
	byCaller         // the caller's context ended
	byAttempt        // AttemptTimeout
	byIdle           // IdleTimeout
	byTotal          // TotalTimeout
	cutOff           // draining its response took too long
)

// The marks of an attempt: what its trace has seen of a connection, and whether
// its clocks run.
const (
	connAsked uint32 = 1 << iota // the transport wants one
	connDials                    // it began to make one
	connStood                    // it stands
	connGot                      // the request has one
	clocked                      // it has been sent: its own clock runs
	unclocked                    // it is the caller's: no clock of ours runs
)

func (a *attempt) has(mark uint32) bool { return a.marks.Load()&mark != 0 }

// asked is what an attempt needs once the base asks something of its context:
// the trace, or the end.
type asked struct {
	trace      context.Context // nil: not asked for
	done       chan struct{}   // nil: nobody waits for the end
	timer      *time.Timer
	stopParent func() bool
	funcs      []*func()
}

var _ context.Context = (*attempt)(nil)

// Deadline implements [context.Context].
func (a *attempt) Deadline() (time.Time, bool) {
	at, ok := a.call.ctx().Deadline()
	limit := a.limit()
	if limit == 0 {
		return at, ok
	}
	if own := a.call.start.Add(limit); !ok || own.Before(at) {
		return own, true
	}
	return at, ok
}

// Done implements [context.Context].
func (a *attempt) Done() <-chan struct{} {
	a.ended() // a clock may have run out while nobody was watching
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.watch().done
}

// Err implements [context.Context].
func (a *attempt) Err() error {
	switch a.ended() {
	case running:
		return nil
	case byCaller:
		return a.call.ctx().Err()
	case finished, cutOff:
		return context.Canceled
	default:
		return context.DeadlineExceeded
	}
}

// Value implements [context.Context].
func (a *attempt) Value(key any) any {
	if key == (scopeKey{}) {
		return a
	}
	if isTraceKey(key) {
		return a.connTrace().Value(key)
	}
	return a.call.ctx().Value(key)
}

// AfterFunc is what package context looks for in a context that is not its own
// (see [context.AfterFunc]): without it, each context made from this one would
// cost a goroutine.
func (a *attempt) AfterFunc(f func()) (stop func() bool) {
	a.ended()
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.watch()
	if ending(a.state.Load()) != running {
		go f()
		return func() bool { return false }
	}
	p := &f
	w.funcs = append(w.funcs, p)
	return func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		i := slices.Index(w.funcs, p)
		if i < 0 {
			return false
		}
		w.funcs = slices.Delete(w.funcs, i, i+1)
		return true
	}
}

// ask makes room for what is asked. The caller holds a.mu.
func (a *attempt) ask() *asked {
	if a.asked == nil {
		a.asked = new(asked)
	}
	return a.asked
}

// watched reports whether somebody waits for the end. The caller holds a.mu.
func (a *attempt) watched() bool { return a.asked != nil && a.asked.done != nil }

// watch makes sure that the end is noticed. The caller holds a.mu.
func (a *attempt) watch() *asked {
	w := a.ask()
	if w.done != nil {
		return w
	}
	w.done = make(chan struct{})
	if ending(a.state.Load()) != running {
		close(w.done)
		return w
	}
	a.wind()
	if parent := a.call.ctx(); parent.Done() != nil {
		w.stopParent = context.AfterFunc(parent, func() { a.end(byCaller) })
	}
	return w
}

// startClock is the moment at which the attempt is sent.
func (a *attempt) startClock() {
	a.marks.Store(clocked) // Prepare may have had connections of its own
	a.listen()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watched() && ending(a.state.Load()) == running {
		a.wind() // somebody has watched since before
	}
}

// limit is when time is up, since the call's start; 0: never. Prepare and
// GetBody have the call's time, not the attempt's.
func (a *attempt) limit() time.Duration {
	p := a.call.policy
	limit := p.TotalTimeout
	switch marks := a.marks.Load(); {
	case marks&unclocked != 0:
		return 0
	case marks&clocked == 0:
		return limit
	}
	if d := p.AttemptTimeout; d > 0 && (limit == 0 || a.begun < limit-d) {
		limit = after(a.begun, d)
	}
	return limit
}

// wind sets the timer to when the attempt is to be looked at next. The caller
// holds a.mu, and somebody waits for the end.
func (a *attempt) wind() {
	now := a.call.elapsedNow()
	e, next := a.due(now)
	if e == running && next == 0 {
		return
	}
	wait := max(0, next-now)
	if a.asked.timer == nil {
		a.asked.timer = time.AfterFunc(wait, a.tick)
	} else {
		a.asked.timer.Reset(wait)
	}
}

// due says how the attempt stands at now: ended by one of its clocks, or else
// when to look again; 0: never.
func (a *attempt) due(now time.Duration) (e ending, next time.Duration) {
	if a.has(unclocked) {
		return running, 0
	}
	next = a.limit()
	if next != 0 && now >= next {
		if next == a.call.policy.TotalTimeout {
			return byTotal, 0
		}
		return byAttempt, 0
	}
	idle := a.call.policy.IdleTimeout
	if idle == 0 {
		return running, next
	}
	since := a.silence.Load()
	if since < 0 {
		since = int64(now)
	}
	silent := after(time.Duration(since), idle)
	if now >= silent {
		return byIdle, 0
	}
	if next == 0 || silent < next {
		next = silent
	}
	return running, next
}

// tick is the timer: the attempt is over, or the silence was broken meanwhile.
func (a *attempt) tick() {
	if e, _ := a.due(a.call.elapsedNow()); e != running {
		a.end(e)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if ending(a.state.Load()) == running {
		a.wind()
	}
}

// release takes the attempt off our clocks. Its context lives on for as long as
// the caller's, if the base has hung something on it; if not, it lets go of the
// caller's context, which may outlive many connections.
func (a *attempt) release() {
	a.marks.Or(unclocked)
	a.out.finish()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.watched() {
		return
	}
	w := a.asked
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.stopParent != nil && len(w.funcs) == 0 {
		w.stopParent()
	}
}

// end ends the attempt, once; the first reason stays.
func (a *attempt) end(e ending) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.state.CompareAndSwap(int32(running), int32(e)) || !a.watched() {
		return
	}
	w := a.asked
	close(w.done)
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.stopParent != nil {
		w.stopParent()
	}
	for _, f := range w.funcs {
		go (*f)()
	}
	w.funcs = nil
}

// ended says whether the attempt is over, and looks at the clock and at the
// caller's context if nobody else does.
func (a *attempt) ended() ending {
	if e := ending(a.state.Load()); e != running {
		return e
	}
	e, _ := a.due(a.call.elapsedNow())
	if a.call.ctx().Err() != nil {
		e = byCaller
	}
	if e != running {
		a.end(e)
	}
	return ending(a.state.Load())
}

// timedOut is err as it looks when one of our clocks ended the attempt, or err
// itself.
func (a *attempt) timedOut(err error) error {
	p := a.call.policy
	switch a.ended() {
	case byAttempt:
		return &timeoutError{"attempt timeout", p.AttemptTimeout, err}
	case byIdle:
		return &timeoutError{"idle timeout", p.IdleTimeout, err}
	case byTotal:
		return &timeoutError{"total timeout", p.TotalTimeout, err}
	}
	return err
}

// listen begins and hush ends a wait for the peer, for the idle timeout.
func (a *attempt) listen() {
	if a.call.policy.IdleTimeout != 0 {
		a.silence.Store(int64(a.call.elapsedNow()))
	}
}

func (a *attempt) hush() {
	if a.call.policy.IdleTimeout != 0 {
		a.silence.Store(notWaiting)
	}
}

// after is d+e, or the longest duration there is.
func after(d, e time.Duration) time.Duration {
	if sum := d + e; sum >= d {
		return sum
	}
	return 1<<63 - 1
}
