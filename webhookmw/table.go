package webhookmw

// A hash table whose entries expire, made of a few large arrays without pointers, so that the garbage collector has
// nothing to look at however many entries there are. It starts no goroutine: expired entries go as new ones come.

// tag is the hash that an entry is found by. Where it falls is the first half's business: its last bits choose the chain,
// and those from the 53rd on tell links apart; the rest are the owner's to use.
type tag [2]uint64

// table is one such table. Times are in ticks, whatever the owner takes for one. It is not safe for use by more than one
// goroutine at a time. The zero table is empty.
type table[V any] struct {
	pages   []*[pageSize]entry[V] // entries by index; index 0 is none
	used    uint32                // indexes given out so far
	free    uint32                // the first of those that are free again
	buckets []link                // per chain, its first entry
	queue   []uint64              // a heap with four children to a node: when an entry expires, and its index
}

type entry[V any] struct {
	value V
	tag   tag
	next  link   // in its chain, or in the list of the free
	place uint32 // in the queue
}

const (
	pageSize  = 64
	indexBits = 24
	maxIndex  = 1<<indexBits - 1
	maxTick   = 1<<(64-indexBits) - 1
)

// link leads to an entry. Beside the index it holds a few bits of the entry's tag and whether another entry may follow in
// the chain, so that most look-ups of what is not there need no look at an entry, which is seldom in the cache.
type link uint32

const (
	linkMore  = 1 << 31
	linkCheck = 0x7F << indexBits
)

func (l link) index() uint32 { return uint32(l & maxIndex) }

// checkOf returns the bits of a tag that a link holds.
func checkOf(k tag) link { return link(k[0]>>52<<indexBits) & linkCheck }

// push returns the link to a new first entry of a chain.
func push(index uint32, k tag, first link) link {
	l := link(index) | checkOf(k)
	if first != 0 {
		l |= linkMore
	}
	return l
}

func (t *table[V]) at(index uint32) *entry[V] { return &t.pages[index/pageSize][index%pageSize] }

func (t *table[V]) len() int { return len(t.queue) }

func (t *table[V]) bucket(k tag) *link { return &t.buckets[k[0]&uint64(len(t.buckets)-1)] }

// find returns the index of the entry, or 0 if there is none or it has expired.
func (t *table[V]) find(k tag, now int64) uint32 {
	if len(t.buckets) == 0 {
		return 0
	}
	for l := *t.bucket(k); l != 0; l = t.at(l.index()).next {
		if l&linkCheck == checkOf(k) {
			index := l.index()
			if t.at(index).tag == k && t.expiry(index) > now { // One that has expired may be there beside its successor.
				return index
			}
		}
		if l&linkMore == 0 {
			break
		}
	}
	return 0
}

// expiry returns the tick from which on the entry counts as gone.
func (t *table[V]) expiry(index uint32) int64 { return int64(t.queue[t.at(index).place] >> indexBits) }

// insert adds an entry that is not in the table, unless it has expired there, and returns its index; 0: the table is full.
func (t *table[V]) insert(k tag, expiry int64, value V) uint32 {
	index := t.free
	switch {
	case index != 0:
		t.free = t.at(index).next.index()
	case t.used == maxIndex:
		return 0
	default:
		t.used++
		index = t.used
		if int(index/pageSize) == len(t.pages) {
			t.pages = append(t.pages, new([pageSize]entry[V]))
		}
	}
	if t.len() >= len(t.buckets) {
		t.grow()
	}
	bucket := t.bucket(k)
	*t.at(index) = entry[V]{value: value, tag: k, next: *bucket, place: uint32(len(t.queue))}
	*bucket = push(index, k, *bucket)
	t.queue = append(t.queue, slot(expiry, index))
	t.up(len(t.queue) - 1)
	return index
}

func slot(expiry int64, index uint32) uint64 {
	return uint64(min(max(expiry, 0), maxTick))<<indexBits | uint64(index)
}

// extend puts off an entry's expiry. It never brings it forward.
func (t *table[V]) extend(index uint32, expiry int64) {
	if place := t.at(index).place; expiry > t.expiry(index) {
		t.queue[place] = slot(expiry, index)
		t.down(int(place))
	}
}

func (t *table[V]) remove(index uint32) {
	e := t.at(index)
	l := t.bucket(e.tag)
	for l.index() != index {
		l = &t.at(l.index()).next
	}
	*l = e.next // The link before it may go on saying that more follows; that costs a look and no more.

	place, last := int(e.place), len(t.queue)-1
	moved := t.queue[last]
	t.queue = t.queue[:last]
	if place < last {
		t.set(place, moved)
		t.down(place)
		t.up(place)
	}
	*e = entry[V]{next: link(t.free)}
	t.free = index
}

// expire removes up to limit expired entries, the longest expired first, and returns how many it was.
func (t *table[V]) expire(now int64, limit int) (n int) {
	for n < limit && len(t.queue) > 0 && int64(t.queue[0]>>indexBits) <= now {
		t.remove(uint32(t.queue[0] & maxIndex))
		n++
	}
	return n
}

// removeNext removes the entry that expires next, if there is one.
func (t *table[V]) removeNext() bool {
	if len(t.queue) == 0 {
		return false
	}
	t.remove(uint32(t.queue[0] & maxIndex))
	return true
}

func (t *table[V]) grow() {
	t.buckets = make([]link, max(16, 4*len(t.buckets)))
	for _, s := range t.queue {
		index := uint32(s & maxIndex)
		e := t.at(index)
		bucket := t.bucket(e.tag)
		e.next, *bucket = *bucket, push(index, e.tag, *bucket)
	}
}

// set puts a slot into the queue and tells its entry.
func (t *table[V]) set(place int, s uint64) {
	t.queue[place] = s
	t.at(uint32(s & maxIndex)).place = uint32(place)
}

// up moves a slot towards the root until its parent expires first.
func (t *table[V]) up(place int) {
	s := t.queue[place]
	for place > 0 {
		parent := (place - 1) / 4
		if t.queue[parent] <= s {
			break
		}
		t.set(place, t.queue[parent])
		place = parent
	}
	t.set(place, s)
}

// down moves a slot away from the root until it expires before its children.
func (t *table[V]) down(place int) {
	s := t.queue[place]
	for {
		first, least := 4*place+1, s
		next := place
		for child := first; child < min(first+4, len(t.queue)); child++ {
			if t.queue[child] < least {
				next, least = child, t.queue[child]
			}
		}
		if next == place {
			break
		}
		t.set(place, least)
		place = next
	}
	t.set(place, s)
}
