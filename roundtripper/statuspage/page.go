package statuspage

// The page: what it is given, and what it keeps.

import (
	"cmp"
	"sync"

	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
)

// The defaults of Config.
const (
	defaultCalls      = 100
	defaultDeliveries = 100
	defaultHosts      = 100
)

// Config says what a [Page] looks at and how much it keeps. The zero Config is a page of what its observers are told. A
// number below zero is read as zero.
type Config struct {
	Breaker *breaker.Group // that of the policies; nil: no breaker is shown
	Budget  *budget.Budget // that of the policies; nil: no tokens are shown
	Offline *offline.Gate  // that of the policies; nil: nothing is shown of the network

	// Calls is how many ended calls are kept that went well at once, how many others that have ended, and how many calls in
	// flight. 0: 100.
	Calls int

	// Deliveries is how many deliveries are kept that were verified, and how many requests that were not. 0: 100.
	Deliveries int

	// Hosts is how many hosts are shown, and of how many the calls are counted: the one seen longest ago goes first, and
	// hosts whose breaker isn't closed are shown before all others. 0: 100.
	Hosts int
}

// A Page is an [http.Handler] that shows what became of calls and deliveries. It is made by [New]; the zero Page is of no
// use. It may be used by any number of goroutines at once and mustn't be copied.
type Page struct {
	config Config // defaults applied

	mu         sync.Mutex
	calls      calls
	deliveries deliveries
	hosts      traffic
	totals     Totals
}

// New returns a Page with nothing on it yet.
func New(c Config) *Page {
	c.Calls = cmp.Or(max(c.Calls, 0), defaultCalls)
	c.Deliveries = cmp.Or(max(c.Deliveries, 0), defaultDeliveries)
	c.Hosts = cmp.Or(max(c.Hosts, 0), defaultHosts)
	p := &Page{config: c}
	p.calls.init(c.Calls)
	p.deliveries.init(c.Deliveries)
	p.hosts.init(c.Hosts)
	return p
}
