package statuspage

// The ring: the last so many of something.

// A ring keeps the last size values put into it.
type ring[T any] struct {
	values []T
	size   int
	next   int // where the next one goes, once it is full
}

// put adds v. It returns the value that had to go for it, or else zero.
func (r *ring[T]) put(v T) (old T) {
	if len(r.values) < r.size {
		r.values = append(r.values, v)
		return old
	}
	old, r.values[r.next] = r.values[r.next], v
	r.next = (r.next + 1) % r.size
	return old
}
