package breaker

// The window: the latest results of a closed breaker, a bit each.

// A window is a ring of size bits, which grows as results come in so that an
// absurd size costs nothing.
type window struct {
	size     int
	bits     []uint64 // 1: failure
	next     int      // where the next result goes
	known    int      // results held, up to size
	failures int      // how many of them are 1
}

func (w *window) add(failed bool) {
	word, bit := w.next/64, uint64(1)<<(w.next%64)
	if word == len(w.bits) {
		w.bits = append(w.bits, 0)
	}
	if w.bits[word]&bit != 0 { // the oldest result makes room
		w.bits[word] &^= bit
		w.failures--
	}
	if failed {
		w.bits[word] |= bit
		w.failures++
	}
	w.known = min(w.known+1, w.size)
	if w.next++; w.next == w.size {
		w.next = 0
	}
}

func (w *window) full() bool { return w.known == w.size }

// reached reports whether ratio of the results are failures.
func (w *window) reached(ratio float64) bool {
	return w.full() && float64(w.failures)/float64(w.size) >= ratio
}

func (w *window) clear() { *w = window{size: w.size, bits: w.bits[:0]} }
