package webhookmw

// What a delivery's headers say before its body is read: when, which, and signed how. Everything here can be refused at
// the cost of a few header look-ups.

import (
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"
	"time"
)

const (
	maxSignatures     = 8
	maxSignatureBytes = 2 << 10
)

// envelope is what a scheme reads from the headers.
type envelope struct {
	deliveryID string // empty in a scheme without one
	typ        string // what the headers say of the event's type
	stamp      string // the timestamp as received; empty in a scheme without one
	unix       int64
	macs       [maxSignatures]mac
	n          int  // how many of macs there are
	entries    int  // how many signatures stood there, malformed ones included
	wantV2     bool // a v2 stood there
}

// mac is one signature of a form that could match.
type mac struct {
	version int // 1, or 2 for one that covers the delivery ID as well
	sum     [sha256.Size]byte
}

var (
	errNoSignature   = errors.New("no signature of a version that the scheme checks")
	errNoV2          = errors.New("no v2 signature, which RequireV2 asks for")
	errNoForm        = errors.New("no signature of a form that could match")
	errTooMany       = errors.New("more than 8 signatures, or more than 2 KiB of them")
	errNoStamp       = errors.New("no timestamp")
	errTwoTimestamps = errors.New("more than one timestamp")
	errTwoTypes      = errors.New("more than one event type")
	errTwoIDs        = errors.New("more than one delivery ID")
	errIDForm        = errors.New("delivery ID is not 1 to 255 printable ASCII characters")
	errIDDot         = errors.New("delivery ID with a dot in it, which its signature can't tell from the timestamp's")
	errIDStamp       = errors.New("delivery ID that is a Unix time, alone or before a dot, so that a v2 over it is a v1 over another body")
	errStampForm     = errors.New("timestamp is not a plain number of seconds")
	errMilliseconds  = errors.New("timestamp looks like milliseconds; seconds belong there")
)

// single returns the value of a header that may stand once. repeated: it stands more often.
func single(lines []string) (value string, repeated bool) {
	if len(lines) == 0 {
		return "", false
	}
	return lines[0], len(lines) > 1
}

// reset forgets the delivery before. What macs holds beyond n does no harm.
func (e *envelope) reset() {
	e.deliveryID, e.typ, e.stamp, e.unix = "", "", "", 0
	e.n, e.entries, e.wantV2 = 0, 0, false
}

// setStamp notes the timestamp.
func (e *envelope) setStamp(text string) *Rejection {
	if text == "" {
		return unauthorized(ReasonNoTimestamp, errNoStamp)
	}
	unix, ok := parseStamp(text)
	if !ok {
		return unauthorized(ReasonTimestamp, errStampForm)
	}
	e.stamp, e.unix = text, unix
	return nil
}

// setStampHeader notes a timestamp that has a header of its own.
func (e *envelope) setStampHeader(lines []string) *Rejection {
	text, repeated := single(lines)
	if repeated {
		return unauthorized(ReasonRepeated, errTwoTimestamps)
	}
	return e.setStamp(text)
}

// setDeliveryID notes the delivery ID, which must be there.
func (e *envelope) setDeliveryID(lines []string) *Rejection {
	id, repeated := single(lines)
	switch {
	case repeated:
		return unauthorized(ReasonRepeated, errTwoIDs)
	case !printable(id):
		return unauthorized(ReasonDeliveryID, errIDForm)
	}
	e.deliveryID = id
	return nil
}

// looksStamped reports whether a delivery ID is a Unix time of our days, alone or before a dot: ten digits, from 2001 to
// 2286. With such an ID before it, what a v2 covers is also what a v1 covers, for that time and a body that begins with the
// rest. Other numbers do no harm: no window will ever hold them.
func looksStamped(id string) bool {
	head, _, _ := strings.Cut(id, ".")
	_, ok := parseStamp(head)
	return ok && len(head) == 10
}

// add notes one signature. One that can't be decoded matches nothing, but it stood there.
func (e *envelope) add(version int, text string, decode func(dst *[sha256.Size]byte, text string) bool) *Rejection {
	if e.entries++; e.entries > maxSignatures {
		return unauthorized(ReasonSignatures, errTooMany)
	}
	if version == 2 {
		e.wantV2 = true
	}
	if decode(&e.macs[e.n].sum, text) {
		e.macs[e.n].version = version
		e.n++
	}
	return nil
}

// complete is asked once all signatures are noted: is there one that could match?
func (e *envelope) complete() *Rejection {
	if e.entries == 0 {
		return unauthorized(ReasonNoSignature, errNoSignature)
	}
	for i := range e.n {
		if e.macs[i].version == 1 {
			return nil
		}
	}
	return unauthorized(ReasonSyntax, errNoForm)
}

// judgeTime refuses a timestamp outside the window. Both edges are inside; seconds are whole, as the timestamp's are.
func judgeTime(now time.Time, unix int64, tolerance time.Duration) *Rejection {
	off := unix - now.Unix()
	allowed := int64(tolerance / time.Second)
	if -allowed <= off && off <= allowed {
		return nil
	}
	if unix >= 1e11 && unix < 1e14 { // Seconds get there in the year 5138.
		return unauthorized(ReasonMilliseconds, errMilliseconds)
	}
	reason := ReasonStale
	if off > 0 {
		reason = ReasonFuture
	}
	off = max(min(off, 1e9), -1e9) // What is centuries off must not overflow a Duration.
	return unauthorized(reason, &clockError{time.Duration(off) * time.Second, tolerance})
}

// parseStamp reads a number of seconds above zero, written the one canonical way: ASCII digits, no sign, no zero before
// them. The signature covers the text, so a second way to write a number would be a second text for one time.
func parseStamp(text string) (unix int64, ok bool) {
	if len(text) == 0 || text[0] == '0' {
		return 0, false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	unix, err := strconv.ParseInt(text, 10, 64)
	return unix, err == nil
}

// signatureLines refuses signature headers that are too long to be worth a look.
func signatureLines(lines []string) *Rejection {
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	switch {
	case size > maxSignatureBytes:
		return unauthorized(ReasonSignatures, errTooMany)
	case size == 0:
		return unauthorized(ReasonNoSignature, errNoSignature)
	}
	return nil
}

// decodeHex reads 64 lower-case hexadecimal digits.
func decodeHex(dst *[sha256.Size]byte, text string) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	for i := range dst {
		high, low := hexDigit(text[2*i]), hexDigit(text[2*i+1])
		if high|low > 15 {
			return false
		}
		dst[i] = high<<4 | low
	}
	return true
}

func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0xFF
}

// elements calls each with the entries of a comma-separated list that may go over several header lines (RFC 9110
// section 5.6.1: white space around an entry, and an empty entry, mean nothing).
func elements(lines []string, each func(entry string) *Rejection) *Rejection {
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, ",") {
			if entry = strings.Trim(entry, " \t"); entry == "" {
				continue
			}
			if rejection := each(entry); rejection != nil {
				return rejection
			}
		}
	}
	return nil
}
