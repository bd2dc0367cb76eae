package roundtripper

// This file holds what a context says about the calls made under it, and what
// the context of an attempt says about the attempt.

import (
	"context"
	"crypto/rand"
)

// scope is what a call finds in its context. The context of an attempt answers
// with the attempt instead, which hides what was set for the outer call: a
// policy or a key is for the first Transport that the request meets.
type scope struct {
	policy  *Policy
	invalid error // what is wrong with policy
	noRetry bool
	key     string
	outer   *attempt // the call is made from inside this attempt
}

type scopeKey struct{}

func scopeOf(ctx context.Context) scope {
	switch v := ctx.Value(scopeKey{}).(type) {
	case *scope:
		return *v
	case *attempt:
		return scope{outer: v}
	}
	return scope{}
}

// WithPolicy makes calls under the returned context follow p instead of their
// Transport's own policy. An invalid p fails each of them with an
// [*InvalidError].
func WithPolicy(ctx context.Context, p Policy) context.Context {
	s := scopeOf(ctx)
	s.policy, s.invalid = p.settled(), p.Validate()
	return context.WithValue(ctx, scopeKey{}, &s)
}

// WithoutRetry makes calls under the returned context be one attempt each,
// those of Transports further inside included. Timeouts and all else hold.
func WithoutRetry(ctx context.Context) context.Context {
	s := scopeOf(ctx)
	s.noRetry = true
	return context.WithValue(ctx, scopeKey{}, &s)
}

// WithKey gives calls under the returned context an idempotency key, for those
// that go through a library which hides the request. It needs a
// [Policy.KeyHeader]; a key that the request carries already wins, and an empty
// one is no key.
//
// One key is one intent: derive a context for each write, and keep the key for
// as long as the write may be tried again, by hand as well.
func WithKey(ctx context.Context, key string) context.Context {
	s := scopeOf(ctx)
	s.key = key
	return context.WithValue(ctx, scopeKey{}, &s)
}

// NewKey makes an idempotency key: 26 characters, letters and digits, with at
// least 128 bits from crypto/rand. Make one when an action begins, not when it
// is sent, and never one for each attempt.
func NewKey() string { return rand.Text() }

// AttemptNumber tells code below a [Transport] which attempt it is part of,
// from 1. ok is false outside of one.
func AttemptNumber(ctx context.Context) (n int, ok bool) {
	if a := scopeOf(ctx).outer; a != nil {
		return int(a.number), true
	}
	return 0, false
}
