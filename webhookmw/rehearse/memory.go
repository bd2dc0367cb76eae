package rehearse

// The event store in memory.

import (
	"bytes"
	"container/list"
	"context"
	"errors"
	"sync"
)

// MemoryConfig says how much a [Memory] keeps.
type MemoryConfig struct {
	MaxEvents int   // 0 or less: 10,000
	MaxBytes  int64 // of all bodies together; 0 or less: 64 MiB
}

// Memory is an [EventStore] that ends with the process. It is bounded: when there is no room for another event it
// forgets the ones that were put longest ago, which can't be replayed any more then. An event that is put again, as by
// sending it again, counts from then on. It is safe for use by many goroutines at once. Make one with [NewMemory]; the
// zero Memory is of no use.
type Memory struct {
	config MemoryConfig

	mu     sync.Mutex
	events map[string]*list.Element // by ID
	order  list.List                // of Event, the one put last at the end
	bytes  int64
}

var _ EventStore = (*Memory)(nil)

var errTooBig = errors.New("rehearse: event is larger than all that is kept")

// NewMemory returns an empty Memory.
func NewMemory(config MemoryConfig) *Memory {
	if config.MaxEvents <= 0 {
		config.MaxEvents = 10_000
	}
	if config.MaxBytes <= 0 {
		config.MaxBytes = 64 << 20
	}
	return &Memory{config: config, events: make(map[string]*list.Element)}
}

// Put implements [EventStore]. It fails for a body that is larger than all of MaxBytes.
func (m *Memory) Put(ctx context.Context, e Event) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	size := int64(len(e.Body))
	if size > m.config.MaxBytes {
		return errTooBig
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.events[e.ID]; ok {
		m.order.MoveToBack(known)
		return compare(e, known.Value.(Event).Body)
	}
	for m.order.Len() >= m.config.MaxEvents || m.bytes+size > m.config.MaxBytes {
		m.dropFirst()
	}
	e.Body = bytes.Clone(e.Body)
	m.events[e.ID] = m.order.PushBack(e)
	m.bytes += size
	return nil
}

// Get implements [EventStore].
func (m *Memory) Get(ctx context.Context, id string) (Event, error) {
	if ctx.Err() != nil {
		return Event{}, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.events[id]
	if !ok {
		return Event{}, ErrNoEvent
	}
	e := known.Value.(Event)
	e.Body = bytes.Clone(e.Body)
	return e, nil
}

func (m *Memory) dropFirst() {
	e := m.order.Remove(m.order.Front()).(Event)
	m.bytes -= int64(len(e.Body))
	delete(m.events, e.ID)
}

// compare is what becomes of a Put for an event that is known with that body.
func compare(e Event, known []byte) error {
	if !bytes.Equal(e.Body, known) {
		return &ConflictError{EventID: e.ID}
	}
	return nil
}
