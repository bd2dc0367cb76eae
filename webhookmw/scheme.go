package webhookmw

// Schemes: how a provider writes time, delivery and signature into headers, and over which bytes it signs. A scheme is a
// set of rules for the one engine in check.go; this file has the default one, provider.go the others.

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Scheme is how deliveries are signed on the wire. The zero Scheme is [Signed]. Schemes are plain values and safe to use
// by many goroutines at once.
type Scheme struct{ rules *rules }

// rules are what sets one scheme apart from another.
type rules struct {
	name     string
	key      func(secret string) ([]byte, error)           // the key that a secret stands for
	read     func(h http.Header, e *envelope) *Rejection   // what the headers say
	prefix   func(dst []byte, e *envelope, v int) []byte   // what the MAC covers before the body
	write    func(h http.Header, e *envelope, sum macFunc) // the headers of a delivery
	contract Contract                                      // for a Config without one; nil: StrictEvent, in one pass with the check of UTF-8

	untimed   bool // no timestamp is signed, so there is no window
	idSigned  bool // the signature covers the delivery ID
	idNoDot   bool // and would be ambiguous with a dot in it
	idNoStamp bool // there is a v2 over the delivery ID, which would be ambiguous if that were a timestamp
	noID      bool // there is no delivery ID
}

// macFunc computes the MAC of a version.
type macFunc func(version int) [sha256.Size]byte

// Signed is the default scheme:
//
//	Webhook-Signature: t=1700000000,v1=5257a869...,v2=0c41f2b7...
//	Webhook-Delivery-Id: dlv_8Rk2
//
// t is the Unix time in seconds. v1 is the lower-case hex of the HMAC-SHA256 of t, a dot and the exact body: what Stripe
// signs, so that any verifier of Stripe's signatures can check it. v2, which may be absent, is the same of the delivery
// ID, a dot, t, a dot and the body: it keeps the delivery ID from being changed on the way. A receiver that finds a v2
// checks both. The secret's text is the key. There may be several v1 and v2, on one header line or several; entries of
// other versions are ignored. Event ID and type are the body's, as [StrictEvent] reads them.
//
// The delivery ID is 1 to 255 printable ASCII characters, and no number of ten digits such as 1700000000, alone or before
// a dot: the v2 of a delivery with that ID would be the v1 of another body at that time, signed with the same key. Put a
// letter before it.
func Signed() Scheme { return Scheme{&signed} }

var signed = rules{
	name:      "Signed",
	key:       rawKey,
	idNoStamp: true,
	read: func(h http.Header, e *envelope) *Rejection {
		if rejection := readPairs(h["Webhook-Signature"], e, true); rejection != nil {
			return rejection
		}
		if rejection := e.setDeliveryID(h["Webhook-Delivery-Id"]); rejection != nil {
			return rejection
		}
		if looksStamped(e.deliveryID) {
			return unauthorized(ReasonDeliveryID, errIDStamp)
		}
		return nil
	},
	prefix: func(dst []byte, e *envelope, version int) []byte {
		if version == 2 {
			dst = append(append(dst, e.deliveryID...), '.')
		}
		return append(append(dst, e.stamp...), '.')
	},
	write: func(h http.Header, e *envelope, sum macFunc) {
		v1 := sum(1)
		signature := "t=" + e.stamp + ",v1=" + hex.EncodeToString(v1[:])
		if !looksStamped(e.deliveryID) {
			v2 := sum(2)
			signature += ",v2=" + hex.EncodeToString(v2[:])
		}
		h.Set("Webhook-Signature", signature)
		h.Set("Webhook-Delivery-Id", e.deliveryID)
	},
}

// get returns the scheme's rules; those of the zero Scheme are Signed's.
func (s Scheme) get() *rules {
	if s.rules == nil {
		return &signed
	}
	return s.rules
}

// String returns the name of the function that makes the scheme.
func (s Scheme) String() string { return s.get().name }

var (
	errDeliveryID = errors.New("webhookmw: delivery ID that the scheme can't carry")
	errBefore1970 = errors.New("webhookmw: time that no timestamp can say, since it is not after 1970 began")
)

// Sign signs body as the scheme's provider does and sets the headers of the delivery on h. at becomes the timestamp, in
// whole seconds; a scheme without one, or without a delivery ID, ignores what it has no place for. An error says that
// the secret is unusable or that the scheme can't carry the delivery ID or the time, as the zero one; h is unchanged then.
func (s Scheme) Sign(h http.Header, secret, deliveryID string, at time.Time, body []byte) error {
	r := s.get()
	key, err := r.key(secret)
	if err != nil {
		return errors.New("webhookmw: " + err.Error())
	}
	if !r.noID && (!printable(deliveryID) || r.idNoDot && strings.Contains(deliveryID, ".") || r.idNoStamp && looksStamped(deliveryID)) {
		return errDeliveryID
	}
	if !r.untimed && at.Unix() <= 0 {
		return errBefore1970
	}
	r.sign(h, key, deliveryID, at, body)
	return nil
}

func (r *rules) sign(h http.Header, key []byte, deliveryID string, at time.Time, body []byte) {
	e := envelope{deliveryID: deliveryID, stamp: strconv.FormatInt(at.Unix(), 10)}
	r.write(h, &e, func(version int) (sum [sha256.Size]byte) {
		return newMAC(key).sum(r.prefix(nil, &e, version), body)
	})
}

// Sign sets the headers of a delivery on h: it signs body in the default scheme ([Signed]), v1 and v2, with the text of
// secret as the key and at, in whole seconds, as the timestamp. Each attempt of a delivery is signed anew, under the
// same delivery ID. Sign does not check secret, deliveryID and at, which every receiver does; [Scheme.Sign] does. For a
// delivery ID that is a Unix time of ten digits, alone or before a dot, it sends no v2, which would be the v1 of another body:
// receivers refuse the delivery, and nobody can make use of it.
func Sign(h http.Header, secret string, deliveryID string, at time.Time, body []byte) {
	signed.sign(h, []byte(secret), deliveryID, at, body)
}

// readPairs reads the lists that look like t=1700000000,v1=5257a869.... Names are matched exactly; those that are not
// known are ignored, so that a sender can add a version without breaking the receivers of this one.
func readPairs(lines []string, e *envelope, v2 bool) *Rejection {
	if rejection := signatureLines(lines); rejection != nil {
		return rejection
	}
	stamp, stamps := "", 0
	rejection := elements(lines, func(entry string) *Rejection {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case name == "t":
			stamp = value
			stamps++
		case name == "v1":
			return e.add(1, value, decodeHex)
		case name == "v2" && v2:
			return e.add(2, value, decodeHex)
		}
		return nil
	})
	switch {
	case rejection != nil:
		return rejection
	case stamps > 1:
		return unauthorized(ReasonRepeated, errTwoTimestamps)
	}
	if rejection := e.setStamp(stamp); rejection != nil {
		return rejection
	}
	return e.complete()
}
