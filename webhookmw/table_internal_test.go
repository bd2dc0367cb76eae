package webhookmw

// The table's own order, which nobody sees from outside: an entry out of place would go late, and no one would know.

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableStaysInOrder(t *testing.T) {
	var entries table[int]
	known := map[tag]int64{} // by tag, when it expires
	pick := func() tag {
		for k := range known {
			return k
		}
		return tag{}
	}
	now := int64(0)
	for step := range 5000 {
		switch rand.IntN(8) {
		case 0:
			if k := pick(); len(known) > 0 {
				entries.remove(entries.find(k, now))
				delete(known, k)
			}
		case 1:
			if k := pick(); len(known) > 0 {
				known[k] = max(known[k], now+1+rand.Int64N(1000))
				entries.extend(entries.find(k, now), known[k])
			}
		case 2:
			now += rand.Int64N(20)
			for k, expiry := range known {
				if expiry <= now {
					delete(known, k)
				}
			}
			entries.expire(now, maxIndex)
		default:
			k := tag{rand.Uint64(), uint64(step)}
			known[k] = now + 1 + rand.Int64N(1000)
			require.NotZero(t, entries.insert(k, known[k], step))
		}
		require.Equal(t, len(known), entries.len(), "step %d", step)
		for place, slot := range entries.queue {
			if knows := int(entries.at(uint32(slot & maxIndex)).place); knows != place {
				t.Fatalf("step %d: the entry at %d takes itself to be at %d", step, place, knows)
			}
			if parent := (place - 1) / 4; place > 0 && entries.queue[parent] > slot {
				t.Fatalf("step %d: the entry at %d expires before its parent", step, place)
			}
		}
	}
	for k, expiry := range known {
		require.NotZero(t, entries.find(k, expiry-1))
		require.Zero(t, entries.find(k, expiry))
	}
}
