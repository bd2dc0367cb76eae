package main

// Virtual time: what happens next, and when.

import (
	"iter"
	"math/rand/v2"
	"time"
)

// loop hands out events in the order of their times. Time is exact and costs nothing; it jumps from one event to the
// next. Events of the same moment come in random order: whoever scheduled first has no advantage. The zero loop is
// empty, at time 0.
type loop[E any] struct {
	now  time.Duration
	heap []timed[E]
}

type timed[E any] struct {
	at    time.Duration
	tie   uint64
	event E
}

func (a timed[E]) before(b timed[E]) bool { return a.at < b.at || a.at == b.at && a.tie < b.tie }

// after schedules e for when wait has passed.
func (l *loop[E]) after(wait time.Duration, e E) {
	l.heap = append(l.heap, timed[E]{l.now + wait, rand.Uint64(), e})
	h := l.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// events is every event until there is none left, those included that are scheduled on the way. l.now is its time.
func (l *loop[E]) events() iter.Seq[E] {
	return func(yield func(E) bool) {
		for len(l.heap) > 0 {
			next := l.pop()
			l.now = next.at
			if !yield(next.event) {
				return
			}
		}
	}
}

func (l *loop[E]) pop() timed[E] {
	h := l.heap
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if right := child + 1; right < last && h[right].before(h[child]) {
			child = right
		}
		if !h[child].before(h[i]) {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	l.heap = h
	return first
}
