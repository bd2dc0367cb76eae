package webhookmw_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// Bodies: the exact bytes are verified and handed on, within the limit, whole.

func TestBodyIsTakenByteForByte(t *testing.T) {
	tests := []struct{ name, signed, sent string }{
		{"parsed and written again", `{"id":"a","type":"t","b":2}`, `{ "id": "a", "type": "t", "b": 2 }`},
		{"newline added", plain, plain + "\n"},
		{"newline lost", plain + "\n", plain},
		{"CR LF for LF", plain + "\n", plain + "\r\n"},
		{"LF for CR LF", plain + "\r\n", plain + "\n"},
		{"keys in another order", `{"id":"a","type":"t"}`, `{"type":"t","id":"a"}`},
		{"one bit", plain, "z" + plain[1:]},
		{"emptied", plain, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{}, nil)
			require.Equal(t, http.StatusOK, rec.send(signed("dlv_1", test.signed)).Code)
			r := signed("dlv_2", test.signed)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(test.sent)), int64(len(test.sent))
			require.Equal(t, http.StatusUnauthorized, rec.send(r).Code)
			require.Equal(t, 1, rec.ran())
			require.Equal(t, webhookmw.ReasonSignature, rec.last().Reason)
		})
	}
}

func TestBodyIsHandedOn(t *testing.T) {
	for _, body := range []string{
		plain, plain + "\r\n", `{"id":"evt_1","type":"note","text":"café ☃ 😀"}`,
		`{"id":"evt_1","type":"t","p":"` + strings.Repeat("x", 100_000) + `"}`,
	} {
		for _, chunked := range []bool{false, true} {
			rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
				again, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.Equal(t, body, string(again))
				require.EqualValues(t, len(body), r.ContentLength)
				require.Empty(t, r.TransferEncoding)
				require.NoError(t, r.Body.Close())
			})
			r := signed("dlv_1", body)
			if chunked {
				r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
			}
			header, original := r.Header.Clone(), r.Body
			require.Equal(t, http.StatusOK, rec.send(r).Code)
			require.Equal(t, []string{body}, []string{string(rec.bodies[0])})
			require.Equal(t, body, string(rec.runs[0].Body))
			require.Equal(t, header, r.Header, "the request itself is left alone")
			require.Equal(t, original, r.Body)
		}
	}
}

// chunkedReader gives its bytes piece by piece and counts how many were asked for.
type chunkedReader struct {
	io.Reader
	read int
}

func (c *chunkedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p[:min(len(p), 1000)])
	c.read += n
	return n, err
}

func (*chunkedReader) Close() error { return nil }

func TestBodyLimit(t *testing.T) {
	const limit = 131072
	bodyOf := func(size int) string {
		const head, tail = `{"id":"evt_1","type":"x.y","p":"`, `"}`
		return head + strings.Repeat("a", size-len(head)-len(tail)) + tail
	}
	tests := []struct {
		name    string
		size    int
		chunked bool
		want    int
		read    int
	}{
		{"at the limit", limit, false, 200, limit},
		{"at the limit, chunked", limit, true, 200, limit},
		{"over it, declared", limit + 1, false, 413, 0},
		{"over it, chunked", limit + 1, true, 413, limit + 1},
		{"far over it, chunked", 4 * limit, true, 413, limit + 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{}, nil)
			r := signed("dlv_1", bodyOf(test.size))
			body := &chunkedReader{Reader: r.Body}
			r.Body = body
			if test.chunked {
				r.ContentLength = -1
			}
			w := rec.send(r)
			require.Equal(t, test.want, w.Code)
			require.Equal(t, test.read, body.read)
			if test.want != 200 {
				require.Equal(t, "close", w.Header().Get("Connection"))
				require.Equal(t, webhookmw.ReasonTooLarge, rec.last().Reason)
			}
		})
	}

	rec := newReceiver(t, webhookmw.Config{MaxBodyBytes: int64(len(plain))}, nil)
	require.Equal(t, 200, rec.send(signed("dlv_1", plain)).Code)
	require.Equal(t, 413, rec.send(signed("dlv_2", plain+" ")).Code)
}

func TestBodyThatCannotBeRead(t *testing.T) {
	broken := errors.New("connection reset")
	tests := []struct {
		name     string
		body     io.Reader
		declared int64
		want     int
		reason   webhookmw.Reason
	}{
		{"eaten by a parser before us", strings.NewReader(""), int64(len(plain)), 400, webhookmw.ReasonBodyConsumed},
		{"taken away before us", nil, int64(len(plain)), 400, webhookmw.ReasonBodyConsumed},
		{"replaced by none before us", http.NoBody, int64(len(plain)), 400, webhookmw.ReasonBodyConsumed},
		{"closed by a handler before us", iotest.ErrReader(http.ErrBodyReadAfterClose), int64(len(plain)), 400, webhookmw.ReasonBodyConsumed},
		{"cut short", strings.NewReader(plain[:10]), int64(len(plain)), 400, webhookmw.ReasonBodyBroken},
		{"never begun", iotest.ErrReader(io.ErrUnexpectedEOF), int64(len(plain)), 400, webhookmw.ReasonBodyBroken},
		{"longer than declared", strings.NewReader(plain), int64(len(plain) - 1), 400, webhookmw.ReasonBodyBroken},
		{"broken", io.MultiReader(strings.NewReader(plain[:10]), iotest.ErrReader(broken)), int64(len(plain)), 400, webhookmw.ReasonBodyBroken},
		{"broken, chunked", io.MultiReader(strings.NewReader(plain[:10]), iotest.ErrReader(broken)), -1, 400, webhookmw.ReasonBodyBroken},
		{"a limit further out", http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(plain)), 10), int64(len(plain)), 413, webhookmw.ReasonTooLarge},
		{"a limit further out, chunked", http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(plain)), 10), -1, 413, webhookmw.ReasonTooLarge},
		{"eaten, chunked", strings.NewReader(""), -1, 401, webhookmw.ReasonSignature},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := &counting{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
			rec := newReceiver(t, webhookmw.Config{Store: store}, nil)
			r := signed("dlv_1", plain)
			r.ContentLength = test.declared
			switch body := test.body.(type) {
			case nil:
				r.Body = nil
			case io.ReadCloser:
				r.Body = body
			default:
				r.Body = io.NopCloser(body)
			}
			require.Equal(t, test.want, rec.send(r).Code)
			require.Equal(t, test.reason, rec.last().Reason)
			require.Error(t, rec.last().Err)
			require.Zero(t, rec.ran())
			require.Zero(t, store.claims.Load(), "nothing is recorded")
			require.Equal(t, 200, rec.send(signed("dlv_1", plain)).Code)
		})
	}
}

// A length that is declared by somebody who can't sign gets no memory until bytes come.
func TestBodyThatIsOnlyDeclared(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{MaxBodyBytes: 64 << 20}, nil)
	for sent, want := range map[int]uint64{0: 2 << 20, 3 << 20: 10 << 20} {
		r := signed("dlv_1", plain)
		r.ContentLength = 64 << 20
		r.Body = io.NopCloser(io.MultiReader(io.LimitReader(zeros{}, int64(sent)), iotest.ErrReader(io.ErrUnexpectedEOF)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Equal(t, 400, rec.send(r).Code)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, want, "%d bytes sent", sent)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Bodies about the sizes at which the memory for them grows.
func TestBodyThatGrows(t *testing.T) {
	const first = 1 << 20
	rec := newReceiver(t, webhookmw.Config{MaxBodyBytes: 8 << 20, Contract: webhookmw.AnyBody}, nil)
	for i, size := range []int{first - 1, first, first + 1, 2*first - 1, 2 * first, 2*first + 1, 5*first + 7} {
		body := strings.Repeat("0123456789abcde\n", size/16+1)[:size]
		require.Equal(t, 200, rec.send(signed(fmt.Sprint("dlv_", i), body)).Code)
		require.True(t, string(rec.bodies[i]) == body, size)
		require.Equal(t, size, cap(rec.runs[i].Body), "and not larger than it need be")
		short := signed(fmt.Sprint("dlv_short_", i), body)
		short.Body = io.NopCloser(strings.NewReader(body[:size-1]))
		require.Equal(t, 400, rec.send(short).Code)
		require.Equal(t, webhookmw.ReasonBodyBroken, rec.last().Reason)
	}
}

func TestBodyNamesWhoAteIt(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, nil)
	r := signed("dlv_1", plain)
	require.NoError(t, r.ParseForm())
	io.Copy(io.Discard, r.Body)
	w := rec.send(r)
	require.Equal(t, 400, w.Code)
	require.ErrorContains(t, rec.last().Err, "read before")
	require.NotContains(t, w.Body.String(), "before")
}

func TestBodyWithoutOne(t *testing.T) {
	for name, body := range map[string]io.ReadCloser{"nil": nil, "NoBody": http.NoBody, "empty": io.NopCloser(strings.NewReader(""))} {
		rec := newReceiver(t, webhookmw.Config{}, nil)
		r := signed("dlv_1", "")
		r.Body, r.ContentLength = body, 0
		require.Equal(t, 422, rec.send(r).Code, name)
		require.Equal(t, webhookmw.ReasonContract, rec.last().Reason)
	}
}

// A request made by hand says 0 where it does not know the length.
func TestBodyOfUnknownLength(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, nil)
	r := signed("dlv_1", plain)
	r.ContentLength = 0
	require.Equal(t, 200, rec.send(r).Code)
	require.Equal(t, plain, string(rec.bodies[0]))
}

func TestBodyText(t *testing.T) {
	tests := []struct {
		name, body string
		want       int
		reason     webhookmw.Reason
	}{
		{"invalid UTF-8 in a string", "{\"id\":\"a\xff\",\"type\":\"t\"}", 400, webhookmw.ReasonNotUTF8},
		{"invalid UTF-8 outside", "{\"id\":\"a\",\"type\":\"t\"}\xff", 400, webhookmw.ReasonNotUTF8},
		{"invalid UTF-8 after another fault", "{\"id\":1,\"type\":\"\xc0\xaf\"}", 400, webhookmw.ReasonNotUTF8},
		{"encoded surrogate", "{\"id\":\"a\",\"type\":\"\xed\xa0\x80\"}", 400, webhookmw.ReasonNotUTF8},
		{"byte order mark", "\xEF\xBB\xBF" + plain, 422, webhookmw.ReasonBOM},
		{"not JSON", "hello", 422, webhookmw.ReasonContract},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, contract := range []webhookmw.Contract{nil, webhookmw.StrictEvent} { // in one pass, and in two
				store := &counting{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
				rec := newReceiver(t, webhookmw.Config{Contract: contract, Store: store}, nil)
				require.Equal(t, test.want, rec.send(signed("dlv_1", test.body)).Code)
				require.Equal(t, test.reason, rec.last().Reason)
				require.Zero(t, rec.ran())
				require.Zero(t, store.claims.Load())
			}
		})
	}
}

// Check gives the body back, so that another Verifier, or the handler, can read it again.
func TestCheckHandsTheBodyBack(t *testing.T) {
	other := newReceiver(t, webhookmw.Config{Secrets: []string{"another-secret-0123456789"}}, nil)
	rec := newReceiver(t, webhookmw.Config{}, nil)
	for _, length := range []int64{int64(len(plain)), -1} {
		r := signed("dlv_1", plain)
		r.ContentLength = length
		_, err := other.verifier.Check(r)
		rejection, ok := errors.AsType[*webhookmw.Rejection](err)
		require.True(t, ok)
		require.Equal(t, 401, rejection.Status)
		require.ErrorIs(t, err, rejection.Err)
		require.ErrorContains(t, err, "webhookmw: signature-mismatch: ")
		d, err := rec.verifier.Check(r)
		require.NoError(t, err)
		require.Equal(t, "evt_1", d.EventID)
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.Equal(t, plain, string(body))
		require.EqualValues(t, len(plain), r.ContentLength)
	}

	r := httptest.NewRequest("GET", "/", bytes.NewReader([]byte(plain)))
	_, err := rec.verifier.Check(r)
	require.Error(t, err)
	body, _ := io.ReadAll(r.Body)
	require.Equal(t, plain, string(body), "not read, not touched")
}
