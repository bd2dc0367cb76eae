package roundtripper_test

// Policy.ReplayBuffer: what is kept of a body that can't be had again, to the
// byte, and what it costs.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/rebound-go/rebound/roundtripper"
)

// A fault elsewhere: the limit of the buffer, one byte on either side. In any case the
// first attempt sends every byte in order, however the base reads it.
func TestReplayBufferBoundary(t *testing.T) {
	const limit = 1000
	readers := map[string]func(io.Reader) io.Reader{
		"plain":     func(r io.Reader) io.Reader { return r },
		"data+EOF":  iotest.DataErrReader,
		"by halves": iotest.HalfReader,
		"by byte":   iotest.OneByteReader,
	}
	for _, test := range []struct {
		size     int
		buffer   int64
		attempts int
	}{
		{0, limit, 2},
		{1, limit, 2},
		{limit - 1, limit, 2},
		{limit, limit, 2},
		{limit + 1, limit, 1},
		{3 * limit, limit, 1},
		{1, 0, 1},
		{limit, math.MaxInt64, 2},
		{20_000, 20_000, 2},
		{20_001, 20_000, 1},
	} {
		for name, wrap := range readers {
			for _, length := range []int64{-1, int64(test.size)} {
				t.Run(fmt.Sprintf("size=%d/buffer=%d/%s/length=%d", test.size, test.buffer, name, length), func(t *testing.T) {
					want := strings.Repeat("0123456789abcde", test.size/15+1)[:test.size]
					base := &script{statuses: []int{503, 200}}
					policy := quick(roundtripper.Standard())
					policy.ReplayBuffer = test.buffer
					req := newRequest(t, "PUT", anyURL, once{wrap(strings.NewReader(want))})
					req.ContentLength = length
					resp, err := roundtripper.New(base, policy).RoundTrip(req)
					stop := roundtripper.ReasonOK
					if test.attempts == 1 {
						stop = roundtripper.ReasonNotReplayable
					}
					wantEnd(t, outcome(t, resp, err), test.attempts, stop)
					drink(t, resp)
					for i, got := range base.bodies {
						if got != want {
							t.Errorf("attempt %d sent %d bytes, want %d the same", i+1, len(got), len(want))
						}
					}
				})
			}
		}
	}
}

// A base that knows the length need not read up to the end of the body: it is
// all there when as many bytes were read.
func TestReplayBufferFullAtDeclaredLength(t *testing.T) {
	var bodies []string
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		defer req.Body.Close()
		data := make([]byte, req.ContentLength)
		if _, err := io.ReadFull(req.Body, data); err != nil {
			return nil, err
		}
		bodies = append(bodies, string(data))
		return answer(req, []int{503, 200}[len(bodies)-1], ""), nil
	})
	policy := quick(roundtripper.Standard())
	policy.ReplayBuffer = 64
	req := newRequest(t, "PUT", anyURL, once{strings.NewReader("hello")})
	req.ContentLength = 5
	resp, err := roundtripper.New(base, policy).RoundTrip(req)
	wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
	if fmt.Sprint(bodies) != "[hello hello]" {
		t.Errorf("sent %v, want hello twice", bodies)
	}
}

// A base may be in the middle of a Read when its attempt ends. What that one
// brings comes too late to change what is sent again.
func TestLateReadDoesNotSpoilTheReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		reads := 0
		source := readerFunc(func(p []byte) (int, error) {
			if reads++; reads == 1 {
				return copy(p, "hello"), nil
			}
			<-release
			return copy(p, "X"), nil
		})
		var bodies []string
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			data := make([]byte, 5)
			if _, err := io.ReadFull(req.Body, data); err != nil {
				return nil, err
			}
			bodies = append(bodies, string(data))
			switch len(bodies) {
			case 1:
				go req.Body.Read(make([]byte, 1))
			case 2:
				close(release)
			case 3:
				return answer(req, 200, ""), nil
			}
			synctest.Wait()
			return answer(req, 503, ""), nil
		})
		policy := quick(roundtripper.Standard())
		policy.ReplayBuffer = 64
		req := newRequest(t, "PUT", anyURL, source)
		req.ContentLength = 5
		resp, err := roundtripper.New(base, policy).RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 3, roundtripper.ReasonOK)
		if fmt.Sprint(bodies) != "[hello hello hello]" {
			t.Errorf("sent %v, want hello three times", bodies)
		}
	})
}

// A fault elsewhere: half of a body in the buffer passes for all of it.
func TestHalfReadBodyIsNotReplayedFromBuffer(t *testing.T) {
	for _, length := range []int64{-1, 10} {
		var sent []string
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			defer req.Body.Close()
			data := make([]byte, 5)
			n, _ := io.ReadFull(req.Body, data)
			sent = append(sent, string(data[:n]))
			return answer(req, 503, ""), nil
		})
		policy := quick(roundtripper.Standard())
		policy.ReplayBuffer = 64
		req := newRequest(t, "PUT", anyURL, once{strings.NewReader("0123456789")})
		req.ContentLength = length
		resp, err := roundtripper.New(base, policy).RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonNotReplayable)

		// With GetBody it is, from the beginning each time.
		sent = nil
		req = newRequest(t, "PUT", anyURL, strings.NewReader("0123456789"))
		resp, err = roundtripper.New(base, policy).RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 4, roundtripper.ReasonRetriesSpent)
		if want := "[01234 01234 01234 01234]"; fmt.Sprint(sent) != want {
			t.Errorf("sent %v, want %s", sent, want)
		}
	}
}

// A kept body must not change when the caller's buffer does: bytes are copied
// as they pass.
func TestKeptBodyIsACopy(t *testing.T) {
	base := &script{statuses: []int{503, 200}}
	policy := quick(roundtripper.Standard())
	policy.ReplayBuffer = 64
	data := []byte("hello")
	policy.Observe = func(e roundtripper.Event) {
		if e.State == roundtripper.StateWaiting {
			copy(data, "XXXXX")
		}
	}
	resp, err := roundtripper.New(base, policy).RoundTrip(newRequest(t, "PUT", anyURL, once{bytes.NewReader(data)}))
	wantEnd(t, outcome(t, resp, err), 2, roundtripper.ReasonOK)
	if fmt.Sprint(base.bodies) != "[hello hello]" {
		t.Errorf("sent %v, want hello twice", base.bodies)
	}
}

// A fault elsewhere: a large body ends up in memory (hashicorp/go-retryablehttp#145, #244,
// gojek/heimdall#96, go-resty/resty#495). One GiB without GetBody passes
// unchanged, and what is kept of it stays within the buffer.
func TestHugeBodyStaysOutOfMemory(t *testing.T) {
	const page, buffer, slack = 64 << 10, 4 << 20, 3 << 20
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var sent int64
	var peak uint64
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		defer req.Body.Close()
		b := make([]byte, page)
		for {
			n, err := io.ReadFull(req.Body, b)
			if n == page && binary.BigEndian.Uint64(b) != uint64(sent) {
				return nil, fmt.Errorf("the page at %d is another one", sent)
			}
			sent += int64(n)
			if sent%(64<<20) == 0 || sent < 2*buffer && sent%(buffer/4) == 0 {
				peak = max(peak, heap())
			}
			if err != nil {
				return answer(req, 503, "not now"), nil
			}
		}
	})
	for _, test := range []struct{ size, length int64 }{{1 << 30, -1}, {128 << 20, 128 << 20}} {
		size, length := test.size, test.length
		sent, peak = 0, 0
		var made int64
		req := newRequest(t, "PUT", anyURL, readerFunc(func(p []byte) (int, error) {
			if made == size {
				return 0, io.EOF
			}
			n := min(len(p), page-int(made%page))
			if made%page == 0 && n >= 8 {
				binary.BigEndian.PutUint64(p, uint64(made))
			}
			made += int64(n)
			return n, nil
		}))
		req.ContentLength = length
		policy := quick(roundtripper.Standard())
		policy.ReplayBuffer = buffer
		before := heap()
		resp, err := roundtripper.New(base, policy).RoundTrip(req)
		wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonNotReplayable)
		if sent != size || drink(t, resp) != "not now" {
			t.Errorf("length %d: sent %d bytes, want %d", length, sent, size)
		}
		if grown := int64(peak) - int64(before); grown > buffer+slack {
			t.Errorf("length %d: the heap grew by %d KiB with a buffer of %d KiB", length, grown>>10, buffer>>10)
		}
	}
}

// Where GetBody gives the body again, nothing of it is copied.
func TestBodyWithGetBodyIsNotKept(t *testing.T) {
	const size = 4 << 20
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		defer req.Body.Close()
		for b := make([]byte, 4<<10); ; {
			if _, err := req.Body.Read(b); err != nil {
				return answer(req, 503, ""), nil
			}
		}
	})
	policy := quick(roundtripper.Standard())
	policy.ReplayBuffer = size
	tr := roundtripper.New(base, policy)
	payload := make([]byte, size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := tr.RoundTrip(newRequest(t, "PUT", anyURL, bytes.NewReader(payload)))
	runtime.ReadMemStats(&after)
	wantEnd(t, outcome(t, resp, err), 4, roundtripper.ReasonRetriesSpent)
	if n := after.TotalAlloc - before.TotalAlloc; n > size/4 {
		t.Errorf("%d bytes were allocated for a body of %d that can be had again", n, size)
	}
}
