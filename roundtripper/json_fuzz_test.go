package roundtripper_test

// This file fuzzes what a call reads ahead of a body.

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rebound-go/rebound/roundtripper"
)

// FuzzReadJSON: whatever a server sends, and wherever it breaks off, either the
// attempt is repeated or the caller reads exactly what was sent, to the same
// end; nothing is left open.
func FuzzReadJSON(f *testing.F) {
	for _, body := range []string{``, `{}`, `{"a":1}`, `{"retryable":false}`, `[1,2`, "\xff\xfe", `{"a":"` + strings.Repeat("x", 600), "\x1f\x8b", `nul`, "{}\n{}"} {
		f.Add([]byte(body), 200, "application/json", uint16(16), uint16(3), false)
		f.Add([]byte(body), 200, "application/json", uint16(1), uint16(len(body)), true)
		f.Add([]byte(body), 503, "application/problem+json; charset=\"", uint16(600), uint16(512), true)
	}
	f.Add([]byte("{}"), 200, ";;", uint16(0), uint16(0), false)
	f.Fuzz(func(t *testing.T, body []byte, status int, ctype string, limit, piece uint16, cut bool) {
		if status < 200 || status > 599 || len(body) > 1<<16 {
			return
		}
		broken := errors.New("broken off")
		end := error(io.EOF)
		if cut {
			end = broken
		}
		var open, attempts int
		base := twFunc(func(req *http.Request) (*http.Response, error) {
			attempts++
			open++
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {ctype}}, ContentLength: -1, Request: req,
				Body: &twPieces{data: body, size: int(piece), end: end, open: &open}}, nil
		})
		for _, accept := range []func(*http.Response) error{nil, roundtripper.ValidJSON} {
			attempts = 0
			p := roundtripper.Policy{MaxRetries: 1, Methods: []string{"GET"}, Envelope: true, ReadJSON: int64(limit), Accept: accept}
			resp, err := roundtripper.New(base, p).RoundTrip(twRequest("GET", ""))
			if (resp == nil) == (err == nil) {
				t.Fatalf("response %v and error %v", resp, err)
			}
			if err != nil {
				switch {
				case open != 0:
					t.Errorf("%d bodies open", open)
				case errors.Is(err, broken) && (attempts != 2 || !cut || status > 299):
					t.Errorf("%v after %d attempts at %d", err, attempts, status)
				case !errors.Is(err, broken) && (accept == nil || attempts != 1 || cut && len(body) <= int(limit) || status > 299):
					t.Errorf("%v after %d attempts at %d", err, attempts, status)
				}
				continue
			}
			got, err := io.ReadAll(resp.Body)
			if !bytes.Equal(got, body) || cut && err != broken || !cut && err != nil {
				t.Errorf("read %q, %v, want %q, %v", got, err, body, end)
			}
			if resp.Body.Close(); open != 0 || attempts != 1 {
				t.Errorf("%d bodies open after %d attempts", open, attempts)
			}
		}
	})
}

// twPieces is a body that comes in pieces of a size, its end together with the
// last one.
type twPieces struct {
	data   []byte
	size   int
	end    error
	open   *int
	closed bool
}

func (b *twPieces) Read(p []byte) (int, error) {
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	if b.size > 0 && len(p) > b.size {
		p = p[:b.size]
	}
	n := copy(p, b.data)
	if b.data = b.data[n:]; len(b.data) == 0 {
		return n, b.end
	}
	return n, nil
}

func (b *twPieces) Close() error {
	if !b.closed {
		b.closed = true
		*b.open--
	}
	return nil
}
