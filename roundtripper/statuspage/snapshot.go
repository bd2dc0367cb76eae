package statuspage

// The snapshot: what the page shows at one moment, as Go and as JSON.

import (
	"cmp"
	"slices"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/webhookmw"
)

// A Snapshot is all that a [Page] shows at one moment. It is a copy, the caller's to keep.
type Snapshot struct {
	At           time.Time  `json:"at"`
	Offline      *bool      `json:"offline"` // whether the gate takes the network for lost; nil: there is no gate
	Tokens       *float64   `json:"tokens"`  // of a budget that all hosts share; nil: there is none
	Totals       Totals     `json:"totals"`
	Hosts        []Host     `json:"hosts"`          // those whose breaker isn't closed, then those seen last
	HostsLeftOut int        `json:"hosts_left_out"` // hosts above Config.Hosts
	Calls        []Call     `json:"calls"`          // those in flight, then those that ended last
	Deliveries   []Delivery `json:"deliveries"`     // the latest first
}

// Totals count what has ended since the page was made.
type Totals struct {
	Done      uint64 `json:"done"`      // calls that ended with a 2xx or 3xx
	Failed    uint64 `json:"failed"`    // calls that ended with another status, or an error
	Abandoned uint64 `json:"abandoned"` // calls that ended without a word
	Retries   uint64 `json:"retries"`   // attempts after the first, of all of these
	Verified  uint64 `json:"verified"`  // deliveries that were verified, whatever became of them
	Refused   uint64 `json:"refused"`   // requests that were not
}

// A Host is what is known of one host.
type Host struct {
	Name     string    `json:"name"`    // scheme, host and port; the port is left out where the scheme implies it
	Breaker  *Breaker  `json:"breaker"` // nil: none is remembered, so calls go through
	Tokens   *float64  `json:"tokens"`  // of a budget with PerHost; nil: there is none
	Calls    uint64    `json:"calls"`   // those that have ended
	Failed   uint64    `json:"failed"`
	Retries  uint64    `json:"retries"`
	LastSeen time.Time `json:"last_seen,omitzero"` // when a call was last sent there, or ended
}

// A Breaker is what there is to see of a host's breaker.
type Breaker struct {
	State       string        `json:"state"` // closed, open or half-open
	Since       time.Time     `json:"since"`
	RetryAt     time.Time     `json:"retry_at,omitzero"` // when a trial may start, or could have
	Consecutive int           `json:"consecutive"`       // failures in a row
	Known       int           `json:"known"`             // results in the window
	Failures    int           `json:"failures"`          // failures among them
	Cooldown    time.Duration `json:"cooldown_ns"`
	Cause       string        `json:"cause,omitzero"` // of the latest failure
}

// StateAbandoned is the state of a call that ended without a word. The other states of a [Call] are those of
// [roundtripper.State], without StateSlow.
const StateAbandoned roundtripper.State = "abandoned"

// A Call is one call, in flight or ended.
type Call struct {
	Method       string              `json:"method"`
	URL          string              `json:"url"` // the caller's, without user info, query and fragment
	RequestID    string              `json:"request_id,omitzero"`
	State        roundtripper.State  `json:"state"`
	Slow         bool                `json:"slow"`
	Stop         roundtripper.Reason `json:"stop,omitzero"`   // why it ended
	Status       int                 `json:"status,omitzero"` // of the last attempt that was answered
	Fallback     bool                `json:"fallback"`        // its caller got what Policy.Fallback served
	Start        time.Time           `json:"start"`
	Elapsed      time.Duration       `json:"elapsed_ns"` // so far, while it is in flight
	Attempts     int                 `json:"attempts"`
	Steps        []Step              `json:"steps"`          // in order
	StepsLeftOut int                 `json:"steps_left_out"` // those between the first and the second of Steps
}

// InFlight reports whether the call has not ended.
func (c *Call) InFlight() bool {
	switch c.State {
	case roundtripper.StateDone, roundtripper.StateFailed, StateAbandoned:
		return false
	}
	return true
}

// Trouble reports whether the call is anything but one that goes, or went, well at once.
func (c *Call) Trouble() bool {
	return c.State == roundtripper.StateFailed || c.State == StateAbandoned || c.State == roundtripper.StateOffline ||
		c.Fallback || c.Attempts > 1 || c.Slow || len(c.Steps) > 1
}

// A StepKind says what a call was doing.
type StepKind string

// The kinds of steps.
const (
	StepAttempt StepKind = "attempt"   // an attempt was on its way
	StepWait    StepKind = "wait"      // before the next attempt
	StepHeld    StepKind = "held-back" // since the host had asked other calls to wait
	StepOffline StepKind = "offline"   // for the network
)

// A Step is what a call did for a while. The last step of a call in flight goes on.
type Step struct {
	Kind    StepKind      `json:"kind"`
	Start   time.Time     `json:"start"`
	Elapsed time.Duration `json:"elapsed_ns"`          // so far, while it goes on
	Planned time.Duration `json:"planned_ns,omitzero"` // how long a wait was to be

	// Of an attempt.

	Number    int                 `json:"number,omitzero"` // from 1
	Status    int                 `json:"status,omitzero"` // 0: no response
	Error     string              `json:"error,omitzero"`
	Reason    roundtripper.Reason `json:"reason,omitzero"` // empty: it has not been judged
	MayHeal   bool                `json:"may_heal,omitzero"`
	Unsent    bool                `json:"unsent,omitzero"`    // it is certain that nothing of it left
	Uncharged bool                `json:"uncharged,omitzero"` // the network was away, so it used no retry
}

// A Delivery is one request to a webhook receiver, and what became of it.
type Delivery struct {
	Method          string           `json:"method"`
	Path            string           `json:"path"`
	Verified        bool             `json:"verified"` // false: the fields of the delivery itself are empty
	EventID         string           `json:"event_id,omitzero"`
	DeliveryID      string           `json:"delivery_id,omitzero"`
	Type            string           `json:"type,omitzero"`
	Timestamp       time.Time        `json:"timestamp,omitzero"` // when it was signed
	Duplicate       bool             `json:"duplicate"`
	EventSeen       bool             `json:"event_seen"`
	SignatureReused bool             `json:"signature_reused"`
	Reason          webhookmw.Reason `json:"reason"`
	Status          int              `json:"status"` // 0: none, since the handler panicked or took the connection
	Error           string           `json:"error,omitzero"`
	At              time.Time        `json:"at"` // when it was settled
	Elapsed         time.Duration    `json:"elapsed_ns"`
}

// Snapshot returns what the page shows at the moment.
func (p *Page) Snapshot() Snapshot {
	s := Snapshot{At: time.Now()}
	if g := p.config.Offline; g != nil {
		away := g.Offline()
		s.Offline = &away
	}
	p.mu.Lock()
	p.calls.bury(p, s.At)
	s.Totals = p.totals
	s.Calls = p.calls.copy(s.At)
	s.Deliveries = p.deliveries.copy()
	s.Hosts = p.hosts.copy()
	p.mu.Unlock()

	p.guard(&s)
	sortHosts(s.Hosts)
	if over := len(s.Hosts) - p.config.Hosts; over > 0 {
		s.Hosts, s.HostsLeftOut = s.Hosts[:p.config.Hosts], over
	}
	return s
}

func sortHosts(hosts []Host) {
	calm := func(h Host) int {
		if h.Breaker == nil || h.Breaker.State == "closed" {
			return 1
		}
		return 0
	}
	slices.SortFunc(hosts, func(a, b Host) int {
		return cmp.Or(calm(a)-calm(b), b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.Name, b.Name))
	})
}
