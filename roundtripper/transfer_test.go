package roundtripper_test

// This file tests Transfer(): uploads, exports and streams may take as long as
// they move.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// Transfer is Standard but for four fields.
func TestTransferIsStandardOtherwise(t *testing.T) {
	s, x := reflect.ValueOf(roundtripper.Standard()), reflect.ValueOf(roundtripper.Transfer())
	want := map[string]any{
		"AttemptTimeout": time.Duration(0),
		"TotalTimeout":   time.Duration(0),
		"IdleTimeout":    30 * time.Second,
		"ReadJSON":       int64(0),
	}
	for i := range s.NumField() {
		name := s.Type().Field(i).Name
		got := x.Field(i)
		if w, ok := want[name]; ok {
			if got.Interface() != w {
				t.Errorf("%s is %v, want %v", name, got, w)
			}
			continue
		}
		if got.Kind() == reflect.Func {
			if got.IsNil() != s.Field(i).IsNil() {
				t.Errorf("%s: one is nil", name)
			}
		} else if !reflect.DeepEqual(got.Interface(), s.Field(i).Interface()) {
			t.Errorf("%s is %v, want Standard's %v", name, got, s.Field(i))
		}
	}
}

// A healthy stream is cut by no clock (opencrabs#1678); a silent one is.
func TestTransferDownload(t *testing.T) {
	twRun(t, "an hour of bytes, 29 s apart", func(t *testing.T) {
		whole := strings.Repeat("x", 125)
		base := twScript(twStep{after: 29 * time.Second, status: 200, body: whole, pace: 29 * time.Second})
		resp, err := twDo(t, base, roundtripper.Transfer(), twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := twRead(t, resp); got != whole {
			t.Errorf("read %d bytes of %d", len(got), len(whole))
		}
		if time.Since(base.start) < time.Hour {
			t.Errorf("it is %v: the stream was not slow", time.Since(base.start))
		}
	})
	twRun(t, "silence of 30 s in the middle", func(t *testing.T) {
		base := twScript(twStep{status: 200, body: "abc", pace: 10 * time.Second, stall: true})
		resp, err := twDo(t, base, roundtripper.Transfer(), twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		// 10 s of pace are spent before each read, the stalled one included.
		base.wantNow(t, 60*time.Second)
		if string(got) != "abc" || !errors.Is(err, context.DeadlineExceeded) || !twIsTimeout(err) {
			t.Errorf("read %q, %v", got, err)
		}
	})
	twRun(t, "no headers for 30 s", func(t *testing.T) {
		base := twScript(twStep{hang: true}, twStep{after: 29 * time.Second, status: 200})
		resp, err := twDo(t, base, roundtripper.Transfer(), twRequest("GET", ""))
		base.wantAttempts(t, 2)
		if a := twReport(t, resp, err).Attempts[0]; a.Elapsed != 30*time.Second || a.Verdict.Reason != roundtripper.ReasonAttemptTimeout {
			t.Errorf("first attempt ended after %v, %q", a.Elapsed, a.Verdict.Reason)
		}
	})
	twRun(t, "JSON streams are not read ahead", func(t *testing.T) {
		base := twScript(twStep{status: 200, header: twJSON, body: `{"a":`, cut: io.ErrUnexpectedEOF})
		resp, err := twDo(t, base, roundtripper.Transfer(), twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		base.wantAttempts(t, 1)
		if got, err := io.ReadAll(resp.Body); string(got) != `{"a":` || err != io.ErrUnexpectedEOF {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

// An upload of minutes to a server that reads it piece by piece, through
// net/http and a pipe: each piece that moves is a sign of life.
func TestTransferUpload(t *testing.T) {
	const piece, pieces = 4 << 10, 20
	for _, tc := range []struct {
		name           string
		produce, serve time.Duration // before each piece
		think          time.Duration // before the answer
		fails          bool
	}{
		{"slow source", 20 * time.Second, 0, 0, false},
		{"slow server", 0, 20 * time.Second, 0, false},
		{"source slower than the limit", 40 * time.Second, 0, 0, false}, // a slow caller is not silence
		{"an answer just in time", 20 * time.Second, 0, 29 * time.Second, false},
		{"no answer", 20 * time.Second, 0, 31 * time.Second, true},
		{"the server stops reading", 0, time.Hour, 0, true},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			var got int64
			base, stop := twPipeServer(func(w http.ResponseWriter, r *http.Request) {
				for {
					if twSleep(r.Context(), tc.serve) != nil {
						return
					}
					n, err := io.CopyN(io.Discard, r.Body, piece)
					got += n
					if err != nil {
						break
					}
				}
				if twSleep(r.Context(), tc.think) == nil {
					w.WriteHeader(http.StatusNoContent)
				}
			})
			source := &twSource{pieces: pieces, size: piece, pace: tc.produce}
			req, err := http.NewRequest("POST", "http://example.com/upload", source)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := twDo(t, base, roundtripper.Transfer(), req)
			if tc.fails {
				if !errors.Is(err, context.DeadlineExceeded) || !twIsTimeout(err) {
					t.Errorf("%v is no timeout", err)
				}
			} else if err != nil {
				t.Error(err)
			} else {
				resp.Body.Close()
			}
			stop()
			if !tc.fails && got != piece*pieces {
				t.Errorf("the server got %d bytes of %d", got, piece*pieces)
			}
		})
	}
}

// twSource is a request body that comes in pieces, each after a pause.
type twSource struct {
	pieces, size int
	pace         time.Duration
}

func (s *twSource) Read(p []byte) (int, error) {
	if s.pieces == 0 {
		return 0, io.EOF
	}
	time.Sleep(s.pace)
	s.pieces--
	return copy(p, bytes.Repeat([]byte("x"), s.size)), nil
}
