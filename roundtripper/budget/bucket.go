package budget

// The bucket: the tokens themselves, in one atomic word.

import "sync/atomic"

// A bucket holds thousandths of a token. Integers, because ten float additions
// of 0.1 don't make 1.
type bucket struct {
	tokens atomic.Int64 // never negative, until it is forgotten
	host   string
	asked  atomic.Int64 // when a retry was last asked for, by the clock of hosts
}

// forgotten is what a bucket holds once its host has been forgotten. Whoever
// still has a pointer to it sees that and looks the host up again: without
// this a host could spend the tokens of two buckets.
const forgotten = -1

type outcome int

const (
	done      outcome = iota
	unchanged         // nothing to take, or no room for more
	stale             // the bucket is forgotten
)

func (k *bucket) earn(amount, limit int64) outcome {
	for {
		have := k.tokens.Load()
		switch {
		case have == forgotten:
			return stale
		case have >= limit:
			return unchanged
		case k.tokens.CompareAndSwap(have, min(have+amount, limit)):
			return done
		}
	}
}

func (k *bucket) spend() outcome {
	for {
		have := k.tokens.Load()
		switch {
		case have == forgotten:
			return stale
		case have < token:
			return unchanged
		case k.tokens.CompareAndSwap(have, have-token):
			return done
		}
	}
}
