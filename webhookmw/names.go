package webhookmw

// The names of the objects that are open, for finding one that stands twice. It is a compiler's scoped symbol table: a
// hash table with chains, in which an object's names are entered as they come and taken off, last first, when it ends.

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
)

type nameTable struct {
	seed    maphash.Seed // random, so that nobody can send names that all fall into one chain
	factor  [3]uint64    // random and odd, for the same purpose
	buckets []uint32     // per chain, its latest name, counted from 1; 0: none
	list    []name
	decoded []byte // names that were written with escapes
}

type name struct {
	hash       uint64
	start, end uint32
	decoded    bool   // start and end are in decoded, not in the document
	prev       uint32 // the name before it in its chain
}

func newNameTable() nameTable {
	t := nameTable{seed: maphash.MakeSeed(), buckets: make([]uint32, 1<<9)}
	for i := range t.factor {
		t.factor[i] = rand.Uint64() | 1
	}
	return t
}

// hash is maphash for long names. Those of up to 16 bytes, nearly all, are two overlapping words at most, and a
// multiplication each does for them.
func (t *nameTable) hash(name []byte) uint64 {
	n := len(name)
	var head, tail uint64
	switch {
	case n > 16:
		return maphash.Bytes(t.seed, name)
	case n >= 8:
		head = binary.LittleEndian.Uint64(name)
		tail = binary.LittleEndian.Uint64(name[n-8:])
	case n >= 4:
		head = uint64(binary.LittleEndian.Uint32(name))
		tail = uint64(binary.LittleEndian.Uint32(name[n-4:]))
	case n >= 1:
		head = uint64(name[0]) | uint64(name[n/2])<<8
		tail = uint64(name[n-1])
	}
	high, low := bits.Mul64(head^t.factor[0], tail^t.factor[1])
	return high ^ low ^ uint64(n)*t.factor[2]
}

// enter begins an object and returns its mark: the number of names so far. Marks of open objects differ, since an
// object inside another one is the value of a name.
func (t *nameTable) enter() (mark uint32) { return uint32(len(t.list)) }

// leave ends the object with that mark.
func (t *nameTable) leave(mark uint32) {
	for n := len(t.list); n > int(mark); n-- {
		old := &t.list[n-1]
		t.buckets[old.hash&uint64(len(t.buckets)-1)] = old.prev
	}
	t.list = t.list[:mark]
	if mark == 0 {
		t.decoded = t.decoded[:0]
	}
}

// add enters a name into the object with that mark, the innermost. It reports false if the name is there already.
func (t *nameTable) add(data []byte, s span, mark uint32) bool {
	n := name{start: uint32(s.start), end: uint32(s.end)}
	if s.escaped {
		n.decoded = true
		n.start = uint32(len(t.decoded))
		t.decoded = unescape(t.decoded, data[s.start:s.end])
		n.end = uint32(len(t.decoded))
	}
	text := t.text(data, &n)
	n.hash = t.hash(text)
	bucket := &t.buckets[n.hash&uint64(len(t.buckets)-1)]
	n.prev = *bucket
	for k := n.prev; k > mark; { // Names of outer objects come last in every chain.
		known := &t.list[k-1]
		if known.hash == n.hash && string(t.text(data, known)) == string(text) {
			return false
		}
		k = known.prev
	}
	t.list = append(t.list, n)
	*bucket = uint32(len(t.list))
	if len(t.list) > 2*len(t.buckets) {
		t.grow()
	}
	return true
}

// large reports whether the table has grown so much that it is better not kept for the next document.
func (t *nameTable) large() bool { return cap(t.list) > 1<<14 || cap(t.decoded) > 1<<16 }

func (t *nameTable) text(data []byte, n *name) []byte {
	if n.decoded {
		return t.decoded[n.start:n.end]
	}
	return data[n.start:n.end]
}

func (t *nameTable) grow() {
	t.buckets = make([]uint32, 4*len(t.buckets))
	for i := range t.list {
		n := &t.list[i]
		bucket := &t.buckets[n.hash&uint64(len(t.buckets)-1)]
		n.prev, *bucket = *bucket, uint32(i+1)
	}
}
