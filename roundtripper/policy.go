package roundtripper

// This file holds what a caller may ask for: the Policy and its presets.

import (
	"math"
	"net/http"
	"time"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
)

// A Policy says what bounds a call and what happens when an attempt fails.
//
// Zero is literal in every field: MaxRetries 0 is no retry, MaxDelay 0 is no
// wait, a timeout of 0 is no timeout. So the zero Policy adds nothing, and
// [New] with it behaves as its base does, but that an error comes inside an
// [*Error]: look for its cause with [errors.As] and [errors.Is]. Most programs
// start from a preset, [Headless], [Standard] or [Transfer], and change fields.
//
// A Policy is copied by [New] and [WithPolicy]; its functions are called from
// many goroutines at once and must allow that.
type Policy struct {
	// How long do I wait?

	// AttemptTimeout bounds one attempt, from the moment it is sent to the
	// last byte of the response body. An attempt that runs out of it may be
	// repeated; a body that is read past it gives an error that is
	// [context.DeadlineExceeded]. Zero: no limit.
	AttemptTimeout time.Duration

	// IdleTimeout bounds the longest silence within an attempt: while the
	// response headers are awaited and no byte of the request body moves, and
	// while a Read of the response body is blocked. A caller who takes its
	// time between two Reads is not silence. It fails as AttemptTimeout does.
	// Zero: no limit.
	IdleTimeout time.Duration

	// TotalTimeout bounds the whole call: attempts, waits and the response
	// body. The context's own deadline holds beside it. Prefer it to
	// [http.Client.Timeout], which bounds the same and costs a goroutine a
	// call. Zero: the context's deadline alone.
	TotalTimeout time.Duration

	// Should I try again?

	// MaxRetries is the number of attempts after the first. Zero: one attempt.
	MaxRetries int

	// Statuses are the response statuses that may heal, each from 100 to 599.
	// Every other one is final, except a 409 that is a [ReasonConflict]. Nil:
	// there are none.
	Statuses []int

	// Decide has the last word on whether a failure may heal. It is called
	// after each attempt but a contract failure, a 101, and one that the caller
	// or TotalTimeout ended, with the policy's own verdict in
	// [Attempt.Verdict], which it may simply return. It can't make an unsafe
	// request safe, nor a body replayable. It must neither read nor close the
	// response body. Nil: the policy decides.
	Decide func(*Attempt) Verdict

	// Envelope makes an error response final when its JSON body says
	// "retryable": false, at the top or inside a top-level "error" object.
	Envelope bool

	// ReadJSON reads the JSON body of a 2xx response inside the attempt, so
	// that one which breaks off or stalls is an attempt that failed and may be
	// repeated, not an error in the caller's hands. It is the most bytes to
	// read ahead; a longer body is handed over with its beginning already
	// read. Zero: nothing is read ahead.
	ReadJSON int64

	// Accept judges a 2xx response before the caller gets it; an error is a
	// contract failure, final, and comes back inside an [Error]. It must leave
	// the body as it found it, as [ValidJSON] does. Nil: all are accepted.
	Accept func(*http.Response) error

	// Is it safe to try again?

	// Methods may be repeated as they are, whatever became of the attempt.
	// An empty method is GET.
	Methods []string

	// KeyHeader names the header of the idempotency key, by which a server
	// knows a repeat. A request of any method that carries a non-empty one may
	// be repeated, and every attempt carries the same. A key may come from
	// [WithKey] too. Empty: keys mean nothing.
	KeyHeader string

	// ReplayBuffer is the most bytes kept of a request body that has no
	// [http.Request.GetBody], while the first attempt streams it. A body that
	// was read to its end within it can be sent again. Zero: nothing is kept.
	ReplayBuffer int64

	// RetryUnsent lets a request of any method be repeated when it is certain
	// that nothing of it left: see [Attempt.Sent].
	RetryUnsent bool

	// Prepare is called on each attempt's own copy of the request, right
	// before it is sent and after every wait, for what must be fresh: a
	// signature, a date, a token. attempt counts from 1. It may change headers
	// and URL, and must not touch the body; request ID and key are put back to
	// what the call has. Its error ends the call.
	Prepare func(req *http.Request, attempt int) error

	// When, and when do I stop?

	// Backoff gives the wait before each retry, cut off at MaxDelay.
	// Nil: no wait but what Retry-After asks for.
	Backoff backoff.Strategy

	// MaxDelay is the longest wait, and what a Retry-After is held against.
	// Zero: no waits at all; a Retry-After above zero then stops the call
	// under [HonorRetryAfter] and is no wait under [ClampRetryAfter].
	MaxDelay time.Duration

	// RetryAfter says what the Retry-After header of a response that may heal
	// does to the wait. Zero: [HonorRetryAfter].
	RetryAfter RetryAfterRule

	// ShareRetryAfter makes one answer of 429 or 503 with a Retry-After hold
	// back every call of this Transport to the same host: none is sent before
	// that time, or before MaxDelay has passed, if that is sooner. They leave
	// a little spread. A call whose deadline comes first fails at once.
	ShareRetryAfter bool

	// Budget pays for retries, one token each: see [budget]. Attempts that the
	// service answered earn them. It may serve many Transports. Nil: no limit.
	Budget *budget.Budget

	// Breaker fails calls at once to a host that keeps failing: see [breaker].
	// It may serve many Transports. Nil: none.
	Breaker *breaker.Group

	// Offline makes calls wait while there is no network, and charges them
	// nothing for it: see [offline]. It may serve many Transports. Nil: they
	// fail.
	Offline *offline.Gate

	// What do I tell?

	// RequestIDHeader names the header of the request ID. The caller's own is
	// used where the request carries one, else one is made; every attempt
	// carries the same. A response that carries another one is a contract
	// failure. An ID is 1 to 255 printable ASCII characters and neither begins
	// nor ends with a space. Empty: no request ID.
	RequestIDHeader string

	// AttemptHeader names a header that tells the server which attempt it
	// sees, in decimal, from 1. Empty: none.
	AttemptHeader string

	// Observe is told each step of a call as it happens: see [Event]. [Log]
	// makes one that writes a log. Nil: nobody is told.
	Observe func(Event)

	// SlowAfter is how long a call may last before Observe is told [StateSlow],
	// once. Zero: never.
	SlowAfter time.Duration

	// Fallback may serve something else instead of a failure: data from a
	// cache, a default. It is asked once, at the end of a call that failed,
	// unless the caller gave up or the call was invalid, with an [*Error], or
	// a [*StatusError] without a body where there is a response of 4xx or 5xx.
	// It returns a response to be served instead, or nil to leave the failure
	// as it is. An error beside a nil response is joined to the [*Error], and
	// dropped where the failure is a response. It gets the caller's request and
	// must not change it. Nil: failures stay as they are.
	Fallback func(*http.Request, *Report, error) (*http.Response, error)
}

// RetryAfterRule says how Retry-After (RFC 9110, section 10.2.3) bends a wait.
type RetryAfterRule int

const (
	// HonorRetryAfter waits as long as the header says and the backoff on top
	// of it, so that a crowd told the same does not come back at once. A
	// header above MaxDelay stops the call: [Report.RetryAt] says when to try
	// again.
	HonorRetryAfter RetryAfterRule = iota
	// ClampRetryAfter waits as long as the header says, MaxDelay at most, and
	// leaves the backoff out of it.
	ClampRetryAfter
	// IgnoreRetryAfter waits as if there were no header.
	IgnoreRetryAfter
)

// Limits and names that the presets share.
const (
	jsonAhead       = 1 << 20
	attemptLimit    = 8 * time.Second
	defaultIDHeader = "X-Request-Id"
	defaultKeyName  = "Idempotency-Key"
)

// Headless is the policy of a client that only reads: GET is repeated twice,
// at 8 s an attempt, after 100 ms and 200 ms and never more than 5 s, without
// jitter; Retry-After replaces the wait. Each call carries a request ID, JSON
// is read inside the attempt and must be whole and well-formed. It has no
// KeyHeader, and repeats no write. The worst case is 34 s.
func Headless() Policy {
	return Policy{
		AttemptTimeout:  attemptLimit,
		MaxRetries:      2,
		Statuses:        []int{429, 500, 502, 503, 504},
		Envelope:        true,
		ReadJSON:        jsonAhead,
		Accept:          ValidJSON,
		Methods:         []string{http.MethodGet},
		Backoff:         backoff.Exponential(100*time.Millisecond, math.MaxInt64),
		MaxDelay:        5 * time.Second,
		RetryAfter:      ClampRetryAfter,
		RequestIDHeader: defaultIDHeader,
	}
}

// Standard is the policy for one transport in front of reads and writes alike:
// up to three retries within 20 s, at 8 s an attempt, with full jitter over
// 500 ms, 1 s, 2 s. Retry-After is the least wait, up to 30 s. A write is
// repeated only if its method is idempotent, if it carries an idempotency key
// or if it is certain that nothing of it left.
//
// It is for requests whose whole answer is meant to arrive within seconds; for
// uploads, exports and streams take [Transfer].
func Standard() Policy {
	return Policy{
		AttemptTimeout: attemptLimit,
		TotalTimeout:   20 * time.Second,
		MaxRetries:     3,
		Statuses:       []int{408, 429, 502, 503, 504},
		ReadJSON:       jsonAhead,
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodOptions,
			http.MethodTrace, http.MethodPut, http.MethodDelete},
		KeyHeader:   defaultKeyName,
		RetryUnsent: true,
		Backoff:     backoff.FullJitter(backoff.Exponential(500*time.Millisecond, 8*time.Second)),
		MaxDelay:    30 * time.Second,
	}
}

// Transfer is [Standard] for uploads, exports and streams: no limit on an
// attempt or on the call, but none may be silent for 30 s, and nothing is read
// ahead.
func Transfer() Policy {
	p := Standard()
	p.AttemptTimeout = 0
	p.TotalTimeout = 0
	p.IdleTimeout = 30 * time.Second
	p.ReadJSON = 0
	return p
}
