package webhookmw

// Memory: the Store of a single process.

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultMaxEntries = 1_000_000

	// signaturesPerEntry bounds the signatures by the deliveries: each attempt at a delivery brings a new one. Above that
	// the oldest go.
	signaturesPerEntry = 4

	shardBits  = 5
	shardCount = 1 << shardBits // as many as shards has bits

	// maxEntries keeps each shard's part of a full Memory well within what a table can count.
	maxEntries = shardCount * maxIndex / 2
)

// MemoryConfig says how much a Memory keeps.
type MemoryConfig struct {
	// MaxEntries is how many deliveries are remembered at once, in work and done. 0 or less: 1,000,000; more than
	// 268,435,440 is as good as that. Each that is done takes its place for [Config.Retention], so the most that a Memory
	// takes in the long run is MaxEntries/Retention: with both at their defaults 11.6 deliveries a second. A receiver of
	// more sets MaxEntries to what comes in a Retention, with something to spare, or the Retention lower.
	MaxEntries int
}

// Memory is a [Store] in the memory of this process: what it remembers ends with it, and other processes don't know. It is
// for one receiver on one machine; what a restart costs is that a delivery from before it may run again.
//
// It takes about 140 bytes for a delivery that is remembered, and its size does not weigh on the garbage collector. It
// starts no goroutine: what has expired goes as new deliveries come. When MaxEntries deliveries are in work or remembered
// it refuses others with [ErrFull] rather than forget one. It remembers four times as many signatures, and lets go of the
// oldest where more come: what is lost with one is a [Delivery.SignatureReused]. Its methods never wait and ignore the
// context. It is safe for use by many goroutines at once. Make one with [NewMemory]; the zero Memory is of no use.
type Memory struct {
	seed       maphash.Seed
	start      time.Time
	limit      int64
	deliveries atomic.Int64 // in work and done
	signatures atomic.Int64
	shards     [shardCount]shard
}

// shard is a part of every table. What is hashed decides which shard it belongs to, so a delivery's own entry, its event
// and its signature are in three of them as a rule, and a step locks all that it needs.
type shard struct {
	mu         sync.Mutex
	inWork     table[work]
	done       table[body]
	events     table[nothing]
	signatures table[origin]
	_          [64]byte // keeps the locks of two shards off one cache line
}

type (
	// work is a delivery in work. Its lease is kept to the nanosecond; its entry stays on after it, so that an owner that
	// is late may still complete it.
	work struct {
		body  body
		token uint64
		lease time.Duration // when it ends, since Memory.start
	}
	body    struct{ fingerprint uint64 }
	origin  struct{ delivery uint64 } // which one a signature first came with
	nothing struct{}
)

// NewMemory returns an empty Memory.
func NewMemory(config MemoryConfig) *Memory {
	m := &Memory{seed: maphash.MakeSeed(), start: time.Now(), limit: defaultMaxEntries}
	if config.MaxEntries > 0 {
		m.limit = min(int64(config.MaxEntries), maxEntries)
	}
	return m
}

// Claim implements [Store].
func (m *Memory) Claim(_ context.Context, c Claim) (Status, error) {
	now := time.Since(m.start)
	status, ok := m.claim(&c, now)
	if !ok && m.reclaim(now) {
		status, ok = m.claim(&c, now)
	}
	if !ok {
		return Status{}, ErrFull
	}
	return status, nil
}

// claim takes the delivery if it is to be had, and looks at all that is known beside it, in one step. ok is false, and
// nothing has happened, where there is no room for it.
//
// What may be there is looked for first, one after the other: it is nowhere near in memory, and where nothing comes between
// the processor fetches all of it at once.
func (m *Memory) claim(c *Claim, now time.Duration) (status Status, ok bool) {
	key, event, signature := m.tag(&c.Key), m.tag(&c.Event), m.tag(&c.Signature)
	held := shardOf(key) | shardOf(event) | shardOf(signature)
	m.lock(held)
	defer m.unlock(held)
	s, signatures := m.shard(key), &m.shard(signature).signatures
	done, seen := s.done.find(key, ticks(now)), m.shard(event).events.find(event, ticks(now))
	known := signatures.find(signature, ticks(now))
	if status.State, ok = m.takeDelivery(s, key, done, c, now); !ok {
		return Status{}, false
	}
	status.EventSeen = status.State == Completed || seen != 0
	status.SignatureReused = m.noteSignature(signatures, signature, known, key, now, c.Retain)
	return status, true
}

// takeDelivery is claim for the delivery alone. Its shard is s, which is locked, and done its index among what is done.
func (m *Memory) takeDelivery(s *shard, key tag, done uint32, c *Claim, now time.Duration) (state State, ok bool) {
	fresh := work{body: m.body(c), token: m.token(c), lease: after(now, c.Lease)}
	expiry := expiryAfter(now, max(c.Lease, c.Retain))
	if done != 0 {
		return compare(s.done.at(done).value, fresh.body, Completed), true
	}
	if index := s.inWork.find(key, ticks(now)); index != 0 {
		held := &s.inWork.at(index).value
		if now < held.lease {
			return compare(held.body, fresh.body, InFlight), true
		}
		*held = fresh
		s.inWork.extend(index, expiry)
		return Claimed, true
	}
	return Claimed, add(&s.inWork, &m.deliveries, m.limit, now, key, expiry, fresh)
}

func compare(known, got body, same State) State {
	if known != got {
		return Mismatch
	}
	return same
}

// noteSignature remembers which delivery a signature came with, and reports whether it was another one. t is its shard's,
// which is locked, and known its index there. No delivery is refused for a signature: where there is no room the one goes
// that would have gone next, or in a shard without any, the new one.
func (m *Memory) noteSignature(t *table[origin], signature tag, known uint32, key tag, now, retain time.Duration) (reused bool) {
	expiry := expiryAfter(now, retain)
	if known != 0 {
		t.extend(known, expiry)
		return t.at(known).value.delivery != key[0]
	}
	first := origin{key[0]}
	if !add(t, &m.signatures, signaturesPerEntry*m.limit, now, signature, expiry, first) && t.removeNext() {
		t.insert(signature, expiry, first) // In the place of another one, it counts no more than that did.
	}
	return false
}

// Complete implements [Store].
func (m *Memory) Complete(_ context.Context, c Claim) error {
	now := time.Since(m.start)
	key, event := m.tag(&c.Key), m.tag(&c.Event)
	held := shardOf(key) | shardOf(event)
	m.lock(held)
	defer m.unlock(held)
	s, expiry := m.shard(key), expiryAfter(now, c.Retain)
	fingerprint, ok := m.endWork(s, key, &c, now)
	if !ok {
		return ErrNotOwner
	}
	drop(&s.done, &m.deliveries, now, 2)
	s.done.insert(key, expiry, fingerprint)
	s = m.shard(event)
	if index := s.events.find(event, ticks(now)); index != 0 {
		s.events.extend(index, expiry)
	} else {
		s.events.expire(ticks(now), 2)
		s.events.insert(event, expiry, nothing{})
	}
	return nil
}

// Release implements [Store].
func (m *Memory) Release(_ context.Context, c Claim) error {
	key := m.tag(&c.Key)
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := m.endWork(s, key, &c, time.Since(m.start)); !ok {
		return ErrNotOwner
	}
	m.deliveries.Add(-1)
	return nil
}

// endWork takes a delivery out of work, if it is that owner's. Its shard is s, which is locked.
func (m *Memory) endWork(s *shard, key tag, c *Claim, now time.Duration) (fingerprint body, ok bool) {
	index := s.inWork.find(key, ticks(now))
	if index == 0 || s.inWork.at(index).value.token != m.token(c) {
		return body{}, false
	}
	fingerprint = s.inWork.at(index).value.body
	s.inWork.remove(index)
	return fingerprint, true
}

// add inserts an entry that counts, unless the limit is reached. It takes the chance to let go of entries that have
// expired, more than it adds, so that they never pile up.
func add[V any](t *table[V], count *atomic.Int64, limit int64, now time.Duration, k tag, expiry int64, value V) bool {
	drop(t, count, now, 2)
	if count.Add(1) > limit || t.insert(k, expiry, value) == 0 {
		count.Add(-1)
		return false
	}
	return true
}

// drop lets go of up to limit entries that have expired and returns how many it was.
func drop[V any](t *table[V], count *atomic.Int64, now time.Duration, limit int) int {
	n := t.expire(ticks(now), limit)
	if n > 0 {
		count.Add(-int64(n))
	}
	return n
}

// shards are several of a Memory's, a bit for each.
type shards uint32

func shardOf(k tag) shards { return 1 << (k[0] >> (64 - shardBits)) }

func (m *Memory) shard(k tag) *shard { return &m.shards[k[0]>>(64-shardBits)] }

// lock locks all of them, lowest first, so that no two callers wait for one another.
func (m *Memory) lock(all shards) {
	for ; all != 0; all &= all - 1 {
		m.shards[bits.TrailingZeros32(uint32(all))].mu.Lock()
	}
}

func (m *Memory) unlock(all shards) {
	for ; all != 0; all &= all - 1 {
		m.shards[bits.TrailingZeros32(uint32(all))].mu.Unlock()
	}
}

// reclaim makes room when there is none: it lets go of every delivery that has expired, and of work whose lease has run out.
func (m *Memory) reclaim(now time.Duration) (some bool) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		n := drop(&s.done, &m.deliveries, now, maxIndex) + m.dropLapsed(s, now)
		s.mu.Unlock()
		some = some || n > 0
	}
	return some
}

func (m *Memory) dropLapsed(s *shard, now time.Duration) int {
	var lapsed []uint32
	for _, slot := range s.inWork.queue {
		if index := uint32(slot & maxIndex); s.inWork.at(index).value.lease <= now {
			lapsed = append(lapsed, index)
		}
	}
	for _, index := range lapsed {
		s.inWork.remove(index)
	}
	m.deliveries.Add(-int64(len(lapsed)))
	return len(lapsed)
}

// tag hashes what a store is given once more, under a seed of this Memory's own, so that nobody outside can choose where it
// falls. What is given is a hash itself, of which the other half of the tag is a part.
func (m *Memory) tag(hash *[32]byte) tag {
	return tag{maphash.Bytes(m.seed, hash[:]), binary.LittleEndian.Uint64(hash[:])}
}

func (m *Memory) body(c *Claim) body { return body{maphash.Bytes(m.seed, c.Fingerprint[:])} }

func (m *Memory) token(c *Claim) uint64 { return maphash.String(m.seed, c.Token) }

// A tick is a millisecond since Memory.start. An expiry is rounded up, so that nothing goes before its time.
const tick = time.Millisecond

func ticks(d time.Duration) int64 { return int64(d / tick) }

func expiryAfter(now, d time.Duration) int64 {
	end := after(now, d)
	if end%tick > 0 {
		return ticks(end) + 1
	}
	return ticks(end)
}

// after is now+d, and the end of time where that overflows.
func after(now, d time.Duration) time.Duration {
	if end := now + d; end >= now {
		return end
	}
	return math.MaxInt64
}
