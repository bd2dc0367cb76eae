package main

// Contention: clients that write one row by turns, and start again when another was faster.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/rebound-go/rebound/backoff"
)

// contention is the experiment of Marc Brooker's "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015). Each
// client reads a row and its version, and writes it back. A write is taken if nobody else wrote in between; else the
// client waits and starts again. Every message takes its time on the network, and there are four in a round.
type contention struct {
	clients int
	delay   backoff.Strategy
}

// The waits that the published program uses. It counts failures from 1 where a [backoff.Strategy] counts retries from 0,
// so its first wait is that of the second retry.
const (
	contentionBase  = 5 * time.Millisecond
	contentionMax   = 2 * time.Second
	contentionFirst = 1
)

// contenders are the strategies that the experiment compares.
func contenders() []strategy {
	exponential := backoff.Exponential(contentionBase, contentionMax)
	return []strategy{
		{"immediate", "no wait", backoff.None()},
		{"none", "no jitter", exponential},
		{"equal", "equal jitter", backoff.EqualJitter(exponential)},
		{"full", "full jitter", backoff.FullJitter(exponential)},
		{"decorrelated", "decorrelated jitter", backoff.Decorrelated(contentionBase, contentionMax)},
	}
}

// contest is what became of it.
type contest struct {
	took   time.Duration // until the last client knew that it was done
	writes int
}

// contentionEvent is a message that arrives.
type contentionEvent struct {
	client int
	step   contentionStep
}

type contentionStep int

const (
	reads  contentionStep = iota // at the server
	writes                       // at the server
	taken                        // at the client, with good news
	beaten                       // at the client, with bad
)

func (c contention) run() contest {
	type client struct {
		version  int
		failures int
		waited   time.Duration
	}
	var (
		result  contest
		l       loop[contentionEvent]
		version int
		clients = make([]client, c.clients)
	)
	for i := range clients {
		l.after(hop(), contentionEvent{i, reads})
	}
	for e := range l.events() {
		one := &clients[e.client]
		switch e.step {
		case reads:
			one.version = version
			l.after(hop()+hop(), contentionEvent{e.client, writes}) // by way of the client
		case writes:
			result.writes++
			answer := beaten
			if one.version == version {
				version++
				answer = taken
			}
			l.after(hop(), contentionEvent{e.client, answer})
		case beaten:
			one.waited = c.delay(one.failures+contentionFirst, one.waited)
			one.failures++
			l.after(one.waited+hop(), contentionEvent{e.client, reads})
		}
	}
	result.took = l.now
	return result
}

func (c contention) times(n int) []contest {
	all := make([]contest, n)
	for i := range all {
		all[i] = c.run()
	}
	return all
}

func contestSeconds(c contest) float64 { return c.took.Seconds() }
func contestWrites(c contest) float64  { return float64(c.writes) }

func contentionTable(runs int) *table {
	t := &table{
		title: "Contention: clients that write one row",
		text: fmt.Sprintf(`
Each client reads a row and writes it back, and starts again if another was faster; base 5 ms, no wait above 2 s, about
10 ms per message. Time until all are done, s; writes in all. Means of %d runs, with ranges.`, runs),
	}
	head := []string{"clients"}
	for _, s := range contenders() {
		head = append(head, s.title+", s", "writes")
	}
	t.row(head...)
	for _, clients := range []int{10, 50, 100, 150, 190} {
		row := []string{fmt.Sprint(clients)}
		for _, s := range contenders() {
			all := contention{clients, s.delay}.times(runs)
			row = append(row, over(all, contestSeconds).show(2), over(all, contestWrites).show(0))
		}
		t.row(row...)
	}
	return t
}

// hop is how long a message takes: 10 ms, with a standard deviation of 2.
func hop() time.Duration {
	return time.Duration(math.Abs(10+2*rand.NormFloat64()) * float64(time.Millisecond))
}
