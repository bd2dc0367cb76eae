package roundtripper

// This file holds the request body: what each attempt reads, what is kept of
// it, and who closes it.

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"reflect"
	"strings"
	"sync"
)

// requestBody is the request body of one attempt. The base transport may read
// and close it on a goroutine of its own, even after RoundTrip has returned;
// so that the source is never touched by two at once, the end of the attempt
// takes the source away, and a Read that is still under way closes it when it
// is done.
//
// The source is closed exactly once: by the base, when the attempt is over, or
// not at all where nothing was read and another attempt takes it over.
type requestBody struct {
	attempt *attempt
	src     io.ReadCloser
	size    int64        // what the request declares; 0 or less: unknown
	keep    int64        // the most bytes to keep for a replay; below 0: none
	kept    *requestBody // what kept all that this one sends again

	mu      sync.Mutex
	reading bool
	read    bool // Read was called
	closed  bool // by the base
	over    bool // the attempt is
	gone    bool // src is closed or taken over
	err     error
	count   int64 // bytes read
	ended   bool  // all of them: there is nothing more to read
	buf     bytes.Buffer
	whole   bool // buf is all of it
}

func (b *requestBody) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	if b.closed || b.over {
		b.mu.Unlock()
		return 0, errBodyOver
	}
	b.reading, b.read = true, true
	b.mu.Unlock()

	b.attempt.upload(true)
	defer func() { // also when the source panics
		b.attempt.upload(false)
		b.mu.Lock()
		b.reading = false
		// Clamped: a source that lies about n must not panic while the lock is held.
		b.note(p[:min(max(n, 0), len(p))], err)
		shut := b.over && !b.gone
		b.gone = b.gone || shut
		b.mu.Unlock()
		if shut {
			b.src.Close()
		}
	}()
	return b.src.Read(p)
}

// note keeps what was read for a replay, and what is wrong with the source: its
// own error, or a length that is not the one declared.
func (b *requestBody) note(p []byte, err error) {
	if b.over || b.closed {
		return
	}
	b.count += int64(len(p))
	b.ended = err == io.EOF || b.size > 0 && b.count == b.size
	switch known := b.size > 0; {
	case err != nil && err != io.EOF:
		b.err = err
	case known && b.count > b.size, known && err == io.EOF && b.count < b.size:
		b.err = errBodyLength
	}
	if b.keep < 0 {
		return
	}
	if b.err != nil || int64(len(p)) > b.keep-int64(b.buf.Len()) {
		b.keep, b.buf, b.whole = -1, bytes.Buffer{}, false // useless, or too long
		return
	}
	if b.buf.Cap() == 0 && b.size > 0 {
		b.buf.Grow(int(min(b.size, math.MaxInt32)))
	}
	b.buf.Write(p)
	b.whole = b.ended
}

// Close closes the source, unless nothing was read of it: then it stays as it
// is until the attempt is over, since another one could still send it.
func (b *requestBody) Close() error {
	b.mu.Lock()
	b.closed = true
	shut := b.read && !b.gone
	b.gone = b.gone || shut
	b.mu.Unlock()
	if !shut {
		return nil
	}
	return b.src.Close()
}

// finish is the end of the attempt: nothing is read any more.
func (b *requestBody) finish() {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.over = true
	shut := !b.reading && !b.gone
	b.gone = b.gone || shut
	b.mu.Unlock()
	if shut {
		b.src.Close()
	}
}

// leave is the end of an attempt whose response is the caller's. A base that is
// in the middle of the body may go on sending: it answers for the source, and
// closes it. One that is through may have forgotten to, and so may one that
// never began: for that one the Close of the response is waited for, unless it
// is the last of the call.
func (b *requestBody) leave(last bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	done := b.ended || last && !b.read
	b.mu.Unlock()
	if done {
		b.finish()
	}
}

// wasRead reports whether the base has read anything, or tried to.
func (b *requestBody) wasRead() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read
}

// failure is the error of the source itself, which no repeat would mend.
func (b *requestBody) failure() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// takeBack ends the attempt without closing the source, if it is untouched:
// then it is free for another one.
func (b *requestBody) takeBack() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.read || b.gone {
		return false
	}
	b.over, b.gone = true, true
	return true
}

// keeper is the one that has kept all of the body: this one, or the one that it
// sends again; nil: none.
func (b *requestBody) keeper() *requestBody {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.whole {
		return b
	}
	return b.kept
}

// copy gives the body that was kept. Any number of them may be read at once.
func (b *requestBody) copy() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return io.NopCloser(bytes.NewReader(b.buf.Bytes())), nil
}

// upload breaks the silence, if there is one, while the base waits for the
// caller's body, and lets it begin anew when a piece has been read.
func (a *attempt) upload(reading bool) {
	if a.call.policy.IdleTimeout == 0 {
		return
	}
	to := int64(moving)
	if !reading {
		to = int64(a.call.elapsedNow())
	}
	if now := a.silence.Load(); now != notWaiting {
		a.silence.CompareAndSwap(now, to)
	}
}

// passesBody reports whether a body may go to the base as it is, with nobody to
// look on: one in memory, which can neither fail nor be silent, can be had anew
// and needs no Close. An [http.Transport] sends such a body in one piece with the
// headers, and any other one after them; what it does with another scheme is for
// whoever has registered that.
func (c *call) passesBody(body io.ReadCloser) bool {
	if !c.t.direct || c.policy.IdleTimeout != 0 || c.orig.GetBody == nil {
		return false
	}
	if scheme := c.orig.URL.Scheme; scheme != "http" && scheme != "https" {
		return false
	}
	size, ok := sizeInMemory(body)
	return ok && size == c.orig.ContentLength
}

// The types of what [io.NopCloser] returns, in which [http.NewRequest] wraps a
// reader.
var (
	nopCloser         = reflect.TypeOf(io.NopCloser(nil))
	nopCloserWriterTo = reflect.TypeOf(io.NopCloser(&bytes.Reader{}))
)

// sizeInMemory is the number of bytes in a body that is a reader of memory.
func sizeInMemory(body io.ReadCloser) (n int64, ok bool) {
	if t := reflect.TypeOf(body); t != nopCloser && t != nopCloserWriterTo {
		return 0, false
	}
	switch r := reflect.ValueOf(body).Field(0).Interface().(type) {
	case *bytes.Reader:
		return int64(r.Len()), true
	case *bytes.Buffer:
		return int64(r.Len()), true
	case *strings.Reader:
		return int64(r.Len()), true
	}
	return 0, false
}

// hasBody reports whether there is a body to be sent.
func hasBody(req *http.Request) bool {
	return req.Body != nil && req.Body != http.NoBody
}
