package rehearse

// Replays, and the keys under which several of them are one.

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"
)

// Replay delivers an event that was sent before: its ID and its exact bytes, under a new delivery ID, freshly signed.
// A receiver takes that for a new delivery of an event that it may know; it is how an event that got lost is sent again.
//
// Without an idempotencyKey each call is a replay of its own. Those with the same key, of 1 to 255 bytes, are one: the
// first begins the delivery, and all that come while it lasts or within 24 hours of its end get its Result, be it good
// or not. The delivery is nobody's own: it goes on when a caller gives up, the first one too. A key that stands for
// another event, for other bytes under its ID, or for another URL, is refused with a [*ConflictError].
//
// An error means what it does for [Sender.Send]; [ErrNoEvent] is added for an event that the EventStore does not have.
// No key stands for an error.
func (s *Sender) Replay(ctx context.Context, eventID, idempotencyKey string) (Result, error) {
	if ctx.Err() != nil {
		return Result{EventID: eventID}, context.Cause(ctx)
	}
	if len(idempotencyKey) > maxKey {
		return Result{EventID: eventID}, errKey
	}
	if idempotencyKey == "" {
		e, err := s.event(ctx, eventID)
		if err != nil {
			return Result{EventID: eventID}, err
		}
		return s.deliver(ctx, e)
	}
	r, err := s.join(ctx, run{key: idempotencyKey, eventID: eventID, url: s.target().url})
	if err != nil {
		return Result{EventID: eventID}, err
	}
	select {
	case <-r.done:
		result := r.result
		result.Attempts = slices.Clone(result.Attempts)
		return result, r.err
	case <-ctx.Done():
		return Result{EventID: eventID}, context.Cause(ctx)
	}
}

// event gets an event from the store. What comes from there is not believed unseen.
func (s *Sender) event(ctx context.Context, id string) (Event, error) {
	e, err := s.events.Get(ctx, id)
	if err != nil {
		return Event{}, err
	}
	e.ID = id
	return e.checked()
}

// join finds the run that is wanted, or starts it. The event is looked up before there is a run, so that a run is the
// delivery alone and can't last.
func (s *Sender) join(ctx context.Context, want run) (*run, error) {
	r, err := s.replays.find(want)
	if err != nil {
		return nil, err
	}
	e, err := s.event(ctx, want.eventID)
	switch {
	case err != nil && r != nil:
		return r, nil // the store has forgotten it by now: the result is still the result
	case err != nil:
		return nil, err
	}
	want.sum = sha256.Sum256(e.Body)
	own := context.WithoutCancel(ctx)
	return s.replays.start(want, func() (Result, error) { return s.deliver(own, e) })
}

const (
	maxKey       = 255
	keepReplays  = 24 * time.Hour
	mostReplayed = 10_000
)

var (
	errKey     = errors.New("rehearse: idempotency key of more than 255 bytes")
	errAborted = errors.New("rehearse: the delivery ended without a result")
)

// Replays is what is known of replays with an idempotency key: those that are going on, and the results of those that
// have ended, for 24 hours, the latest 10,000 of them. Once a result is forgotten, its key is free. The zero Replays is
// empty and ready for use, by many goroutines at once. It lives in memory: another process knows none of its keys.
type Replays struct {
	mu    sync.Mutex
	runs  map[string]*run
	ended []*run // as they ended
}

// run is one delivery that stands for all replays under its key. done is closed when result and err are there.
type run struct {
	key, eventID, url string
	sum               [sha256.Size]byte // of the event's body; zero: not known yet

	done   chan struct{}
	end    time.Time
	result Result
	err    error
}

// find returns the run with want's key, or nil if there is none, or a *ConflictError.
func (p *Replays) find(want run) (*run, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lookUp(want)
}

func (p *Replays) lookUp(want run) (*run, error) {
	p.forget(time.Now())
	r := p.runs[want.key]
	switch {
	case r == nil:
	case r.eventID != want.eventID, r.url != want.url, r.sum != want.sum && want.sum != [sha256.Size]byte{}:
		return nil, &ConflictError{EventID: want.eventID, Key: want.key, Held: r.eventID}
	}
	return r, nil
}

// start begins the run, unless there is one by now.
func (p *Replays) start(want run, deliver func() (Result, error)) (*run, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, err := p.lookUp(want); r != nil || err != nil {
		return r, err
	}
	r := &want
	r.done = make(chan struct{})
	if p.runs == nil {
		p.runs = make(map[string]*run)
	}
	p.runs[r.key] = r
	go func() {
		r.err = errAborted // a transport may end its goroutine
		defer p.settle(r)
		r.result, r.err = deliver()
	}()
	return r, nil
}

// settle is the end of a run: a result is kept, an error is not.
func (p *Replays) settle(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.end = time.Now()
	if r.err != nil {
		delete(p.runs, r.key)
	} else {
		p.ended = append(p.ended, r)
	}
	p.forget(r.end)
	close(r.done)
}

// forget drops the results that are too old, or too many. A run that goes on is not among them.
func (p *Replays) forget(now time.Time) {
	for len(p.ended) > mostReplayed || len(p.ended) > 0 && now.Sub(p.ended[0].end) >= keepReplays {
		delete(p.runs, p.ended[0].key)
		p.ended[0] = nil // the array stays for a while
		p.ended = p.ended[1:]
	}
}
