package roundtripper

// This file holds the response body: what the caller reads, and what ends the
// attempt.

import (
	"context"
	"io"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// responseBody is the body that the caller gets. Its end, or its Close, ends
// the attempt; its time is the attempt's. It is the attempt under another set
// of methods, so it costs nothing.
type responseBody attempt

func (b *responseBody) Read(p []byte) (int, error) {
	a := (*attempt)(b)
	if e := a.bounded(); e != running && e != finished {
		return 0, a.bodyError(nil)
	}
	a.listen()
	n, err := a.resp.Read(p)
	a.hush()
	switch err {
	case nil:
		return n, nil
	case io.EOF:
		a.end(finished)
		if a.handed {
			a.out.leave(false)
		}
		return n, io.EOF
	default:
		return n, a.bodyError(err)
	}
}

func (b *responseBody) Close() error {
	a := (*attempt)(b)
	err := a.resp.Close()
	a.end(finished)
	if a.handed { // else the call is still thinking, and may want the request body again
		a.out.finish()
	}
	return err
}

// bounded makes sure that something watches the clock while the body is read,
// and says whether the attempt is over.
func (a *attempt) bounded() ending {
	if !a.timed {
		a.timed = true
		a.Done()
	}
	return ending(a.state.Load())
}

// bodyError is err as the reader of a body should see it: which clock ran out,
// or how its own context ended. Any other error is the base's, unchanged.
func (a *attempt) bodyError(err error) error {
	switch a.ended() {
	case byCaller:
		ctx := a.call.ctx()
		return &endedError{ctx.Err(), context.Cause(ctx), err}
	case cutOff:
		return context.Canceled
	}
	return a.timedOut(err)
}

// finish ends an attempt that needs nothing any more.
func (a *attempt) finish() {
	a.end(finished)
	a.out.finish()
}

// What is done for the connection of a response that nobody wants: reading this
// much, for this long, so that it can be used again. Go 1.27 does the same when
// a body is closed.
const (
	drainBytes = 256 << 10
	drainTime  = 50 * time.Millisecond
)

// discard gives up resp and with it the attempt. It takes no longer than most.
func (a *attempt) discard(resp *http.Response, most time.Duration) {
	shut := resp.Body.Close
	if most > 0 && worthDraining(resp, a) {
		shut = sync.OnceValue(shut)
		// A body whose base takes no notice of the end of the attempt is closed
		// under the Read, which may be the only thing that it listens to.
		stop := time.AfterFunc(min(most, drainTime), func() {
			a.end(cutOff)
			shut()
		})
		io.CopyN(io.Discard, resp.Body, drainBytes)
		stop.Stop()
	}
	shut()
	a.finish()
}

func worthDraining(resp *http.Response, a *attempt) bool {
	return resp.Body != http.NoBody && methodOf(&a.req) != http.MethodHead &&
		resp.ContentLength <= drainBytes && ending(a.state.Load()) == running
}

// heldBody is a body of which the beginning, or all, has been read already. It
// may be closed while it is read, as the bodies of net/http may.
type heldBody struct {
	data   []byte        // not given out yet
	err    error         // what comes after data, if there is no rest
	rest   io.ReadCloser // what comes after data; nil: nothing
	closed atomic.Bool
}

func (b *heldBody) Read(p []byte) (int, error) {
	switch {
	case b.closed.Load():
		return 0, http.ErrBodyReadAfterClose
	case len(b.data) > 0:
		n := copy(p, b.data)
		b.data = b.data[n:]
		return n, nil
	case b.rest != nil:
		return b.rest.Read(p)
	case len(p) == 0:
		return 0, nil
	}
	return 0, b.err
}

func (b *heldBody) Close() error {
	b.closed.Store(true)
	if b.rest != nil {
		return b.rest.Close()
	}
	return nil
}

// hold reads at most limit bytes of resp's body and puts them back, so that the
// body reads as it did. whole says that data is all of it. An error of the body
// is returned and will come again where it stood.
func hold(resp *http.Response, limit int64) (data []byte, whole bool, err error) {
	body := resp.Body
	data, err = readUpTo(body, limit, resp.ContentLength)
	switch err {
	case nil:
		resp.Body = &heldBody{data: data, rest: body}
		return data, false, nil
	case io.EOF:
		body.Close()
		resp.Body = &heldBody{data: data, err: io.EOF}
		return data, true, nil
	default:
		resp.Body = &heldBody{data: data, rest: &brokenBody{body, err}}
		return data, false, err
	}
}

// brokenBody repeats the error that its reading ended with.
type brokenBody struct {
	io.Closer
	err error
}

func (b *brokenBody) Read([]byte) (int, error) { return 0, b.err }

// firstRead is the most that is allocated because a server said that so much
// would come.
const firstRead = 64 << 10

// readUpTo reads until limit bytes are there or the body ends. It asks for one
// byte more, to tell a body of exactly limit bytes from a longer one, and so
// may return limit+1.
func readUpTo(r io.Reader, limit, declared int64) ([]byte, error) {
	limit = min(limit, math.MaxInt64-1)
	size := int64(512)
	if declared >= 0 {
		size = min(declared, firstRead) + 1
	}
	buf := make([]byte, 0, min(size, limit+1))
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
		if int64(len(buf)) > limit {
			return buf, nil
		}
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(int64(2*cap(buf)), limit+1))
			copy(grown, buf)
			buf = grown
		}
	}
}
