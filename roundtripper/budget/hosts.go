package budget

// The hosts: a bounded set of buckets, read without a lock.

import (
	"sync"
	"sync/atomic"
)

type hosts struct {
	initial int64 // of a new bucket
	limit   int

	index sync.Map     // host to *bucket
	clock atomic.Int64 // counts questions, to order them

	mu      sync.Mutex // for whoever adds or removes
	buckets []*bucket  // those in index
}

// find returns host's bucket, nil if it has none.
func (h *hosts) find(host string) *bucket {
	k, ok := h.index.Load(host)
	if !ok {
		return nil
	}
	return k.(*bucket)
}

// get returns host's bucket and makes it if need be.
func (h *hosts) get(host string) *bucket {
	if k := h.find(host); k != nil {
		return k
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.find(host); k != nil {
		return k
	}
	for len(h.buckets) >= h.limit {
		h.forget()
	}
	k := &bucket{host: host}
	k.tokens.Store(h.initial)
	h.touch(k)
	h.buckets = append(h.buckets, k)
	h.index.Store(host, k)
	return k
}

// touch notes that k was asked for a retry just now. Refusals count: a host
// that asks in vain is the last one to give new tokens to.
func (h *hosts) touch(k *bucket) { k.asked.Store(h.clock.Add(1)) }

// forget drops the bucket that is missed least: one that has all that a new
// one would have, else the one that was asked longest ago. It drops none if
// that one changes at this very moment. h.mu is held.
func (h *hosts) forget() {
	type choice struct {
		at            int
		tokens, asked int64
		needless      bool
	}
	var best choice
	for i, k := range h.buckets {
		c := choice{at: i, tokens: k.tokens.Load(), asked: k.asked.Load()}
		c.needless = c.tokens >= h.initial
		if i == 0 || c.needless && !best.needless || c.needless == best.needless && c.asked < best.asked {
			best = c
		}
	}
	k := h.buckets[best.at]
	if !k.tokens.CompareAndSwap(best.tokens, forgotten) {
		return
	}
	h.index.Delete(k.host)
	last := len(h.buckets) - 1
	h.buckets[best.at] = h.buckets[last]
	h.buckets[last] = nil
	h.buckets = h.buckets[:last]
}

func (h *hosts) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := make([]string, len(h.buckets))
	for i, k := range h.buckets {
		names[i] = k.host
	}
	return names
}
