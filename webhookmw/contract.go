package webhookmw

// Contracts: what the body of an event must look like, and where in it its ID and its type stand.

import "errors"

// A Contract checks the exact body of an event, which is valid UTF-8 by then, and returns the event's ID and type. An
// error refuses the delivery with 422; its text goes to [Config.Observe] and never to the sender. An empty ID without
// an error says that the body names none: then the delivery ID stands in for it, and where there is none either, the
// SHA-256 of the body, as "sha256:" and its hex. A Contract must not change body, and may be called by many goroutines
// at once.
type Contract func(body []byte) (id, typ string, err error)

var (
	errNoObject = errors.New("webhookmw: event: not a JSON object")
	errID       = errors.New(`webhookmw: event: "id" is no string of 1 to 255 printable ASCII characters`)
	errType     = errors.New(`webhookmw: event: "type" is no string with something in it`)
)

// StrictEvent is the [Contract] of the schemes whose events carry their own ID: the body is exactly one JSON object, in
// which "id" is a string of 1 to 255 printable ASCII characters and "type" is a string that is not empty.
//
// It takes nothing that two readers could take for two different events, where RFC 8259 leaves the choice to the
// reader: no name stands twice in an object, at any depth; no top-level name is "id" or "type" in other letters, which
// encoding/json would take for the same; every surrogate in an escape is one of a pair. Names are compared exactly, after
// their escapes. Numbers may be of any size. Objects and arrays are nested at most 1,000 deep.
func StrictEvent(body []byte) (id, typ string, err error) {
	err = scan(body, true, "id", func(s *scanner) error {
		id, typ = s.strings()
		switch {
		case !s.object:
			return errNoObject
		case !printable(id):
			return errID
		case typ == "":
			return errType
		}
		return nil
	})
	if err != nil {
		return "", "", err
	}
	return id, typ, nil
}

// AnyJSON is a [Contract] for senders that promise less: the body is one JSON value, as encoding/json takes it, nested
// at most 1,000 deep. The ID and the type are the top-level strings "id" and "type", each empty where there is none; one
// that stands twice is refused. Where a sender's "id" is not the event's but that of what it tells about, so that
// several events share it, write a Contract that returns no ID.
func AnyJSON(body []byte) (id, typ string, err error) {
	err = scan(body, false, "id", func(s *scanner) error {
		id, typ = s.strings()
		return nil
	})
	return id, typ, err
}

// AnyBody is a [Contract] that takes every body and finds neither ID nor type in it. It is for forms and plain text.
func AnyBody([]byte) (id, typ string, err error) { return "", "", nil }

// strings returns the ID and the type, each empty where it is no string. They share one allocation.
func (s *scanner) strings() (id, typ string) {
	s.text = s.found[memberID].append(s.text[:0], s.data)
	n := len(s.text)
	s.text = s.found[memberType].append(s.text, s.data)
	both := string(s.text)
	return both[:n], both[n:]
}

// printable reports whether id is 1 to 255 printable ASCII characters, as event IDs and delivery IDs are.
func printable(id string) bool {
	if len(id) == 0 || len(id) > 255 {
		return false
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}
