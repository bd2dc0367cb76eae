package budget

// The budget as its callers see it: one bucket for all hosts, or one each.

import "math"

// Config says how a [Budget] earns and saves. Amounts are tokens, and one
// token pays for one retry. They are rounded to the nearest thousandth.
// Negative amounts and NaN are read as none at all, which is the reading that
// allows the fewest retries; amounts above 1e12 are read as 1e12.
type Config struct {
	// Ratio is what a success earns. 0 means 0.1: one retry for ten successes.
	// Below 0.0005 a success earns nothing.
	Ratio float64

	// Max is the most that can be saved up. 0 means 10. Below 1 there is never
	// a whole token, so nothing is ever retried.
	Max float64

	// Initial is what there is at the start, at most Max. 0 means Max; a
	// negative number means to start with nothing.
	Initial float64

	// PerHost keeps the tokens of each host apart. Without it the methods'
	// host argument is ignored.
	PerHost bool

	// MaxHosts is how many hosts are remembered with PerHost. 0 or less means
	// 1024.
	//
	// To make room, a host that has at least Initial goes first, since
	// forgetting it gives it nothing; if there is none, the host that asked for
	// a retry longest ago. That one starts afresh when it is next seen, so each
	// such loss allows it at most Initial retries above the bound. Choosing
	// takes a look at every host, so it costs time in proportion to MaxHosts.
	MaxHosts int
}

// A Budget says whether a retry can be afforded. It is made by [New]; the zero
// Budget allows no retry. It may be used by any number of goroutines at once
// and mustn't be copied.
type Budget struct {
	ratio, initial, max int64  // thousandths of a token
	all                 bucket // without PerHost
	hosts               *hosts // with it
}

const (
	token     = 1000         // thousandths in one
	mostSaved = 1e12 * token // far enough from overflow that sums are safe
)

// New returns a Budget as c describes it.
func New(c Config) *Budget {
	b := &Budget{
		ratio:   thousandths(c.Ratio, 0.1),
		max:     thousandths(c.Max, 10),
		initial: math.MaxInt64,
	}
	if c.Initial != 0 {
		b.initial = thousandths(c.Initial, 0)
	}
	b.initial = min(b.initial, b.max)
	b.all.tokens.Store(b.initial)
	if c.PerHost {
		if c.MaxHosts <= 0 {
			c.MaxHosts = 1024
		}
		b.hosts = &hosts{initial: b.initial, limit: c.MaxHosts}
	}
	return b
}

// thousandths rounds tokens; zero stands for standard.
func thousandths(tokens, standard float64) int64 {
	if tokens == 0 {
		tokens = standard
	}
	if !(tokens > 0) { // NaN too
		return 0
	}
	return int64(math.Round(min(tokens*token, mostSaved)))
}

// Success records that the service at host did its work, which earns Ratio.
// When the budget is full, as it is while all is well, this writes nothing.
func (b *Budget) Success(host string) { b.earn(host, b.ratio) }

// Withdraw takes a token to pay for one retry to host. It reports false, and
// takes nothing, when there is no whole token: then don't retry.
func (b *Budget) Withdraw(host string) bool {
	if b.hosts == nil {
		return b.all.spend() == done
	}
	for {
		k := b.hosts.get(host)
		b.hosts.touch(k)
		if result := k.spend(); result != stale {
			return result == done
		}
	}
}

// Refund gives back the token of a retry that was never sent. Call it at most
// once for each [Budget.Withdraw] that reported true. What would exceed Max is
// lost.
func (b *Budget) Refund(host string) { b.earn(host, token) }

func (b *Budget) earn(host string, amount int64) {
	if b.hosts == nil {
		b.all.earn(amount, b.max)
		return
	}
	for {
		k := b.hosts.find(host)
		if k == nil {
			if b.initial == b.max {
				return // a new bucket is full already: nothing to remember
			}
			k = b.hosts.get(host)
		}
		if k.earn(amount, b.max) != stale {
			return
		}
	}
}

// Tokens returns what there is for host at the moment, for people to look at.
// A host that isn't remembered has Initial.
func (b *Budget) Tokens(host string) float64 {
	k := &b.all
	if b.hosts != nil {
		k = b.hosts.find(host)
	}
	have := int64(forgotten)
	if k != nil {
		have = k.tokens.Load()
	}
	if have == forgotten {
		have = b.initial
	}
	return float64(have) / token
}

// Snapshot returns the tokens of every host that is remembered, for people to
// look at. Without PerHost that is a single figure under the empty name.
func (b *Budget) Snapshot() map[string]float64 {
	if b.hosts == nil {
		return map[string]float64{"": b.Tokens("")}
	}
	tokens := make(map[string]float64)
	for _, host := range b.hosts.names() {
		tokens[host] = b.Tokens(host)
	}
	return tokens
}
