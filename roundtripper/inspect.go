package roundtripper

// This file holds what a call reads of a response before the caller gets it.

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
)

// contractError is a response that must not be handed over, whatever comes.
type contractError struct{ err error }

func (e *contractError) Error() string { return e.err.Error() }

// inspect checks the form of resp, as far as the policy cares for it.
func (c *call) inspect(a *attempt, resp *http.Response) error {
	p := c.policy
	if h := p.RequestIDHeader; h != "" {
		for _, id := range resp.Header[h] {
			if id != c.requestID[0] {
				return &contractError{errIDMismatch}
			}
		}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil
	}
	if p.ReadJSON > 0 && hasContent(&a.req, resp) && isJSON(resp.Header.Get("Content-Type")) {
		if err := readAhead(resp, p.ReadJSON); err != nil {
			return err
		}
	}
	if p.Accept != nil {
		if err := p.Accept(resp); err != nil {
			return &contractError{err}
		}
	}
	return nil
}

// readAhead reads a body of up to limit bytes into memory.
func readAhead(resp *http.Response, limit int64) error {
	data, whole, err := hold(resp, limit)
	if err != nil {
		return err
	}
	if whole && int64(len(data)) < resp.ContentLength {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// hasContent reports whether resp, a response to req, is of a kind that has a
// body of its own (RFC 9110, section 6.4.1).
func hasContent(req *http.Request, resp *http.Response) bool {
	return (req == nil || methodOf(req) != http.MethodHead) &&
		resp.StatusCode != http.StatusNoContent && resp.StatusCode != http.StatusResetContent &&
		resp.StatusCode != http.StatusNotModified
}

// isJSON reports whether contentType is a JSON MIME type, as the MIME Sniffing
// Standard (section 4.6) has it.
func isJSON(contentType string) bool {
	if contentType == "" {
		return false
	}
	if contentType == "application/json" {
		return true
	}
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return false
	}
	return t == "application/json" || t == "text/json" || strings.HasSuffix(t, "+json")
}

// The longest bodies that ValidJSON and Envelope look at.
const (
	validJSONBytes = 1 << 20
	envelopeBytes  = 64 << 10
)

// errMalformed is what ValidJSON says.
var errMalformed = errors.New("the body is not one JSON value")

// ValidJSON is a [Policy.Accept] that refuses a 2xx of a JSON media type whose
// body is not exactly one JSON value (RFC 8259). Not judged are answers that
// have no body of their own or only a part (HEAD, 204, 205, 304, 206), bodies
// with a Content-Encoding, bodies of more than 1 MiB, and bodies that break off
// while they are read, which is an error of the network and not of the form.
//
// It leaves the body as it was. It may be used on its own.
func ValidJSON(resp *http.Response) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 || resp.StatusCode == http.StatusPartialContent ||
		!hasContent(resp.Request, resp) || !isJSON(resp.Header.Get("Content-Type")) || resp.Header.Get("Content-Encoding") != "" {
		return nil
	}
	data, whole, err := peek(resp, validJSONBytes)
	if err == nil && whole && !json.Valid(data) {
		return errMalformed
	}
	return nil
}

// peek is hold for a body that may have been read ahead already.
func peek(resp *http.Response, limit int64) (data []byte, whole bool, err error) {
	if resp.Body == nil {
		return nil, true, nil
	}
	if b, ok := resp.Body.(*heldBody); ok && b.rest == nil && b.err == io.EOF {
		return b.data, int64(len(b.data)) <= limit, nil
	}
	return hold(resp, limit)
}

// saysFinal reports whether the JSON body of an error response tells the caller
// not to try again. A body that can't be read or parsed says nothing.
func saysFinal(resp *http.Response) bool {
	if !hasContent(resp.Request, resp) || !isJSON(resp.Header.Get("Content-Type")) {
		return false
	}
	data, whole, err := peek(resp, envelopeBytes)
	if err != nil || !whole {
		return false
	}
	// A map, and not a struct: names are matched exactly.
	var top, inner map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil {
		return false
	}
	json.Unmarshal(top["error"], &inner) // what is no object leaves it empty
	return isFalse(top["retryable"]) || isFalse(inner["retryable"])
}

func isFalse(raw json.RawMessage) bool {
	return bytes.Equal(raw, []byte("false"))
}
