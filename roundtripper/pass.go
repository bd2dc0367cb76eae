package roundtripper

// This file holds the way of a call whose policy asks for nothing.

import (
	"io"
	"net/http"
	"reflect"
	"time"
)

// inert reports whether p is the zero Policy.
func (p Policy) inert() bool { return reflect.ValueOf(p).IsZero() }

// passes reports whether req may go through as it is: there is nothing to do
// for it but to look at what comes back.
func (t *Transport) passes(req *http.Request) bool {
	ctx := req.Context()
	return t.inert && !hasBody(req) && ctx.Err() == nil &&
		ctx.Value(scopeKey{}) == nil && validateURL(req) == nil
}

// pass sends req as it is. Nothing is measured: the look at a clock would cost
// as much as all the rest.
func (t *Transport) pass(req *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(req)
	if err != nil || resp == nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return t.passed(req, resp, err)
	}
	if resp.Body == nil || resp.Body == http.NoBody {
		resp.Body = passedNoBody
	} else {
		resp.Body = passedBody{resp.Body}
	}
	return resp, nil
}

// passed is the end of a call with a failure, or with a body that must stay as
// it is: it ends as any other call.
func (t *Transport) passed(req *http.Request, resp *http.Response, err error) (*http.Response, error) {
	c := &call{t: t, policy: t.policy, orig: req, start: time.Now()}
	a := &c.first
	a.call, a.number, a.req = c, 1, *req.WithContext(a)
	a.silence.Store(notWaiting)
	c.current, c.charged = a, 1
	resp, err = c.receive(a, resp, err)
	rec := c.judge(a, resp, err)
	_, stop := c.plan(a, rec)
	return c.finish(rec, resp, stop)
}

// passedBody marks a response that passed, for [ReportFrom].
type passedBody struct{ io.ReadCloser }

// passedNoBody does so where there is no body. [io.Copy] finds out at once, as it
// does with [http.NoBody].
var passedNoBody io.ReadCloser = emptyBody{http.NoBody, http.NoBody}

type emptyBody struct {
	io.ReadCloser
	io.WriterTo
}

// hasPassed reports whether resp has that mark.
func hasPassed(resp *http.Response) bool {
	if _, ok := resp.Body.(passedBody); ok {
		return true
	}
	return resp.Body == passedNoBody
}

// passedReport is all that is known of a call that passed: its times are zero.
func passedReport(resp *http.Response) *Report {
	v := Verdict{Reason: ReasonOK}
	if resp.StatusCode >= 400 {
		v.Reason = ReasonStatus
	}
	r := &Report{
		Attempts: []Attempt{{Number: 1, StatusCode: resp.StatusCode, Sent: true, Charged: true, Verdict: v}},
		Stop:     v.Reason,
	}
	r.note(resp, &Policy{}, time.Now())
	return r
}
