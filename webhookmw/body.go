package webhookmw

// Reading a delivery's body: whole, within the limit, once, and giving it back.

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// firstRead is as much memory as a declared length alone gets; for more than that some of the body has to have come.
const firstRead = 1 << 20

var (
	errConsumed = errors.New("body was read before this middleware saw it; put webhookmw before whatever reads it")
	errLong     = errors.New("body is longer than declared")
	errLimit    = errors.New("body is over the limit")
)

// readBody reads the whole body. length is what was declared, and is within limit; not above 0: nothing was. more is room
// for a byte too many.
func readBody(body io.Reader, length, limit int64, more *[1]byte) ([]byte, *Rejection) {
	if body == nil || body == http.NoBody {
		if length > 0 {
			return nil, broken(io.EOF, true)
		}
		return nil, nil
	}
	if length <= 0 {
		data, err := io.ReadAll(io.LimitReader(body, limit+1))
		if int64(len(data)) > limit {
			return nil, tooLarge()
		}
		return data, broken(err, false)
	}
	data, err := readDeclared(body, length)
	if err != nil {
		return nil, broken(err, len(data) == 0)
	}
	if n, _ := body.Read(more[:]); n > 0 {
		return nil, &Rejection{Status: http.StatusBadRequest, Reason: ReasonBodyBroken, Err: errLong, unread: true}
	}
	return data, nil
}

// readDeclared reads length bytes, and returns what came before an error. The memory for them is one allocation of that
// size, which is not pooled since the handler may keep the bytes; above firstRead it doubles as they come, so that nobody
// who can't sign gets much for a header.
func readDeclared(body io.Reader, length int64) ([]byte, error) {
	data := make([]byte, min(length, firstRead))
	n, err := io.ReadFull(body, data)
	for err == nil && int64(n) < length {
		data = append(make([]byte, 0, min(length, 2*int64(n))), data...)
		data = data[:cap(data)]
		var more int
		more, err = io.ReadFull(body, data[n:])
		n += more
	}
	return data[:n], err
}

// broken says what a failed read means. empty: a declared body gave no byte at all.
func broken(err error, empty bool) *Rejection {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge()
	}
	if empty && (err == io.EOF || errors.Is(err, http.ErrBodyReadAfterClose)) {
		return &Rejection{Status: http.StatusBadRequest, Reason: ReasonBodyConsumed, Err: errConsumed}
	}
	return &Rejection{Status: http.StatusBadRequest, Reason: ReasonBodyBroken, Err: err, unread: true}
}

func tooLarge() *Rejection {
	return &Rejection{Status: http.StatusRequestEntityTooLarge, Reason: ReasonTooLarge, Err: errLimit, unread: true}
}

// replay is a body that has been read already.
type replay struct{ bytes.Reader }

func newReplay(body []byte) *replay {
	b := new(replay)
	b.Reset(body)
	return b
}

func (*replay) Close() error { return nil }
