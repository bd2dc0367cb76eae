package offline

// The delivery of changes: in order, one at a time, outside every other lock.

import "sync"

// changes is a queue that whoever added to it also empties, unless someone is
// at it already. A mutex held during the callback would be simpler, and would
// hang as soon as the callback makes a change itself.
type changes struct {
	onChange func(offline bool)

	mu    sync.Mutex
	queue []bool
	busy  bool // someone is delivering
}

// add appends a change. The gate's lock is held, so that changes stand in the
// order in which they were made.
func (c *changes) add(offline bool) {
	if c.onChange == nil {
		return
	}
	c.mu.Lock()
	c.queue = append(c.queue, offline)
	c.mu.Unlock()
}

// deliver calls onChange until the queue is empty. No lock is held.
func (c *changes) deliver() {
	c.mu.Lock()
	if c.busy || len(c.queue) == 0 {
		c.mu.Unlock()
		return
	}
	c.busy = true
	finished := false
	defer func() {
		if !finished { // onChange panicked, or ended the goroutine: see to the rest
			c.mu.Lock()
			c.busy = false
			c.mu.Unlock()
			c.deliver()
		}
	}()
	for len(c.queue) > 0 {
		offline := c.queue[0]
		c.queue = c.queue[1:]
		c.mu.Unlock()
		c.onChange(offline)
		c.mu.Lock()
	}
	c.queue = nil
	c.busy = false
	finished = true
	c.mu.Unlock()
}
