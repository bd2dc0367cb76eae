package webhookmw

// The check of one request, step by step, each of which can refuse it before the next one costs anything. It knows
// nothing of stores and handlers.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"
)

var (
	errMethod   = errors.New("method is not POST")
	errEncoding = errors.New("body has a content encoding, and what was signed may be either side of it")
	errNoMatch  = errors.New("no secret made any of the signatures over this body; Verifier.Explain can say more")
	errNotUTF8  = errors.New("body is not valid UTF-8")
)

// Check verifies r as [Verifier.Handler] does, up to where deliveries are remembered: method, content encoding, length,
// timestamp, signature, UTF-8, contract. It is for receivers that recognise duplicates by themselves. Duplicate,
// EventSeen and SignatureReused of the delivery are false.
//
// Check reads r.Body. If it comes to its end, whatever the verdict, it puts a fresh reader of the same bytes in its place,
// so that the handler, or another Verifier, can read them again. An error is always a *[Rejection].
func (v *Verifier) Check(r *http.Request) (*Delivery, error) {
	checked, rejection := v.check(r, time.Now())
	if checked.read {
		r.Body = newReplay(checked.body)
		r.ContentLength = int64(len(checked.body))
	}
	if rejection != nil {
		return nil, rejection
	}
	return checked.delivery, nil
}

// checked is what a check has found out.
type checked struct {
	delivery *Delivery
	body     []byte
	read     bool // body is the whole of it
	idSigned bool // the signature covers the delivery ID
}

func (v *Verifier) check(r *http.Request, now time.Time) (c checked, rejection *Rejection) {
	if rejection := v.checkRequest(r); rejection != nil {
		return c, rejection
	}
	ws := v.workspaces.Get().(*workspace)
	defer v.workspaces.Put(ws)
	e := &ws.envelope
	e.reset()
	if rejection = v.checkHeaders(r.Header, e, now); rejection != nil {
		return c, rejection
	}
	if c.body, rejection = readBody(r.Body, r.ContentLength, v.config.MaxBodyBytes, &ws.more); rejection != nil {
		return c, rejection
	}
	c.read = true
	if !v.checkSignatures(ws, c.body) {
		return c, unauthorized(ReasonSignature, errNoMatch)
	}
	id, typ, rejection := v.checkEvent(c.body)
	if rejection != nil {
		return c, rejection
	}
	c.idSigned = v.rules.idSigned || e.wantV2
	c.delivery = &Delivery{EventID: id, DeliveryID: e.deliveryID, Type: typ, Body: c.body}
	c.delivery.complete(e)
	return c, nil
}

// checkRequest looks at what says, without any knowledge of signatures, that this is no delivery.
func (v *Verifier) checkRequest(r *http.Request) *Rejection {
	switch {
	case r.Method != http.MethodPost:
		return &Rejection{Status: http.StatusMethodNotAllowed, Reason: ReasonMethod, Err: errMethod, unread: true}
	case len(r.Header["Content-Encoding"]) > 0:
		return &Rejection{Status: http.StatusUnsupportedMediaType, Reason: ReasonEncoding, Err: errEncoding, unread: true}
	case r.ContentLength > v.config.MaxBodyBytes:
		return tooLarge()
	}
	return nil
}

func (v *Verifier) checkHeaders(h http.Header, e *envelope, now time.Time) *Rejection {
	rejection := v.readHeaders(h, e)
	if rejection == nil && !v.rules.untimed {
		rejection = judgeTime(now, e.unix, v.config.Tolerance)
	}
	if rejection != nil {
		rejection.unread = true
	}
	return rejection
}

// readHeaders reads what the scheme asks for, and what the Config asks for beyond it.
func (v *Verifier) readHeaders(h http.Header, e *envelope) *Rejection {
	rejection := v.rules.read(h, e)
	if rejection == nil && v.config.RequireV2 && !e.wantV2 {
		rejection = unauthorized(ReasonNoSignature, errNoV2)
	}
	return rejection
}

// checkSignatures reports whether the body is signed. Where there are signatures over the delivery ID too, one of them
// must be good as well.
func (v *Verifier) checkSignatures(ws *workspace, body []byte) bool {
	ws.buf = v.rules.prefix(ws.buf[:0], &ws.envelope, 1)
	if !ws.verified(1, ws.buf, body) {
		return false
	}
	if !ws.envelope.wantV2 {
		return true
	}
	ws.buf = v.rules.prefix(ws.buf[:0], &ws.envelope, 2)
	return ws.verified(2, ws.buf, body)
}

// checkEvent looks at what the body says. A body that StrictEvent takes is known to be UTF-8, so that the common case is
// one pass.
func (v *Verifier) checkEvent(body []byte) (id, typ string, rejection *Rejection) {
	contract := v.config.Contract
	if contract == nil {
		contract = StrictEvent
	} else if !utf8.Valid(body) {
		return "", "", notUTF8()
	}
	id, typ, err := contract(body)
	switch {
	case err == nil:
		return id, typ, nil
	case v.config.Contract == nil && !utf8.Valid(body):
		return "", "", notUTF8()
	case bytes.HasPrefix(body, byteOrderMark):
		return "", "", &Rejection{Status: http.StatusUnprocessableEntity, Reason: ReasonBOM, Err: err}
	}
	return "", "", &Rejection{Status: http.StatusUnprocessableEntity, Reason: ReasonContract, Err: err}
}

func notUTF8() *Rejection {
	return &Rejection{Status: http.StatusBadRequest, Reason: ReasonNotUTF8, Err: errNotUTF8}
}

// complete fills in what the contract left open.
func (d *Delivery) complete(e *envelope) {
	if e.stamp != "" {
		d.Timestamp = time.Unix(e.unix, 0)
	}
	if d.Type == "" {
		d.Type = e.typ
	}
	if d.EventID == "" {
		d.EventID = d.DeliveryID
	}
	if d.EventID == "" {
		sum := sha256.Sum256(d.Body)
		d.EventID = "sha256:" + hex.EncodeToString(sum[:])
	}
}
