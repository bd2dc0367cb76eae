package roundtripper

// This file holds the names that a call goes by: request ID and idempotency
// key.

import (
	"math/rand/v2"
	"net/http"
)

// identify settles the request ID and the idempotency key; fromContext is the
// key that the context has.
func (c *call) identify(fromContext string) error {
	if h := c.policy.RequestIDHeader; h != "" {
		switch ids := c.orig.Header[h]; len(ids) {
		case 0:
			c.requestID[0] = newRequestID()
		case 1:
			if err := validateName("request ID", ids[0]); err != nil {
				return err
			}
			c.requestID[0] = ids[0]
		default:
			return &InvalidError{"request ID", "the request has several"}
		}
	}
	if c.policy.KeyHeader == "" {
		return nil
	}
	key := fromContext
	switch keys := c.orig.Header[c.policy.KeyHeader]; {
	case len(keys) > 1:
		return &InvalidError{"idempotency key", "the request has several"}
	case len(keys) == 1 && keys[0] != "":
		key = keys[0]
	}
	if key == "" {
		return nil
	}
	c.key = &[1]string{key}
	return validateName("idempotency key", key)
}

// name writes the names into the header of an attempt. One that Prepare sees
// has copies of them: it may write to them, and a base may still be reading
// those of the attempt before.
func (c *call) name(h http.Header) {
	id, key := &c.requestID, c.key
	if c.policy.Prepare != nil {
		id, key = &[1]string{id[0]}, &[1]string{c.keyText()}
	}
	if id[0] != "" {
		h[c.policy.RequestIDHeader] = id[:]
	}
	if c.key != nil {
		h[c.policy.KeyHeader] = key[:]
	}
}

// keyText is the idempotency key; empty: none.
func (c *call) keyText() string {
	if c.key == nil {
		return ""
	}
	return c.key[0]
}

// newRequestID makes 128 random bits in hex. An ID is there to be found again
// in a log; unlike a key it need not be unguessable.
func newRequestID() string {
	const digits = "0123456789abcdef"
	var id [32]byte
	for i := 0; i < len(id); i += 16 {
		n := rand.Uint64()
		for j := range 16 {
			id[i+j] = digits[n&15]
			n >>= 4
		}
	}
	return string(id[:])
}
