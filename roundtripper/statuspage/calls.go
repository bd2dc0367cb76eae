package statuspage

// The calls: those in flight, and the last that have ended.

import (
	"cmp"
	"net/http"
	"slices"
	"time"
	"weak"

	"github.com/rebound-go/rebound/roundtripper"
)

// calls keeps the records of calls. While a call is in flight it is known by its report, which is held weakly: so the page
// keeps no request alive, and finds out when a call is gone that never told its end.
type calls struct {
	size     int
	flying   map[weak.Pointer[roundtripper.Report]]*record
	well     ring[*record] // those that went well at once
	trouble  ring[*record] // all others
	spare    []*record     // for use again
	started  uint64        // numbers the records in the order of their beginnings
	ended    uint64        // and in that of their ends
	burialAt time.Time     // when to look again for calls that are gone
}

// record is a call as it is kept.
type record struct {
	Call
	host    string
	number  uint64                     // by calls.started, and once it has ended by calls.ended
	open    bool                       // the last step goes on
	request weak.Pointer[http.Request] // the caller's, for telling whose StateSlow it is
}

func (c *calls) init(size int) {
	c.size, c.well.size, c.trouble.size = size, size, size
	c.flying = make(map[weak.Pointer[roundtripper.Report]]*record)
}

// ObserveCall is a roundtripper.Policy.Observe that puts the call on the page.
func (p *Page) ObserveCall(e roundtripper.Event) {
	now := time.Now()
	if e.State == roundtripper.StateSlow {
		p.slowed(e)
		return
	}
	over := e.State == roundtripper.StateDone || e.State == roundtripper.StateFailed
	failure := "" // made without the lock: an error's text is somebody else's code
	if e.Attempt != nil && e.State != roundtripper.StateSending {
		failure = errorText(e.Attempt.Err)
	}
	key := weak.Make(e.Report)

	p.mu.Lock()
	defer p.mu.Unlock()
	c := &p.calls
	r := c.flying[key]
	if r == nil {
		if !over && !c.room(p, now) {
			return // shown when it ends
		}
		r = c.begin(e, now)
		if !over {
			c.flying[key] = r
			if r.host != "" {
				p.hosts.see(r.host, now)
			}
		}
	}
	r.take(e, failure, now)
	if over {
		delete(c.flying, key)
		p.end(r, now)
	}
}

// room reports whether another call can be shown while it is in flight.
func (c *calls) room(p *Page, now time.Time) bool {
	if len(c.flying) < c.size {
		return true
	}
	if now.Before(c.burialAt) {
		return false
	}
	c.burialAt = now.Add(time.Second) // looking at all of them for each call would be dear
	c.bury(p, now)
	return len(c.flying) < c.size
}

// bury ends the calls that are gone without having told their end.
func (c *calls) bury(p *Page, now time.Time) {
	for key, r := range c.flying {
		if key.Value() == nil {
			delete(c.flying, key)
			r.State = StateAbandoned
			r.close(now)
			r.Elapsed = now.Sub(r.Start)
			p.end(r, now)
		}
	}
}

// begin makes the record of a call that nothing is known of yet. If it was not there from the beginning, its attempts so far
// are taken from the report.
func (c *calls) begin(e roundtripper.Event, now time.Time) *record {
	var r *record
	if n := len(c.spare); n > 0 {
		r, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		r = new(record)
	}
	c.started++
	*r = record{number: c.started, Call: Call{Start: now.Add(-e.Report.Elapsed), Steps: r.Steps[:0]}}
	r.Method, r.URL, r.host = requestText(e.Request)
	r.RequestID, r.request = clean(e.Report.RequestID), weak.Make(e.Request)
	for i := range e.Report.Attempts {
		a := &e.Report.Attempts[i]
		if a.Start.Before(r.Start) {
			r.Start = a.Start
		}
		if a == e.Attempt && e.State == roundtripper.StateSending {
			break
		}
		r.add(Step{Kind: StepAttempt, Start: a.Start, Number: a.Number})
		if a == e.Attempt {
			break
		}
		r.judged(a, "", a.Start.Add(a.Elapsed))
		r.add(Step{Kind: StepWait, Start: a.Start.Add(a.Elapsed), Planned: a.Wait})
		r.close(a.Start.Add(a.Elapsed + a.Wait))
	}
	return r
}

// end puts a record among those that have ended.
func (p *Page) end(r *record, now time.Time) {
	c := &p.calls
	c.ended++
	r.number = c.ended
	retries := uint64(max(r.Attempts-1, 0))
	p.totals.Retries += retries
	failed := uint64(0)
	switch r.State {
	case roundtripper.StateDone:
		p.totals.Done++
	case roundtripper.StateFailed:
		p.totals.Failed++
		failed = 1
	default:
		p.totals.Abandoned++
		failed = 1
	}
	if r.host != "" {
		h := p.hosts.see(r.host, now)
		h.Calls++
		h.Failed += failed
		h.Retries += retries
	}
	kept := &c.well
	if r.Trouble() {
		kept = &c.trouble
	}
	if old := kept.put(r); old != nil && len(c.spare) < c.size {
		c.spare = append(c.spare, old)
	}
}

// slowed marks the call that has become slow. Its report is a copy, so it is known by its request.
func (p *Page) slowed(e roundtripper.Event) {
	request := weak.Make(e.Request)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.calls.flying {
		if r.request == request {
			r.Slow = true
		}
	}
}

// copy returns all calls with steps of their own: those in flight, then those that have ended, the latest first.
func (c *calls) copy(now time.Time) []Call {
	flying := make([]*record, 0, len(c.flying))
	for _, r := range c.flying {
		flying = append(flying, r)
	}
	ended := slices.Concat(c.well.values, c.trouble.values)
	latest := func(a, b *record) int { return cmp.Compare(b.number, a.number) }
	slices.SortFunc(flying, latest)
	slices.SortFunc(ended, latest)

	total := 0
	for _, r := range flying {
		total += len(r.Steps)
	}
	for _, r := range ended {
		total += len(r.Steps)
	}
	all := make([]Call, 0, len(flying)+len(ended))
	steps := make([]Step, 0, total) // one piece: others wait for the lock
	for _, r := range slices.Concat(flying, ended) {
		call, from := r.Call, len(steps)
		steps = append(steps, r.Steps...)
		call.Steps = steps[from:len(steps):len(steps)]
		if r.open {
			last := &call.Steps[len(call.Steps)-1]
			last.Elapsed = now.Sub(last.Start)
		}
		if call.InFlight() {
			call.Elapsed = now.Sub(call.Start)
		}
		all = append(all, call)
	}
	return all
}
