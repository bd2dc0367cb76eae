package roundtripper_test

// This file tests IdleTimeout: silence of the peer, and nothing else, ends an
// attempt.

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// IdleTimeout counts silence while the peer is waited for, and nothing else
// (azure-storage-blob-go#60: a healthy stream was killed).
func TestIdleTimeout(t *testing.T) {
	policy := twPlain()
	policy.IdleTimeout = 100 * twTick
	twRun(t, "no headers: the next attempt at 100 ms", func(t *testing.T) {
		base := twScript(twStep{hang: true}, twStep{after: 99 * twTick, status: 200})
		resp, err := twDo(t, base, policy, twRequest("GET", ""))
		base.wantStarts(t, 0, 100*twTick)
		if a := twReport(t, resp, err).Attempts[0]; a.Verdict.Reason != roundtripper.ReasonAttemptTimeout || !twIsTimeout(a.Err) {
			t.Errorf("%+v", a)
		}
	})
	twRun(t, "a stream without a pause is whole", func(t *testing.T) {
		base := twScript(twStep{status: 200, body: "streaming", pace: 99 * twTick})
		resp, err := twDo(t, base, policy, twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := twRead(t, resp); got != "streaming" {
			t.Errorf("read %q", got)
		}
	})
	twRun(t, "inside Read, from its beginning", func(t *testing.T) {
		base := twScript(twStep{status: 200, stall: true})
		resp, err := twDo(t, base, policy, twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err = resp.Body.Read(make([]byte, 1)); !twIsTimeout(err) {
			t.Errorf("%v is no timeout", err)
		}
		base.wantNow(t, time.Minute+100*twTick)
	})
	twRun(t, "a slow caller is not silence", func(t *testing.T) {
		base := twScript(twStep{status: 200, body: "abcdef", pace: 60 * twTick})
		resp, err := twDo(t, base, policy, twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			time.Sleep(time.Minute)
			if n, err := resp.Body.Read(make([]byte, 8)); n != 1 || err != nil {
				t.Fatalf("read %d, %v", n, err)
			}
		}
	})
	twRun(t, "JSON that is read ahead", func(t *testing.T) {
		p := policy
		p.ReadJSON = 100
		base := twScript(twStep{status: 200, header: twJSON, body: `[1,2`, pace: 80 * twTick, stall: true},
			twStep{status: 200, header: twJSON, body: `[1,2,3]`, pace: 80 * twTick})
		resp, err := twDo(t, base, p, twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		base.wantStarts(t, 0, 5*80*twTick+20*twTick) // five reads of 80 ms; the fifth goes on past 100 ms
		if got := twRead(t, resp); got != `[1,2,3]` {
			t.Errorf("read %q", got)
		}
	})
}

// While a request body moves, there is no silence; when it stops, there is.
func TestIdleTimeoutOfAnUpload(t *testing.T) {
	for _, tc := range []struct {
		name string
		read int // bytes that the base takes, one every 80 ms
		want bool
	}{
		{"all is taken, and answered", 20, true},
		{"the peer stops taking", 10, false},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			start := time.Now()
			base := twFunc(func(req *http.Request) (*http.Response, error) {
				defer req.Body.Close()
				for range tc.read {
					if err := twSleep(req.Context(), 80*twTick); err != nil {
						return nil, err
					}
					req.Body.Read(make([]byte, 1))
				}
				if tc.read < 20 {
					<-req.Context().Done()
					return nil, req.Context().Err()
				}
				if err := twSleep(req.Context(), 80*twTick); err != nil {
					return nil, err
				}
				return &http.Response{StatusCode: 204, Body: http.NoBody, Request: req}, nil
			})
			_, err := twDo(t, base, roundtripper.Policy{IdleTimeout: 100 * twTick}, twRequest("PUT", strings.Repeat("x", 20)))
			if (err == nil) != tc.want {
				t.Errorf("error %v", err)
			}
			if err != nil && (!twIsTimeout(err) || time.Since(start) != 10*80*twTick+100*twTick) {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	}
}
