package roundtripper

// This file refuses, before anything is sent, what can't be meant.

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// InvalidError says which part of a policy or a request can't be meant, and
// why. A call that meets one fails with [ReasonInvalid] before anything is
// sent.
type InvalidError struct {
	Field   string // a field of Policy, or "URL", "request ID", "idempotency key"
	Problem string
}

func (e *InvalidError) Error() string {
	return "roundtripper: invalid " + e.Field + ": " + e.Problem
}

// Validate reports all that can't be meant in p, joined, each as an
// [*InvalidError]: a negative number or duration, an unknown rule, a status
// outside 100 to 599, a method or a header name that is no token (RFC 9110,
// section 5.6.2), one header for two purposes. A [Transport] with such a policy
// fails every call with it; Validate says so early.
func (p Policy) Validate() error {
	var all []error
	refuse := func(field, format string, args ...any) {
		all = append(all, &InvalidError{field, fmt.Sprintf(format, args...)})
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"AttemptTimeout", p.AttemptTimeout},
		{"IdleTimeout", p.IdleTimeout},
		{"TotalTimeout", p.TotalTimeout},
		{"MaxDelay", p.MaxDelay},
		{"SlowAfter", p.SlowAfter},
	} {
		if d.value < 0 {
			refuse(d.field, "%v is negative", d.value)
		}
	}
	for _, n := range []struct {
		field string
		value int64
	}{
		{"MaxRetries", int64(p.MaxRetries)},
		{"ReadJSON", p.ReadJSON},
		{"ReplayBuffer", p.ReplayBuffer},
	} {
		if n.value < 0 {
			refuse(n.field, "%d is negative", n.value)
		}
	}
	for _, s := range p.Statuses {
		if s < 100 || s > 599 {
			refuse("Statuses", "%d is no status", s)
		}
	}
	for _, m := range p.Methods {
		if !isToken(m) {
			refuse("Methods", "%q is no method", m)
		}
	}
	if p.RetryAfter < HonorRetryAfter || p.RetryAfter > IgnoreRetryAfter {
		refuse("RetryAfter", "%d is no rule", int(p.RetryAfter))
	}
	seen := make([]string, 0, 3)
	for _, h := range []struct{ field, name string }{
		{"KeyHeader", p.KeyHeader},
		{"RequestIDHeader", p.RequestIDHeader},
		{"AttemptHeader", p.AttemptHeader},
	} {
		name := http.CanonicalHeaderKey(h.name)
		switch {
		case name == "":
		case !isToken(name):
			refuse(h.field, "%q is no header name", h.name)
		case slices.Contains(seen, name):
			refuse(h.field, "%q has another part already", h.name)
		default:
			seen = append(seen, name)
		}
	}
	return errors.Join(all...)
}

// settled returns p as a call uses it: slices of its own, so that the caller
// may go on changing theirs, and header names as a header map spells them.
func (p Policy) settled() *Policy {
	p.Statuses = slices.Clone(p.Statuses)
	p.Methods = slices.Clone(p.Methods)
	p.KeyHeader = http.CanonicalHeaderKey(p.KeyHeader)
	p.RequestIDHeader = http.CanonicalHeaderKey(p.RequestIDHeader)
	p.AttemptHeader = http.CanonicalHeaderKey(p.AttemptHeader)
	return &p
}

// validateURL refuses a request without a URL. Scheme and host are the base's
// business: it may put in its own.
func validateURL(req *http.Request) error {
	if req.URL == nil {
		return &InvalidError{"URL", "the request has none"}
	}
	return nil
}

// validateName checks a request ID or an idempotency key: what arrives must be
// what was sent, through any proxy.
func validateName(field, s string) error {
	if len(s) > 255 {
		return &InvalidError{field, fmt.Sprintf("%d characters, more than 255", len(s))}
	}
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' {
		return &InvalidError{field, "empty, or a space at an end"}
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return &InvalidError{field, fmt.Sprintf("byte %#02x is not printable ASCII", s[i])}
		}
	}
	return nil
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
