package statuspage

// The hosts: how many calls each has seen, and what breakers and budgets say of them.

import (
	"container/list"
	"time"
)

// traffic counts calls by host. It keeps the hosts that were seen last.
type traffic struct {
	size   int
	order  list.List // of *Host, the one seen last in front
	byName map[string]*list.Element
}

func (t *traffic) init(size int) {
	t.size = size
	t.byName = make(map[string]*list.Element)
}

// see returns the counts of a host, which is the one seen last now.
func (t *traffic) see(name string, now time.Time) *Host {
	at, ok := t.byName[name]
	if ok {
		t.order.MoveToFront(at)
	} else {
		if t.order.Len() >= t.size {
			oldest := t.order.Back()
			delete(t.byName, oldest.Value.(*Host).Name)
			t.order.Remove(oldest)
		}
		at = t.order.PushFront(&Host{Name: name})
		t.byName[name] = at
	}
	h := at.Value.(*Host)
	h.LastSeen = now
	return h
}

func (t *traffic) copy() []Host {
	hosts := make([]Host, 0, t.order.Len())
	for at := t.order.Front(); at != nil; at = at.Next() {
		hosts = append(hosts, *at.Value.(*Host))
	}
	return hosts
}

// guard fills in what the breakers and the budget say, which have locks of their own.
func (p *Page) guard(s *Snapshot) {
	index := make(map[string]int, len(s.Hosts))
	for i, h := range s.Hosts {
		index[h.Name] = i
	}
	host := func(key string) *Host {
		name := hostOfKey(key)
		i, ok := index[name]
		if !ok {
			i = len(s.Hosts)
			index[name] = i
			s.Hosts = append(s.Hosts, Host{Name: name})
		}
		return &s.Hosts[i]
	}
	if g := p.config.Breaker; g != nil {
		for _, b := range g.Snapshot() {
			host(b.Key).Breaker = &Breaker{
				State:       b.State.String(),
				Since:       b.Since,
				RetryAt:     b.RetryAt,
				Consecutive: b.Consecutive,
				Known:       b.Known,
				Failures:    b.Failures,
				Cooldown:    b.Cooldown,
				Cause:       errorText(b.Cause),
			}
		}
	}
	if b := p.config.Budget; b != nil {
		tokens := b.Snapshot()
		if shared, ok := tokens[""]; ok && len(tokens) == 1 {
			s.Tokens = &shared
			return
		}
		for key, have := range tokens {
			host(key).Tokens = &have
		}
		fresh := b.Tokens("") // what a host has that isn't remembered
		for i := range s.Hosts {
			if s.Hosts[i].Tokens == nil {
				s.Hosts[i].Tokens = &fresh
			}
		}
	}
}
