package main

// What there is to see of a herd: when its clients got through, and how many came at once.

import "time"

// stampede is what became of a herd.
type stampede struct {
	through []time.Duration // when each client that got through sent the attempt which did, in order
	gaveUp  int
	sends   int
	refused int // attempts that were refused although the server was up
	late    int // retries in the busiest slot in which it was
	busiest int // retries in the busiest slot
	sliding int // retries in the busiest span as long as a slot, wherever it begins

	served, rejected []int // attempts by slot, the first ones included
}

// last is when the last client got through.
func (s *stampede) last() time.Duration { return s.percentile(100) }

// percentile is when more than p of a hundred of the clients that got through had done so.
func (s *stampede) percentile(p int) time.Duration {
	if len(s.through) == 0 {
		return 0
	}
	return s.through[min(len(s.through)*p/100, len(s.through)-1)]
}

// count looks for the busiest moments among retries, which are in order of time.
func (s *stampede) count(h herd, retries []time.Duration) {
	bySlot := make([]int, len(s.served))
	oldest := 0
	for i, at := range retries {
		slot := at / h.slot
		bySlot[slot]++
		s.busiest = max(s.busiest, bySlot[slot])
		if at >= h.outage {
			s.late = max(s.late, bySlot[slot])
		}
		for at-retries[oldest] >= h.slot {
			oldest++
		}
		s.sliding = max(s.sliding, i-oldest+1)
	}
}
