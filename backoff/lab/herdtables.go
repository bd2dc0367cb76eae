package main

// The herd's tables: what jitter does.

import (
	"fmt"
	"time"
)

// published is what is told of the experiment elsewhere, by strategy: the last client, and the busiest 100 ms.
var published = map[string][2]string{
	"none":         {"more than 60", "1000"},
	"full":         {"about 11", "about 270"},
	"equal":        {"about 7", "about 420"},
	"decorrelated": {"-", "-"},
}

// What the tables of herds show, of one run each. Times are in seconds.
func lastSeconds(s *stampede) float64   { return s.last().Seconds() }
func medianSeconds(s *stampede) float64 { return s.percentile(50).Seconds() }
func slowSeconds(s *stampede) float64   { return s.percentile(99).Seconds() }
func busiestSlot(s *stampede) float64   { return float64(s.busiest) }
func slidingSlot(s *stampede) float64   { return float64(s.sliding) }
func lateSlot(s *stampede) float64      { return float64(s.late) }
func sendCount(s *stampede) float64     { return float64(s.sends) }
func throughCount(s *stampede) float64  { return float64(len(s.through)) }
func gaveUpCount(s *stampede) float64   { return float64(s.gaveUp) }
func refusedCount(s *stampede) float64  { return float64(s.refused) }

func jitterTable(runs int) *table {
	t := &table{
		title: "The herd: what jitter does",
		text: fmt.Sprintf(`
1,000 clients send at once to a server that is down for 3 s and serves 100 requests per 100 ms from then on; base
500 ms, no wait above 8 s, no limit on attempts, 50 ms until a failure is known. Busiest: the most retries in 100 ms,
first attempts left out. Published: what is told of this experiment elsewhere. Means of %d runs, and ranges.`, runs),
	}
	t.row("jitter", "last client, s", "published", "median, s", "99 %, s", "busiest slot", "published",
		"busiest 100 ms anywhere", "busiest slot once it is up", "attempts", "through within 4 attempts")
	for _, s := range strategies() {
		all := theHerd(s.delay).times(runs)
		limited := theHerd(s.delay)
		limited.attempts = 4
		t.row(s.name,
			over(all, lastSeconds).show(2), published[s.name][0],
			over(all, medianSeconds).show(2),
			over(all, slowSeconds).show(2),
			over(all, busiestSlot).show(0), published[s.name][1],
			over(all, slidingSlot).show(0),
			over(all, lateSlot).show(0),
			over(all, sendCount).show(0),
			over(limited.times(runs), throughCount).show(0))
	}
	return t
}

func outageTable(runs int) *table {
	t := &table{
		title: "The herd: how long the outage lasts",
		text: fmt.Sprintf(`
The same, with other outages: last client, s / busiest slot / attempts. Means of %d runs. The longer the outage, the
less the jitter matters for when the last client is through: its last wait does.`, runs),
	}
	head := []string{"outage, s"}
	for _, s := range strategies() {
		head = append(head, s.name)
	}
	t.row(head...)
	for _, seconds := range []int{1, 2, 3, 4, 6, 10, 30} {
		row := []string{fmt.Sprint(seconds)}
		for _, s := range strategies() {
			h := theHerd(s.delay)
			h.outage = time.Duration(seconds) * time.Second
			all := h.times(runs)
			row = append(row, fmt.Sprintf("%s / %s / %s", decimal(over(all, lastSeconds).mean, 1),
				decimal(over(all, busiestSlot).mean, 0), decimal(over(all, sendCount).mean, 0)))
		}
		t.row(row...)
	}
	return t
}
