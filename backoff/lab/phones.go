package main

// The phones: very many clients that make a call a minute each.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper/budget"
)

// fleet is one experiment: phones that each poll once in a period, at a moment of their own, unless a call is still
// pending. The service is down for a while; an attempt that fails hangs for some seconds first. From then on it serves so
// many attempts per second, and if it collapses under more, the fewer the more there are.
type fleet struct {
	phones   int
	period   time.Duration
	outage   time.Duration
	hang     time.Duration
	capacity float64 // attempts per second
	collapse bool
	watched  time.Duration // how long it is watched after the outage

	policy phonePolicy
}

// theFleet is phones that make 3,000 calls per second if there are 200,000 of them, and a service that can serve half as
// many again. Rates of other fleets are in proportion. Few phones make few calls per step, and those vary so much that
// the service refuses some even in quiet times: how long it takes to recover only a large fleet tells.
func theFleet(policy phonePolicy, phones int) fleet {
	return fleet{
		phones:   phones,
		period:   200 * time.Second / 3,
		outage:   2 * time.Minute,
		hang:     6 * time.Second,
		capacity: 4500 * float64(phones) / 200_000,
		watched:  5 * time.Minute,
		policy:   policy,
	}
}

// phonePolicy is how a phone retries. A call that its breaker refuses fails.
type phonePolicy struct {
	name     string
	delay    backoff.Strategy
	attempts int          // the most per call; 0: no limit
	budget   func() payer // nil: retries are free
	shared   bool         // one budget for all phones
	breaker  *circuit     // each phone has one like it; nil: none
}

// phonePolicies are those compared.
func phonePolicies() []phonePolicy {
	var (
		atOnce = backoff.None()
		full   = named("full")
		ten    = func() payer { return newTokens(budget.Config{}) }
		one    = func() payer { return newTokens(budget.Config{Initial: 1}) }
		exact  = &circuit{row: 5, cooldown: 30 * time.Second, lease: 30 * time.Second}
		ours   = &circuit{row: 5, cooldown: 30 * time.Second, lease: 30 * time.Second,
			spread: true, maxCooldown: 5 * time.Minute}
	)
	return []phonePolicy{
		{name: "no retries", delay: atOnce, attempts: 1},
		{name: "at once, until it works", delay: atOnce},
		{name: "at once, 4 attempts", delay: atOnce, attempts: 4},
		{name: "full jitter, 4 attempts", delay: full, attempts: 4},
		{name: "... and a budget per phone that starts full", delay: full, attempts: 4, budget: ten},
		{name: "... and a budget per phone that starts at 1", delay: full, attempts: 4, budget: one},
		{name: "... and one budget for all phones", delay: full, attempts: 4, budget: ten, shared: true},
		{name: "... and a breaker per phone, 5 / 30 s", delay: full, attempts: 4, breaker: exact},
		{name: "full jitter, no limit, a breaker per phone, 5 / 30 s", delay: full, breaker: exact},
		{name: "... its cooldowns spread and doubled", delay: full, breaker: ours},
	}
}

// rush is what became of it.
type rush struct {
	fleet
	calls, sends int           // during the outage
	load         []int         // attempts sent, by step
	trouble      time.Duration // when the service last refused an attempt
}

// phoneStep is how finely the service looks at its load. What phones do is exact.
const phoneStep = 50 * time.Millisecond

// rate is the attempts per second around a moment.
func (r *rush) rate(at time.Duration) float64 {
	sum := 0
	for _, n := range r.load[(at-time.Second/2)/phoneStep : (at+time.Second/2)/phoneStep] {
		sum += n
	}
	return float64(sum)
}

// perCall is how many attempts a call of the outage made in it.
func (r *rush) perCall() float64 { return float64(r.sends) / float64(r.calls) }

// recovery is how long after the outage attempts were still refused; ok is false if they were to the end.
func (r *rush) recovery() (d time.Duration, ok bool) {
	d = max(0, r.trouble-r.outage)
	return d, d < r.watched-10*time.Second
}

// phone is one of them. It always has exactly one thing to do next.
type phone struct {
	phase    time.Duration // when it polls, within the period
	at       time.Duration // when it does what it does next
	learns   bool          // that an attempt failed; else it sends one
	failures int           // of the call
	waited   time.Duration
	permit   uint64
	budget   payer
	breaker  *circuit
}

// day is a fleet under way.
type day struct {
	rush
	phones []phone
	agenda [][]int32 // which phones have something to do, by step
}

// run watches the fleet from the beginning of the outage.
func (f fleet) run() *rush {
	steps := int((f.outage + f.watched) / phoneStep)
	d := day{
		rush:   rush{fleet: f, load: make([]int, steps)},
		phones: make([]phone, f.phones),
		agenda: make([][]int32, steps),
	}
	d.begin()
	var senders []int32
	for step := range d.agenda {
		senders = senders[:0]
		for k := 0; k < len(d.agenda[step]); k++ { // it may grow: a wait can be shorter than a step
			i := d.agenda[step][k]
			if d.phones[i].learns {
				d.learn(i)
			} else if d.allowed(i) {
				senders = append(senders, i)
			}
		}
		d.agenda[step] = nil
		d.send(step, senders)
	}
	return &d.rush
}

// begin equips the phones and spreads their polls over the period.
func (d *day) begin() {
	pay := func() payer { return free{} }
	if d.policy.budget != nil {
		pay = d.policy.budget
	}
	if d.policy.shared {
		one := pay()
		pay = func() payer { return one }
	}
	for i := range d.phones {
		p := &d.phones[i]
		p.phase = rand.N(d.period)
		p.budget = pay()
		if d.policy.breaker != nil {
			c := *d.policy.breaker
			p.breaker = &c
		}
		d.next(int32(i), p.phase)
	}
}

// next notes when a phone has something to do.
func (d *day) next(i int32, at time.Duration) {
	d.phones[i].at = at
	if step := int(at / phoneStep); step < len(d.agenda) {
		d.agenda[step] = append(d.agenda[step], i)
	}
}

// poll ends a call; the phone's next one begins when it polls again.
func (d *day) poll(i int32) {
	p := &d.phones[i]
	p.learns, p.failures, p.waited = false, 0, 0
	d.next(i, p.phase+((p.at-p.phase)/d.period+1)*d.period)
}

// learn lets a phone know that its attempt failed, and decides what it does next.
func (d *day) learn(i int32) {
	p := &d.phones[i]
	p.learns = false
	p.failures++
	if p.breaker != nil {
		p.breaker.done(p.at, p.permit, true)
	}
	more := d.policy.attempts == 0 || p.failures < d.policy.attempts
	more = more && (p.breaker == nil || !p.breaker.refuses(p.at))
	if !p.budget.failed(more) {
		d.poll(i)
		return
	}
	p.waited = d.policy.delay(p.failures-1, p.waited)
	d.next(i, p.at+p.waited)
}

// allowed counts a call that begins, and asks the phone's breaker for leave to send.
func (d *day) allowed(i int32) bool {
	p := &d.phones[i]
	if p.failures == 0 && p.at < d.outage {
		d.calls++
	}
	if p.breaker == nil {
		return true
	}
	permit, _, ok := p.breaker.allow(p.at)
	if !ok {
		d.poll(i)
		return false
	}
	p.permit = permit
	return true
}

// send lets the service take what it can of the attempts of a step.
func (d *day) send(step int, senders []int32) {
	now := time.Duration(step) * phoneStep
	d.load[step] = len(senders)
	served := 0
	if now < d.outage {
		d.sends += len(senders)
	} else {
		served = d.serves(len(senders))
	}
	if served < len(senders) {
		d.trouble = now + phoneStep
		rand.Shuffle(len(senders), func(i, j int) { senders[i], senders[j] = senders[j], senders[i] })
	}
	for k, i := range senders {
		p := &d.phones[i]
		if k < served {
			p.budget.succeeded()
			if p.breaker != nil {
				p.breaker.done(p.at, p.permit, false)
			}
			d.poll(i)
			continue
		}
		p.learns = true
		d.next(i, p.at+d.hang)
	}
}

// serves is how many of the attempts of a step are served.
func (d *day) serves(load int) int {
	capacity := d.capacity * phoneStep.Seconds()
	switch {
	case float64(load) <= capacity:
		return load
	case d.collapse:
		return int(capacity * capacity / float64(load))
	}
	return int(capacity)
}

// times runs the fleet n times.
func (f fleet) times(n int) []*rush {
	all := make([]*rush, n)
	for i := range all {
		all[i] = f.run()
	}
	return all
}

func phonesTable(runs, phones int) *table {
	t := &table{
		title: "Phones: many clients that call once a minute",
		text: fmt.Sprintf(`
%s phones poll every 66.7 s, 3,000 calls per second if there are 200,000. The service is down for 2 minutes, and a
failed attempt hangs for 6 s. Then it serves half as many attempts again as there are calls; if it collapses, then the
fewer the more it is overloaded. Budgets are package budget itself, one object per phone; breakers are the rule of
package breaker in virtual time. Recovery: how long after the outage attempts are still refused. Runs of each kind: %d;
until the outage is over the two kinds are alike.`, thousands(float64(phones)), runs),
	}
	t.row("policy", "attempts/s at 60 s", "at 115 s", "attempts per call in the outage", "recovery, s", "if it collapses, s")
	for _, p := range phonePolicies() {
		f := theFleet(p, phones)
		all := f.times(runs)
		f.collapse = true
		worse := f.times(runs)
		both := append(slices.Clone(all), worse...) // alike until the outage is over
		t.row(p.name,
			over(both, func(r *rush) float64 { return r.rate(60 * time.Second) }).show(0),
			over(both, func(r *rush) float64 { return r.rate(115 * time.Second) }).show(0),
			over(both, (*rush).perCall).show(2),
			recoveries(all), recoveries(worse))
	}
	return t
}

// recoveries says how long it took, unless it took too long in any of the runs.
func recoveries(runs []*rush) string {
	for _, r := range runs {
		if _, ok := r.recovery(); !ok {
			return fmt.Sprintf("not within %.0f", r.watched.Seconds())
		}
	}
	return over(runs, func(r *rush) float64 { d, _ := r.recovery(); return d.Seconds() }).show(0)
}
