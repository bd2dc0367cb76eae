package roundtripper

// This file holds the judging of an attempt: what is wrong with it, and whether
// that may heal.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// judge records what became of a, with a verdict. resp and err are what send
// returned: at least one of them is there.
func (c *call) judge(a *attempt, resp *http.Response, err error) *Attempt {
	rec := c.record(a)
	rec.Response, rec.Err = resp, err
	if resp != nil {
		rec.StatusCode = resp.StatusCode
		c.report.note(resp, c.policy, time.Now())
		c.share(resp)
	} else {
		rec.Sent = a.mayHaveLeft(err)
		rec.Err = a.timedOut(named(err))
	}
	var judged bool
	rec.Verdict, judged = c.verdict(a, rec)
	rec.Elapsed = c.elapsedNow() - a.begun // with what the verdict read
	if rec.Charged = c.settle(a, rec.StatusCode, rec.Err, rec.Verdict); !rec.Charged {
		c.charged--
	}
	if c.policy.Decide != nil && !judged {
		reason := rec.Verdict.Reason
		rec.Verdict = c.policy.Decide(rec)
		if rec.Verdict.Reason == "" {
			rec.Verdict.Reason = reason
		}
	}
	c.unsure = c.unsure || resp == nil && rec.Sent
	return rec
}

// named is err with the name that [http.Client] has for it. That one names only
// a bare [tls.RecordHeaderError], and would not see one inside an [*Error].
func named(err error) error {
	h, ok := errors.AsType[tls.RecordHeaderError](err)
	if ok && string(h.RecordHeader[:]) == "HTTP/" && !errors.Is(err, http.ErrSchemeMismatch) {
		return fmt.Errorf("%w: %w", http.ErrSchemeMismatch, err)
	}
	return err
}

// verdict says whether a failure may heal. Nobody may overrule it if it is
// final: the caller's own end, or a response that broke the contract.
func (c *call) verdict(a *attempt, rec *Attempt) (v Verdict, final bool) {
	if rec.Err == nil {
		return c.statusVerdict(rec.Response), rec.StatusCode == http.StatusSwitchingProtocols
	}
	if broken, ok := rec.Err.(*contractError); ok {
		rec.Err = broken.err
		return Verdict{Reason: ReasonContract}, true
	}
	if ended := c.gaveUp(); ended != nil {
		rec.Err = &endedError{ended, context.Cause(c.ctx()), rec.Err}
		return Verdict{Reason: c.stopReason()}, true
	}
	switch a.ended() {
	case byTotal:
		return Verdict{Reason: ReasonDeadline}, true
	case byAttempt, byIdle:
		return Verdict{Retry: true, Reason: ReasonAttemptTimeout}, false
	}
	if err := a.out.failure(); err != nil && rec.Response == nil {
		if !errors.Is(rec.Err, err) {
			rec.Err = errors.Join(err, rec.Err)
		}
		return Verdict{Reason: ReasonPermanent}, false
	}
	return errorVerdict(&a.req, rec.Err), false
}

func (c *call) statusVerdict(resp *http.Response) Verdict {
	status := resp.StatusCode
	switch {
	case status == http.StatusSwitchingProtocols:
		return Verdict{Reason: ReasonOK}
	case slices.Contains(c.policy.Statuses, status):
		return c.unlessFinal(resp, ReasonStatus)
	case status < 400:
		return Verdict{Reason: ReasonOK}
	case status == http.StatusConflict && c.key != nil && c.unsure:
		return c.unlessFinal(resp, ReasonConflict)
	}
	return Verdict{Reason: ReasonStatus}
}

// unlessFinal is the verdict on a status that may heal, unless the body says
// that it will not.
func (c *call) unlessFinal(resp *http.Response, reason Reason) Verdict {
	if c.policy.Envelope && saysFinal(resp) {
		return Verdict{Reason: ReasonEnvelope}
	}
	return Verdict{Retry: true, Reason: reason}
}

// errorVerdict judges an error for which none of our clocks, nor the caller, is
// to blame: it is taken to be the network's, which may heal, unless it is known
// to be permanent.
func errorVerdict(req *http.Request, err error) Verdict {
	if inner, ok := errors.AsType[*Error](err); ok {
		return innerVerdict(inner)
	}
	if isPermanent(err) || !sendable(req, err) {
		return Verdict{Reason: ReasonPermanent}
	}
	return Verdict{Retry: true, Reason: ReasonNetwork}
}

// innerVerdict passes on what a Transport further inside made of a failure: it
// has seen more of it.
func innerVerdict(inner *Error) Verdict {
	if last := inner.Report.last(); last != nil {
		if v := last.Verdict; v.Retry && (inner.Reason == ReasonNested || inner.Reason == v.Reason ||
			inner.Reason == ReasonRetriesSpent || inner.Reason == ReasonNotRepeatable || inner.Reason == ReasonNotReplayable) {
			return v
		}
	}
	return Verdict{Reason: inner.Reason}
}

// isPermanent reports whether err is of a type that another attempt would meet
// again: a certificate that does not verify, a peer that speaks another
// protocol, an address that can't be one.
func isPermanent(err error) bool {
	if errors.Is(err, errNoResponse) || errors.Is(err, http.ErrSchemeMismatch) || errors.Is(err, errors.ErrUnsupported) {
		return true
	}
	return isA[*tls.CertificateVerificationError](err) ||
		isA[x509.UnknownAuthorityError](err) ||
		isA[x509.HostnameError](err) ||
		isA[x509.CertificateInvalidError](err) ||
		isA[x509.SystemRootsError](err) ||
		isA[tls.RecordHeaderError](err) ||
		isA[*net.AddrError](err) ||
		isA[net.UnknownNetworkError](err) ||
		isA[*net.ParseError](err)
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// sendable reports whether a transport could have sent req at all. It is asked
// only once a transport has failed: net/http's error for a request that is
// malformed has no type to know it by.
func sendable(req *http.Request, err error) bool {
	if s := req.URL.Scheme; s != "http" && s != "https" || req.URL.Host == "" {
		// Another scheme, or no host, is for a base that knows what to do with
		// it, and fails with an error of the network when it does.
		return isA[net.Error](err)
	}
	if !isToken(methodOf(req)) || req.Header == nil {
		return false
	}
	for _, h := range []http.Header{req.Header, req.Trailer} {
		for name, values := range h {
			if !isToken(name) || slices.ContainsFunc(values, unprintable) {
				return false
			}
		}
	}
	return true
}

// unprintable reports whether s can't be a field value (RFC 9110, section 5.5).
func unprintable(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
