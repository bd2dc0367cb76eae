package main

// The guarded herd: what budgets and breakers do to it.

import (
	"fmt"
	"time"

	"github.com/rebound-go/rebound/roundtripper/budget"
)

// guarded is a herd with something that stops retries.
type guarded struct {
	name   string
	jitter string        // the name of its strategy
	guard  func(h *herd) // makes what stops it, anew for each run
}

// paidEach gives each client of h a budget of its own.
func paidEach(h *herd, newPayer func() payer) {
	payers := make([]payer, h.size)
	for i := range payers {
		payers[i] = newPayer()
	}
	h.budget = func(client int) payer { return payers[client] }
}

// paidTogether gives all clients of h one budget.
func paidTogether(h *herd, p payer) {
	h.budget = func(int) payer { return p }
}

// guardedEach gives each client of h a breaker like c.
func guardedEach(h *herd, c circuit) {
	circuits := make([]circuit, h.size)
	for i := range circuits {
		circuits[i] = c
	}
	h.breaker = func(client int) guard { return &circuits[client] }
}

// guardedTogether gives all clients of h one breaker like c.
func guardedTogether(h *herd, c circuit) {
	h.breaker = func(int) guard { return &c }
}

func standardTokens() payer { return newTokens(budget.Config{}) }

// plainCircuit opens after five failures in a row, for exactly the cooldown each time; its trial has a short lease.
func plainCircuit(cooldown time.Duration) circuit {
	return circuit{row: 5, cooldown: cooldown, lease: 100 * time.Millisecond}
}

// ownCircuit is as package breaker has it: a cooldown is lengthened by up to a half and doubled by a failed trial, and a
// trial may stay silent for 30 s.
func ownCircuit(cooldown time.Duration) circuit {
	return circuit{row: 5, cooldown: cooldown, maxCooldown: 5 * time.Minute, spread: true, lease: 30 * time.Second}
}

// leaves is how long those who waited for a breaker take to leave, unless a table varies it.
const leaves = 500 * time.Millisecond

// guards are the variants of the herd that has a budget or a breaker for each client.
func guards() []guarded {
	const cooldown = 30 * time.Second
	waits := func(c circuit) func(*herd) {
		return func(h *herd) { h.spread = leaves; guardedEach(h, c) }
	}
	return []guarded{
		{"no jitter, a budget per client", "none", func(h *herd) { paidEach(h, standardTokens) }},
		{"no jitter, a budget per client by gRPC's rule", "none", func(h *herd) { paidEach(h, newThrottle) }},
		{"no jitter, one budget for all", "none", func(h *herd) { paidTogether(h, standardTokens()) }},
		{"full jitter, one budget for all", "full", func(h *herd) { paidTogether(h, standardTokens()) }},
		{"full jitter, a budget per client", "full", func(h *herd) { paidEach(h, standardTokens) }},
		{"full jitter, a breaker per client, waits", "full", waits(plainCircuit(cooldown))},
		{"full jitter, ... as package breaker has it", "full", waits(ownCircuit(cooldown))},
		{"full jitter, a breaker per client, fails fast", "full", func(h *herd) {
			h.failFast = true
			guardedEach(h, plainCircuit(cooldown))
		}},
		{"no jitter, a breaker per client, waits", "none", waits(plainCircuit(cooldown))},
	}
}

// times runs the guarded herd n times, each with guards of its own.
func (g guarded) times(n int) []*stampede {
	all := make([]*stampede, n)
	for i := range all {
		h := theHerd(named(g.jitter))
		g.guard(&h)
		all[i] = h.run()
	}
	return all
}

func guardedTable(runs int) *table {
	t := &table{
		title: "The herd: budgets and breakers",
		text: fmt.Sprintf(`
The same herd. A budget is package budget itself with its defaults, or gRPC's rule with the same figures. A breaker is
the rule of package breaker in virtual time, not the package itself: five failures in a row open it, for exactly 30 s, or
for 30 s and up to a half more as the package has it. A client that waits for one leaves up to half a second after its
cooldown; one that fails fast gives up instead. Means of %d runs, and ranges.`, runs),
	}
	t.row("variant", "through", "gave up", "last client, s", "99 %, s", "attempts", "busiest slot")
	for _, g := range guards() {
		all := g.times(runs)
		last, slow := "-", "-"
		if over(all, throughCount).high > 0 {
			last, slow = over(all, lastSeconds).show(1), over(all, slowSeconds).show(1)
		}
		t.row(g.name, over(all, throughCount).show(0), over(all, gaveUpCount).show(0), last, slow,
			over(all, sendCount).show(0), over(all, busiestSlot).show(0))
	}
	return t
}

// shared is a herd behind one breaker; who waits for it leaves within spread.
func shared(c circuit, spread time.Duration) guarded {
	return guarded{jitter: "full", guard: func(h *herd) { h.spread = spread; guardedTogether(h, c) }}
}

func sharedTable(runs int) *table {
	t := &table{
		title: "The herd: one breaker for all",
		text: fmt.Sprintf(`
Full jitter, and all clients behind one breaker, as in one process. One that is refused waits as long as the breaker
says, for the cooldown or for the lease of the trial that is under way, and up to a span more. If all of them leave
faster than the server can take them, five refusals in a row open the breaker again. The lease is 100 ms; as package
breaker has it, 30 s, though the trial is over after 50 ms: whoever comes in between waits in vain.
Means of %d runs, and ranges.`, runs),
	}
	t.row("cooldown, s", "leave within, s", "last client, s", "median, s", "attempts", "busiest slot", "refused although it is up")
	add := func(name string, spread time.Duration, c circuit) {
		all := shared(c, spread).times(runs)
		t.row(name, fmt.Sprint(spread.Seconds()), over(all, lastSeconds).show(1), over(all, medianSeconds).show(1),
			over(all, sendCount).show(0), over(all, busiestSlot).show(0), over(all, refusedCount).show(0))
	}
	for _, cooldown := range []time.Duration{30 * time.Second, 5 * time.Second} {
		for _, spread := range []time.Duration{leaves, 2 * time.Second, 10 * time.Second} {
			add(fmt.Sprint(cooldown.Seconds()), spread, plainCircuit(cooldown))
		}
		for _, spread := range []time.Duration{leaves, 2 * time.Second} {
			add(fmt.Sprint(cooldown.Seconds(), " as package breaker has it"), spread, ownCircuit(cooldown))
		}
	}
	return t
}
