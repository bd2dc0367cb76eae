package roundtripper_test

// Panics and runtime.Goexit, in the base and in each of the policy's functions:
// they pass through as they are, and leave nothing behind: bodies are closed,
// contexts ended, and no timer or goroutine is left in the bubble.

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// place is where it may happen: set puts bang, which is called at each visit,
// where it belongs.
type place struct {
	name     string
	statuses []int
	set      func(p *roundtripper.Policy, req *http.Request, bang func())
}

func places() []place {
	observe := func(state roundtripper.State) func(*roundtripper.Policy, *http.Request, func()) {
		return func(p *roundtripper.Policy, _ *http.Request, bang func()) {
			p.Observe = func(e roundtripper.Event) {
				if e.State == state {
					bang()
				}
			}
		}
	}
	return []place{
		{"base", []int{503, -1}, nil},
		{"base at once", []int{-1}, nil},
		{"Prepare", []int{200}, func(p *roundtripper.Policy, _ *http.Request, bang func()) {
			p.Prepare = func(*http.Request, int) error { bang(); return nil }
		}},
		{"Prepare of a retry", []int{503, 200}, func(p *roundtripper.Policy, _ *http.Request, bang func()) {
			p.Prepare = func(_ *http.Request, n int) error {
				if n == 2 {
					bang()
				}
				return nil
			}
		}},
		{"Decide", []int{503, 200}, func(p *roundtripper.Policy, _ *http.Request, bang func()) {
			p.Decide = func(a *roundtripper.Attempt) roundtripper.Verdict { bang(); return a.Verdict }
		}},
		{"Accept", []int{503, 200}, func(p *roundtripper.Policy, _ *http.Request, bang func()) {
			p.Accept = func(*http.Response) error { bang(); return nil }
		}},
		{"Backoff", []int{503, 200}, func(p *roundtripper.Policy, _ *http.Request, bang func()) {
			p.Backoff = func(int, time.Duration) time.Duration { bang(); return 0 }
		}},
		{"GetBody", []int{503, 200}, func(_ *roundtripper.Policy, req *http.Request, bang func()) {
			get := req.GetBody
			req.GetBody = func() (io.ReadCloser, error) { bang(); return get() }
		}},
		{"Fallback of a response", []int{404}, func(p *roundtripper.Policy, _ *http.Request, bang func()) {
			p.Fallback = func(*http.Request, *roundtripper.Report, error) (*http.Response, error) { bang(); return nil, nil }
		}},
		{"Fallback of an error", []int{0}, func(p *roundtripper.Policy, _ *http.Request, bang func()) {
			p.Fallback = func(*http.Request, *roundtripper.Report, error) (*http.Response, error) { bang(); return nil, nil }
		}},
		{"Observe sending", []int{200}, observe(roundtripper.StateSending)},
		{"Observe waiting", []int{503, 200}, observe(roundtripper.StateWaiting)},
		{"Observe done", []int{503, 200}, observe(roundtripper.StateDone)},
		{"Observe done at once", []int{200}, observe(roundtripper.StateDone)},
		{"Observe failed with a response", []int{503, 404}, observe(roundtripper.StateFailed)},
		{"Observe failed with an error", []int{0}, observe(roundtripper.StateFailed)},
	}
}

func TestPanicsLeaveNothingBehind(t *testing.T) {
	for _, place := range places() {
		for _, way := range []string{"panic", "Goexit"} {
			for _, slow := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/SlowAfter=%v", place.name, way, slow), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { testPanic(t, place, way == "panic", slow) })
				})
			}
		}
	}
}

func testPanic(t *testing.T, place place, panics, slow bool) {
	banged := 0
	bang := func() {
		banged++
		if panics {
			panic(errOwn)
		}
		runtime.Goexit()
	}
	var probes []*probe
	body := func() io.ReadCloser {
		p := newProbe("hello")
		probes = append(probes, p)
		return p
	}
	var responses []*tracked
	var ctxs []context.Context
	calls := 0
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		calls++
		ctxs = append(ctxs, req.Context())
		take(req)
		go func() { <-req.Context().Done() }() // as net/http does
		status := place.statuses[min(calls, len(place.statuses))-1]
		switch status {
		case -1:
			bang()
		case 0:
			return nil, errReset
		}
		b := &tracked{Reader: strings.NewReader("body")}
		responses = append(responses, b)
		resp := answer(req, status, "")
		resp.Body, resp.ContentLength = b, 4
		return resp, nil
	})
	policy := quick(roundtripper.Standard())
	policy.AttemptTimeout = time.Hour
	policy.TotalTimeout = 3 * time.Hour
	req := newRequest(t, "PUT", anyURL, nil)
	req.Body, req.ContentLength = body(), 5
	req.GetBody = func() (io.ReadCloser, error) { return body(), nil }
	if place.set != nil {
		place.set(&policy, req, bang)
	}
	if slow {
		policy.SlowAfter = time.Hour
	}
	told := 0 // of StateSlow, by a timer that nobody stopped
	observe := policy.Observe
	policy.Observe = func(e roundtripper.Event) {
		if e.State == roundtripper.StateSlow {
			told++
		} else if observe != nil {
			observe(e)
		}
	}

	var recovered any
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recovered = recover() }()
		roundtripper.New(base, policy).RoundTrip(req)
		returned = true
	}()
	<-done
	synctest.Wait()
	if returned || banged != 1 {
		t.Fatalf("RoundTrip returned (%v), after %d visits", returned, banged)
	}
	if panics && recovered != error(errOwn) {
		t.Errorf("recovered %v, want the value that was thrown", recovered)
	}
	for i, p := range probes {
		p.check(t, fmt.Sprintf("request body %d", i+1))
	}
	for i, b := range responses {
		if b.closes.Load() == 0 {
			t.Errorf("response %d was left open", i+1)
		}
	}
	for i, ctx := range ctxs {
		if ctx.Err() == nil {
			t.Errorf("the context of attempt %d lives on", i+1)
		}
	}
	time.Sleep(24 * time.Hour)
	synctest.Wait()
	if told > 0 {
		t.Errorf("%d events came after the end", told)
	}
}

// A body that panics takes the base with it; it is closed all the same.
func TestBodyThatPanicsIsClosed(t *testing.T) {
	body := &probe{src: readerFunc(func([]byte) (int, error) { panic(errOwn) })}
	base := baseFunc(func(req *http.Request) (*http.Response, error) {
		take(req)
		return nil, errReset
	})
	func() {
		defer func() {
			if v := recover(); v != error(errOwn) {
				t.Errorf("recovered %v", v)
			}
		}()
		roundtripper.New(base, roundtripper.Standard()).RoundTrip(newRequest(t, "PUT", anyURL, body))
	}()
	body.check(t, "body")

	// So it is where the base did not get to close it.
	body = &probe{src: readerFunc(func([]byte) (int, error) { panic(errOwn) })}
	base = func(req *http.Request) (*http.Response, error) {
		req.Body.Read(make([]byte, 1))
		return nil, errReset
	}
	func() {
		defer func() { recover() }()
		roundtripper.New(base, roundtripper.Standard()).RoundTrip(newRequest(t, "PUT", anyURL, body))
	}()
	body.check(t, "body that nobody closed")
}

// A Read that says that it read more than there was room for, or less than
// nothing, makes the base panic. That is the caller's to see: the call must not
// wait for the body's lock instead.
func TestBodyThatMiscountsIsClosed(t *testing.T) {
	for _, n := range []int{-1, 1 << 20} {
		for _, buffer := range []int64{0, 64} {
			policy := roundtripper.Standard()
			policy.ReplayBuffer = buffer
			body := &twClosed{Reader: readerFunc(func([]byte) (int, error) { return n, nil })}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("a count of %d: no panic", n)
					}
				}()
				roundtripper.New(&script{statuses: []int{200}}, policy).RoundTrip(newRequest(t, "PUT", anyURL, body))
			}()
			if body.n != 1 {
				t.Errorf("a count of %d, buffer %d: closed %d times", n, buffer, body.n)
			}
		}
	}
}

// A Transport is as good as new after a panic.
func TestTransportSurvivesAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			calls++
			if calls == 1 {
				panic(errOwn)
			}
			return answer(req, 200, "ok"), nil
		})
		tr := roundtripper.New(base, everythingQuiet())
		func() {
			defer func() { recover() }()
			tr.RoundTrip(newRequest(t, "GET", anyURL, nil))
		}()
		resp, err := tr.RoundTrip(newRequest(t, "GET", anyURL, nil))
		wantEnd(t, outcome(t, resp, err), 1, roundtripper.ReasonOK)
		if got := drink(t, resp); got != "ok" {
			t.Errorf("got %q", got)
		}
	})
}

// everythingQuiet is everything with a Prepare that changes nothing.
func everythingQuiet() roundtripper.Policy {
	p := everything()
	p.Prepare = func(*http.Request, int) error { return nil }
	return p
}
