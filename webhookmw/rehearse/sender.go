package rehearse

// The sender, and one delivery.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/webhookmw"
)

// Config says where a [Sender] sends, and with what. New copies it.
type Config struct {
	// URL is the receiver's, http or https. A user name and a password in it are sent as basic authentication.
	URL string

	// Secret is what deliveries are signed with: at least 16 bytes, as package webhookmw wants it.
	Secret string

	// Transport sends each attempt, once. It should take notice of its requests' contexts, as [http.Transport] does, or
	// nothing can end an attempt. nil: one like [http.DefaultTransport].
	Transport http.RoundTripper

	// Events keeps what was sent, for [Sender.Replay]. It may serve several Senders. nil: NewMemory(MemoryConfig{}).
	Events EventStore

	// Replays remembers what became of replays, by their idempotency keys. Senders that share one also share the keys,
	// and should share Events, too: a key stands for the event as the Sender knew it that was first.
	// nil: one of the Sender's own.
	Replays *Replays

	// Observe is told each step of each delivery as it happens, as [roundtripper.Policy.Observe] is. For a replay with
	// an idempotency key that is on a goroutine of its own, where nobody can recover from a panic: it ends the process.
	Observe func(roundtripper.Event)
}

// Sender delivers events to one URL. It is made by [New]; the zero Sender is of no use. It may be used by many goroutines
// at once.
type Sender struct {
	target    func() target
	events    EventStore
	replays   *Replays
	policy    roundtripper.Policy
	transport *roundtripper.Transport
}

// target is where a Sender sends, and with what. A Sender holds it in a function, so that whoever prints a Sender, in
// whatever way, shows neither the secret nor the password in the URL.
type target struct {
	url    string
	user   *url.Userinfo
	secret string
}

// New returns a Sender, or an error that says what about the Config is unusable. The error shows neither the secret nor
// the URL.
func New(config Config) (*Sender, error) {
	u, err := url.Parse(config.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("rehearse: URL: want an absolute one, with http:// or https://")
	}
	if err := webhookmw.Signed().Sign(http.Header{}, config.Secret, "check", time.Now(), nil); err != nil {
		return nil, fmt.Errorf("rehearse: %w", err)
	}
	to := target{config.URL, u.User, config.Secret}
	s := &Sender{target: func() target { return to }, events: config.Events, replays: config.Replays, policy: Policy()}
	if s.events == nil {
		s.events = NewMemory(MemoryConfig{})
	}
	if s.replays == nil {
		s.replays = new(Replays)
	}
	base := config.Transport
	if base == nil {
		base = defaultTransport()
	}
	s.policy.Observe = config.Observe
	s.transport = roundtripper.New(wire{base}, s.policy)
	return s, nil
}

func defaultTransport() http.RoundTripper {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		return t.Clone()
	}
	return http.DefaultTransport
}

// Send delivers e, under a new delivery ID. First of all it keeps e, so that it can be replayed whatever becomes of the
// delivery. It copies e.Body at once: the caller may change its own afterwards, and every attempt sends the same bytes.
//
// The Result says how it ended, well or not. An error is for where there is no verdict: [ErrBadEvent], a
// [*ConflictError] if the event's ID is known with other bytes, the error of an EventStore that failed, or the end of
// ctx, which ends the delivery at once; the Result then says what had been done by then, and its State is empty.
func (s *Sender) Send(ctx context.Context, e Event) (Result, error) {
	e, err := e.checked()
	if err != nil {
		return Result{}, err
	}
	if err := s.events.Put(ctx, e); err != nil {
		return Result{EventID: e.ID}, err
	}
	return s.deliver(ctx, e)
}

// deliver makes one delivery: a call of the transport, in which each attempt is stamped and signed when it is sent.
func (s *Sender) deliver(ctx context.Context, e Event) (Result, error) {
	result := Result{EventID: e.ID, DeliveryID: "dlv_" + roundtripper.NewKey()}
	to, policy := s.target(), s.policy
	policy.Prepare = func(req *http.Request, _ int) error {
		webhookmw.Sign(req.Header, to.secret, result.DeliveryID, time.Now(), e.Body)
		return nil
	}
	// In the context the policy also outranks one that the caller's has: a delivery must not go out unsigned.
	req, err := to.request(roundtripper.WithPolicy(ctx, policy), e.Body)
	if err != nil {
		return result, err
	}
	// No http.Client is asked, which would follow redirects.
	resp, err := s.transport.RoundTrip(req)
	report, ok := reportOf(resp, err)
	if !ok {
		return result, fmt.Errorf("rehearse: %w", err)
	}
	result.Attempts = attemptsOf(report)
	if resp != nil {
		resp.Body.Close() // the wire has had it
	}
	if err := gaveUp(ctx, report, err); err != nil {
		return result, err
	}
	result.State = stateOf(result.Attempts)
	if resp != nil {
		delivered := result.State == Delivered
		result.Duplicate = delivered && resp.Header.Get("Webhook-Duplicate") == "true"
		result.EventSeen = delivered && (result.Duplicate || resp.Header.Get("Webhook-Event-Seen") == "true")
		result.Gone = resp.StatusCode == http.StatusGone
	}
	return result, nil
}

// request is what all attempts have in common.
func (to target) request(ctx context.Context, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("rehearse: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "rebound-rehearse")
	if to.user != nil {
		password, _ := to.user.Password()
		req.SetBasicAuth(to.user.Username(), password)
	}
	return req, nil
}

// reportOf finds the report of a call.
func reportOf(resp *http.Response, err error) (*roundtripper.Report, bool) {
	if err == nil {
		return roundtripper.ReportFrom(resp)
	}
	e, ok := errors.AsType[*roundtripper.Error](err)
	if !ok || e.Reason == roundtripper.ReasonInvalid {
		return nil, false
	}
	return e.Report, true
}

var errNoTime = fmt.Errorf("no time is left for another attempt: %w", context.DeadlineExceeded)

// gaveUp is the error of a call that its caller ended, or whose deadline left no time for an attempt that was due.
func gaveUp(ctx context.Context, report *roundtripper.Report, err error) error {
	if report.Stop != roundtripper.ReasonCanceled && report.Stop != roundtripper.ReasonDeadline {
		return nil
	}
	if err == nil {
		err = errNoTime
		if report.Stop == roundtripper.ReasonCanceled {
			err = context.Cause(ctx)
		}
	}
	return fmt.Errorf("rehearse: %w", err)
}
