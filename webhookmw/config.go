package webhookmw

// The settings of a receiver, their defaults, and what makes no sense among them.

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// The defaults of Config.
const (
	defaultTolerance    = 5 * time.Minute
	defaultMaxBodyBytes = 128 << 10
	defaultLease        = 30 * time.Second
	defaultRetention    = 24 * time.Hour
	defaultWait         = 1500 * time.Millisecond
	defaultMaxWaiters   = 1000
)

const mostBodyBytes = 1 << 30

// Config says how deliveries are verified and remembered. A field that is zero has the default that stands beside it.
// [New] copies the Config; the Store and what the functions reach stay shared.
type Config struct {
	// Secrets are the keys that senders may have signed with, in the form that the scheme hands them out in. Put the
	// current one first, and while senders change over the previous ones after it: all of them are accepted, and each
	// costs one more pass over the body.
	Secrets []string

	Scheme       Scheme        // how deliveries are signed; zero: Signed
	Tolerance    time.Duration // how far the timestamp may be off, either way, edges included; 0: 5 minutes; counted in whole seconds
	MaxBodyBytes int64         // 0: 128 KiB; at most 1 GiB
	Contract     Contract      // what an event must look like; nil: the scheme's own, StrictEvent for Signed and Stripe

	// RequireV2 refuses deliveries without a v2 signature, in the scheme [Signed] alone: whoever recorded one can't send it
	// under another delivery ID any more. Set it where every sender sends v2, as [Sign] does.
	RequireV2 bool

	// Store remembers deliveries. nil: NewMemory(MemoryConfig{}), which forgets when the process ends and knows nothing of
	// what other processes took.
	Store Store

	// Lease is how long one delivery may be in work: the handler's context ends with it, and after it the sender's next
	// attempt runs, since the one before must have died. 0: 30 seconds. It should be longer than a handler ever takes.
	Lease time.Duration

	// Retention is how long a finished delivery is remembered. 0: 24 hours. It is at least twice the Tolerance, the
	// longest time over which one signature stays good; and it should be longer than the sender goes on retrying.
	Retention time.Duration

	Wait       time.Duration // how long the twin of a delivery in work waits for it to end before it is answered 409; 0: 1.5 seconds
	MaxWaiters int           // how many twins may wait at once; the ones above are answered 409 at once; 0: 1000

	// Scope separates receivers that share a Store: what one has seen is new to another. Several processes that serve
	// the same receiver have the same Scope. Secrets are not part of what is remembered, so that rotating one forgets
	// nothing.
	Scope string

	// RunDuplicates runs the handler for duplicates too, with Delivery.Duplicate set. Without it they are answered 200
	// and the handler does not see them. The handler runs without a claim then, so several may run at once.
	RunDuplicates bool

	// Observe, if set, is told what became of each request, once, when that is settled; it is called on the request's
	// goroutine, so on many at once, before the last of the answer has left, and should not take long. It is the only one
	// to learn why a delivery was refused. [Log] makes one that writes a log.
	Observe func(Event)
}

// complete fills in the defaults and refuses, all at once, what makes no sense.
func (c *Config) complete(r *rules) error {
	var all []error
	refuse := func(field, problem string) { all = append(all, errors.New("webhookmw: "+field+": "+problem)) }
	for _, n := range []struct {
		field string
		value int64
	}{
		{"Tolerance", int64(c.Tolerance)},
		{"MaxBodyBytes", c.MaxBodyBytes},
		{"Lease", int64(c.Lease)},
		{"Retention", int64(c.Retention)},
		{"Wait", int64(c.Wait)},
		{"MaxWaiters", int64(c.MaxWaiters)},
	} {
		if n.value < 0 {
			refuse(n.field, "negative")
		}
	}
	if len(c.Secrets) == 0 {
		refuse("Secrets", "none")
	}
	if c.RequireV2 && !r.idNoStamp {
		refuse("RequireV2", "the Scheme has no v2")
	}
	if c.MaxBodyBytes > mostBodyBytes {
		refuse("MaxBodyBytes", fmt.Sprintf("%d is more than the %d (1 GiB) that a body read into memory can be", c.MaxBodyBytes, int64(mostBodyBytes)))
	}
	c.Tolerance = cmp.Or(c.Tolerance, defaultTolerance)
	c.MaxBodyBytes = cmp.Or(c.MaxBodyBytes, defaultMaxBodyBytes)
	c.Lease = cmp.Or(c.Lease, defaultLease)
	c.Retention = cmp.Or(c.Retention, defaultRetention)
	c.Wait = cmp.Or(c.Wait, defaultWait)
	c.MaxWaiters = cmp.Or(c.MaxWaiters, defaultMaxWaiters)
	if c.Contract == nil {
		c.Contract = r.contract
	}
	if c.Store == nil {
		c.Store = NewMemory(MemoryConfig{})
	}
	if c.Retention >= 0 && c.Retention/2 < c.Tolerance {
		refuse("Retention", fmt.Sprintf("%v is less than twice the Tolerance of %v, so that a delivery could be forgotten while its signature is still good", c.Retention, c.Tolerance))
	}
	// Both edges of the window are inside, in whole seconds: a signature is good for that much longer.
	c.Retention = max(c.Retention, 2*c.Tolerance+time.Second)
	return errors.Join(all...)
}
