package main

// The herd: a thousand clients that failed at the same moment, and a server that comes back.

import (
	"math/rand/v2"
	"time"

	"github.com/rebound-go/rebound/backoff"
)

// herd is one experiment: clients that all send at time 0 to a server that is down for a while and can serve so many
// attempts in each slot of time from then on. It refuses the others. A client learns of its result after answer, waits
// as delay says and sends again. A slot begins at a multiple of its length, and an attempt belongs to the one that it is
// sent in.
type herd struct {
	size     int // clients
	outage   time.Duration
	answer   time.Duration
	slot     time.Duration
	capacity int // attempts that a slot can serve

	delay    backoff.Strategy
	attempts int // the most that a client makes; 0: no limit

	// budget gives the one that a client's retries are paid from. Nil: they are free.
	budget func(client int) payer
	// breaker gives the one that a client asks before each attempt. Nil: nobody asks.
	breaker func(client int) guard
	// failFast makes a client give up when its breaker is open; else it waits until the breaker lets a call through,
	// and for up to spread more.
	failFast bool
	spread   time.Duration
}

// theHerd is the experiment as it is usually told: 1,000 clients, down for 3 s, 1,000 requests per second from then on.
// That a failed attempt takes 50 ms is not told; of what was tried only 50 to 120 ms fit the figures that are.
func theHerd(delay backoff.Strategy) herd {
	return herd{
		size:     1000,
		outage:   3 * time.Second,
		answer:   50 * time.Millisecond,
		slot:     100 * time.Millisecond,
		capacity: 100,
		delay:    delay,
	}
}

// strategy is a way to wait, with its name in tables and plots.
type strategy struct {
	name, title string
	delay       backoff.Strategy
}

// strategies are those compared: base 500 ms, no wait above 8 s.
func strategies() []strategy {
	const base, longest = 500 * time.Millisecond, 8 * time.Second
	exponential := backoff.Exponential(base, longest)
	return []strategy{
		{"none", "no jitter", exponential},
		{"full", "full jitter", backoff.FullJitter(exponential)},
		{"equal", "equal jitter", backoff.EqualJitter(exponential)},
		{"decorrelated", "decorrelated jitter", backoff.Decorrelated(base, longest)},
	}
}

// named is the strategy of that name.
func named(name string) backoff.Strategy {
	for _, s := range strategies() {
		if s.name == name {
			return s.delay
		}
	}
	panic("lab: no strategy " + name)
}

// herdEvent is a client that sends an attempt, or learns of its result.
type herdEvent struct {
	client int
	learns bool
	served bool
	permit uint64
}

// client is what a client knows: how often it failed, and how long it waited last.
type client struct {
	failures int
	waited   time.Duration
}

// drive is a herd under way.
type drive struct {
	herd
	stampede
	loop[herdEvent]
	clients []client
	retries []time.Duration // when they were sent
}

// run lets the herd loose. It ends when every client got through or gave up.
func (h herd) run() *stampede {
	d := drive{herd: h, clients: make([]client, h.size)}
	for i := range d.clients {
		d.after(0, herdEvent{client: i})
	}
	for e := range d.events() {
		if e.learns {
			d.learn(e)
		} else {
			d.send(e)
		}
	}
	d.count(h, d.retries)
	return &d.stampede
}

// send sends a client's attempt, if its breaker allows it.
func (d *drive) send(e herdEvent) {
	if d.breaker != nil {
		permit, wait, ok := d.breaker(e.client).allow(d.now)
		switch {
		case ok:
			e.permit = permit
		case d.failFast:
			d.gaveUp++
			return
		default:
			d.after(wait+upTo(d.spread), e)
			return
		}
	}
	if d.clients[e.client].failures > 0 {
		d.retries = append(d.retries, d.now)
	}
	e.learns, e.served = true, d.serve()
	d.after(d.answer, e)
}

// serve is the server: it takes an attempt, and reports whether it could.
func (d *drive) serve() bool {
	slot := int(d.now / d.slot)
	for len(d.served) <= slot {
		d.served = append(d.served, 0)
		d.rejected = append(d.rejected, 0)
	}
	d.sends++
	switch {
	case d.now < d.outage:
	case d.served[slot] < d.capacity:
		d.served[slot]++
		d.through = append(d.through, d.now)
		return true
	default:
		d.refused++
	}
	d.rejected[slot]++
	return false
}

// learn tells a client what became of its attempt, and decides whether and when it sends another.
func (d *drive) learn(e herdEvent) {
	if d.breaker != nil {
		d.breaker(e.client).done(d.now, e.permit, !e.served)
	}
	var pays payer = free{}
	if d.budget != nil {
		pays = d.budget(e.client)
	}
	if e.served {
		pays.succeeded()
		return
	}
	c := &d.clients[e.client]
	if !pays.failed(d.attempts == 0 || c.failures+1 < d.attempts) {
		d.gaveUp++
		return
	}
	c.waited = d.delay(c.failures, c.waited)
	c.failures++
	d.after(c.waited, herdEvent{client: e.client})
}

// times runs the experiment n times.
func (h herd) times(n int) []*stampede {
	all := make([]*stampede, n)
	for i := range all {
		all[i] = h.run()
	}
	return all
}

// upTo draws a duration from 0 to d.
func upTo(d time.Duration) time.Duration { return rand.N(d + 1) }
