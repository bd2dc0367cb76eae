package storetest

// The promises about one delivery and one owner at a time.

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

func claim(t *testing.T, s webhookmw.Store) {
	c := delivery()
	first := want(t, s, c, webhookmw.Claimed)
	if first.EventSeen || first.SignatureReused {
		t.Errorf("Claim of an unknown delivery: %+v", first)
	}
	want(t, s, attempt(c), webhookmw.InFlight)
	want(t, s, attempt(c), webhookmw.InFlight)
	want(t, s, delivery(), webhookmw.Claimed)
}

func complete(t *testing.T, s webhookmw.Store) {
	c := delivery()
	want(t, s, c, webhookmw.Claimed)
	must(t, s.Complete, c)
	for range 2 {
		if got := want(t, s, attempt(c), webhookmw.Completed); !got.EventSeen {
			t.Error("Completed without EventSeen")
		}
	}
}

func release(t *testing.T, s webhookmw.Store) {
	c := delivery()
	want(t, s, c, webhookmw.Claimed)
	must(t, s.Release, c)
	again := attempt(c)
	if got := want(t, s, again, webhookmw.Claimed); got.EventSeen {
		t.Error("EventSeen after a release")
	}
	must(t, s.Release, again)
	again = attempt(c)
	again.Fingerprint = random()
	want(t, s, again, webhookmw.Claimed) // Nothing is known of a delivery that was given back, its body included.
	must(t, s.Complete, again)
	want(t, s, attempt(again), webhookmw.Completed)
}

func mismatch(t *testing.T, s webhookmw.Store) {
	c := delivery()
	other := attempt(c)
	other.Fingerprint = random()
	nearly := attempt(c)
	nearly.Fingerprint[31] ^= 1
	want(t, s, c, webhookmw.Claimed)
	want(t, s, other, webhookmw.Mismatch)
	want(t, s, nearly, webhookmw.Mismatch)
	must(t, s.Complete, c)
	want(t, s, other, webhookmw.Mismatch)
	want(t, s, nearly, webhookmw.Mismatch)
	want(t, s, attempt(c), webhookmw.Completed)
}

func owner(t *testing.T, s webhookmw.Store) {
	c := delivery()
	mustNot(t, s.Complete, c)
	mustNot(t, s.Release, c)
	want(t, s, c, webhookmw.Claimed)
	mustNot(t, s.Complete, attempt(c))
	mustNot(t, s.Release, attempt(c))
	want(t, s, attempt(c), webhookmw.InFlight)
	must(t, s.Complete, c)
	mustNot(t, s.Release, attempt(c))
	want(t, s, attempt(c), webhookmw.Completed)
}

func settledOnce(t *testing.T, s webhookmw.Store) {
	c := delivery()
	want(t, s, c, webhookmw.Claimed)
	must(t, s.Complete, c)
	mustNot(t, s.Release, c)
	want(t, s, attempt(c), webhookmw.Completed)

	c = delivery()
	want(t, s, c, webhookmw.Claimed)
	must(t, s.Release, c)
	mustNot(t, s.Complete, c)
	want(t, s, attempt(c), webhookmw.Claimed)
}

func lease(t *testing.T, s webhookmw.Store) {
	var c webhookmw.Claim
	inTime(t, leaseTime, "the lease has ended before its time", func() bool {
		c = short(delivery())
		c.Retain = long
		want(t, s, c, webhookmw.Claimed)
		time.Sleep(leaseTime / 4)
		return state(t, s, attempt(c)) == webhookmw.InFlight
	})
	time.Sleep(leaseTime)
	next := attempt(c)
	next.Lease = long
	want(t, s, next, webhookmw.Claimed)
	want(t, s, attempt(c), webhookmw.InFlight)
}

func takenOver(t *testing.T, s webhookmw.Store) {
	c := short(delivery())
	c.Retain = long
	want(t, s, c, webhookmw.Claimed)
	time.Sleep(leaseTime + leaseTime/4)
	next := attempt(c)
	next.Lease = long
	want(t, s, next, webhookmw.Claimed)
	mustNot(t, s.Complete, c)
	mustNot(t, s.Release, c)
	want(t, s, attempt(c), webhookmw.InFlight)
	must(t, s.Complete, next)
	want(t, s, attempt(c), webhookmw.Completed)
}

// A lease that has run out, and nobody has come since: its owner did the work all the same.
func lateOwner(t *testing.T, s webhookmw.Store) {
	done, givenBack := short(delivery()), short(delivery())
	done.Retain, givenBack.Retain = long, long
	want(t, s, done, webhookmw.Claimed)
	want(t, s, givenBack, webhookmw.Claimed)
	time.Sleep(leaseTime + leaseTime/4)
	must(t, s.Complete, done)
	must(t, s.Release, givenBack)
	want(t, s, attempt(done), webhookmw.Completed)
	want(t, s, attempt(givenBack), webhookmw.Claimed)
}

func retention(t *testing.T, s webhookmw.Store) {
	var c webhookmw.Claim
	inTime(t, retainTime*3/2, "the delivery is forgotten before its time", func() bool {
		c = short(delivery())
		want(t, s, c, webhookmw.Claimed)
		time.Sleep(retainTime / 2)
		must(t, s.Complete, c) // Retention begins now, not with the claim.
		time.Sleep(retainTime * 3 / 4)
		return state(t, s, attempt(c)) == webhookmw.Completed
	})
	time.Sleep(retainTime / 2)
	want(t, s, attempt(c), webhookmw.Claimed)
}

func eventSeen(t *testing.T, s webhookmw.Store) {
	c := delivery()
	replay := func() webhookmw.Claim {
		r := attempt(c)
		r.Key = random()
		return r
	}
	want(t, s, c, webhookmw.Claimed)
	given := replay()
	if got := want(t, s, given, webhookmw.Claimed); got.EventSeen {
		t.Error("EventSeen while the event is in work")
	}
	must(t, s.Release, given)
	if got := want(t, s, replay(), webhookmw.Claimed); got.EventSeen {
		t.Error("EventSeen after another delivery of the event was released")
	}
	must(t, s.Complete, c)
	if got := want(t, s, replay(), webhookmw.Claimed); !got.EventSeen {
		t.Error("no EventSeen once a delivery of the event is done")
	}
	if got := want(t, s, delivery(), webhookmw.Claimed); got.EventSeen {
		t.Error("EventSeen for another event")
	}
}

func eventSeenForAsLong(t *testing.T, s webhookmw.Store) {
	var c webhookmw.Claim
	replay := func() webhookmw.Claim {
		r := attempt(c)
		r.Key = random()
		return r
	}
	inTime(t, retainTime*3/2, "the event is forgotten before the last delivery of it", func() bool {
		c = short(delivery())
		want(t, s, c, webhookmw.Claimed)
		must(t, s.Complete, c)
		time.Sleep(retainTime / 2)
		second := replay()
		want(t, s, second, webhookmw.Claimed)
		must(t, s.Complete, second) // Puts off the end of the event's memory.
		time.Sleep(retainTime * 3 / 4)
		return want(t, s, replay(), webhookmw.Claimed).EventSeen
	})
	time.Sleep(retainTime / 2)
	if got := want(t, s, replay(), webhookmw.Claimed); got.EventSeen {
		t.Error("the event is remembered for longer than asked")
	}
}

func signatureReused(t *testing.T, s webhookmw.Store) {
	c := delivery()
	forged := func() webhookmw.Claim {
		f := attempt(c)
		f.Key, f.Signature = random(), c.Signature
		return f
	}
	want(t, s, c, webhookmw.Claimed)
	if got := want(t, s, forged(), webhookmw.Claimed); !got.SignatureReused {
		t.Error("no SignatureReused while the first delivery is in work")
	}
	must(t, s.Release, c)
	if got := want(t, s, forged(), webhookmw.Claimed); !got.SignatureReused {
		t.Error("no SignatureReused after the first delivery was released")
	}
	c.Token = rand.Text()
	if got := want(t, s, c, webhookmw.Claimed); got.SignatureReused {
		t.Error("SignatureReused for the delivery that it first came with")
	}
	must(t, s.Complete, c)
	if got := want(t, s, forged(), webhookmw.Claimed); !got.SignatureReused {
		t.Error("no SignatureReused after the first delivery was completed")
	}
	c.Token = rand.Text()
	if got := want(t, s, c, webhookmw.Completed); got.SignatureReused {
		t.Error("SignatureReused for the delivery that it first came with, completed")
	}

	// An attempt that finds its delivery in work is recorded too.
	c = delivery()
	want(t, s, c, webhookmw.Claimed)
	c = attempt(c)
	want(t, s, c, webhookmw.InFlight)
	if got := want(t, s, forged(), webhookmw.Claimed); !got.SignatureReused {
		t.Error("no SignatureReused for the signature of an attempt that was turned away")
	}
}

func signatureForAsLong(t *testing.T, s webhookmw.Store) {
	inTime(t, retainTime, "the signature is forgotten before its time", func() bool {
		c := short(delivery())
		want(t, s, c, webhookmw.Claimed)
		must(t, s.Release, c)
		time.Sleep(retainTime * 3 / 4)
		forged := attempt(c)
		forged.Key, forged.Signature = random(), c.Signature
		return want(t, s, forged, webhookmw.Claimed).SignatureReused
	})
}
