package statuspage

// The deliveries: what became of requests to webhook receivers.

import (
	"cmp"
	"slices"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// deliveries keeps those that were verified apart from all else that somebody may send.
type deliveries struct {
	verified, refused ring[numbered]
	count             uint64
}

type numbered struct {
	Delivery
	number uint64
}

func (d *deliveries) init(size int) { d.verified.size, d.refused.size = size, size }

// ObserveDelivery is a webhookmw.Config.Observe that puts the request on the page. It keeps nothing of the event itself.
func (p *Page) ObserveDelivery(e webhookmw.Event) {
	d := Delivery{
		Reason:  e.Reason,
		Status:  e.Status,
		Error:   errorText(e.Err),
		At:      time.Now(),
		Elapsed: e.Elapsed,
	}
	if r := e.Request; r != nil {
		d.Method, d.Path = clean(r.Method), pathText(r.URL)
	}
	if v := e.Delivery; v != nil {
		d.Verified = true
		d.EventID, d.DeliveryID, d.Type = clean(v.EventID), clean(v.DeliveryID), clean(v.Type)
		d.Timestamp = v.Timestamp
		d.Duplicate, d.EventSeen, d.SignatureReused = v.Duplicate, v.EventSeen, v.SignatureReused
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deliveries.count++
	if n := (numbered{d, p.deliveries.count}); d.Verified {
		p.deliveries.verified.put(n)
		p.totals.Verified++
	} else {
		p.deliveries.refused.put(n)
		p.totals.Refused++
	}
}

func (d *deliveries) copy() []Delivery {
	kept := slices.Concat(d.verified.values, d.refused.values)
	slices.SortFunc(kept, func(a, b numbered) int { return cmp.Compare(b.number, a.number) })
	all := make([]Delivery, len(kept))
	for i := range kept {
		all[i] = kept[i].Delivery
	}
	return all
}
