package roundtripper

// This file holds the Transport: what is shared by its calls.

import (
	"net/http"
	"time"

	"github.com/hashicorp/go-cleanhttp"
)

// Transport is an [http.RoundTripper] that bounds what happens when a request
// fails. It adds to its base transport what its [Policy] says, and nothing else.
//
// A call gives exactly one of these:
//   - a response and a nil error, when the last attempt got a response,
//     whatever its status, with its body unread; [ReportFrom] gives the
//     attempts, [CheckStatus] makes an error of a status that is not 2xx;
//   - a nil response and an [*Error].
//
// It is made by [New]; the zero Transport is of no use. It may be used by many
// goroutines at once and should be: it holds the base's connections. Make one
// for a client, never one for a request.
type Transport struct {
	base    http.RoundTripper
	policy  *Policy
	invalid error
	inert   bool // the policy asks for nothing at all
	direct  bool // the base is an http.Transport, with nothing around it
	pauses  pauses
}

var _ http.RoundTripper = (*Transport)(nil)

// New returns a Transport that sends through base, and repeats as policy says.
// A nil base is a pooled transport of this Transport's own, with the defaults
// of [http.DefaultTransport]. An invalid policy fails every call: see
// [Policy.Validate].
func New(base http.RoundTripper, policy Policy) *Transport {
	if base == nil {
		base = cleanhttp.DefaultPooledTransport()
	}
	_, direct := base.(*http.Transport)
	return &Transport{
		base:    base,
		policy:  policy.settled(),
		invalid: policy.Validate(),
		inert:   policy.inert(),
		direct:  direct,
	}
}

// RoundTrip implements [http.RoundTripper]. It does not change req, and closes
// req.Body in any case, once the base is done with it.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.passes(req) {
		return t.pass(req)
	}
	c := &call{t: t, policy: t.policy, orig: req, start: time.Now()}
	if err := c.open(); err != nil {
		return c.refuse(err)
	}
	return c.run()
}

// CloseIdleConnections passes the wish on to the base, if it can fulfil it:
// [http.Client.CloseIdleConnections] comes through here.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// methodOf is the method of req, for which the empty string may stand.
func methodOf(req *http.Request) string {
	if req.Method == "" {
		return http.MethodGet
	}
	return req.Method
}
