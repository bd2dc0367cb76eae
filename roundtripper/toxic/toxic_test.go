package toxic_test

// This file holds the table: what each toxic does to each kind of request under each preset.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
)

// fate is what a bad network makes of each attempt of a request.
type fate int

const (
	fine    fate = iota // it gets its answer
	late                // it runs out of its time, and may have arrived
	cut                 // its connection is closed, and it may have arrived
	unsent              // no connection stands: nothing of it left
	stalled             // no connection stands in time
	cutBody             // the answer begins, and its body breaks off
	lateOne             // the answer begins, and its body takes too long as a whole
	lateGap             // the answer begins, and falls silent
)

// outOfTime reports whether an attempt that meets this fate ends by a clock.
func (f fate) outOfTime() bool { return f == late || f == stalled || f == lateOne || f == lateGap }

// toxics is every toxic, and the two ways in which the proxy itself may fail, with what becomes of a GET of a long
// body and of a POST.
var toxics = []struct {
	name, kind, stream, attributes string
	path                           string // of the GET; empty: one with a Content-Length
	secure                         bool
	get, post                      fate
	size                           int // of the POST
}{
	{name: "disabled", kind: "disabled", get: unsent, post: unsent},
	{name: "dead upstream", kind: "dead", get: cut, post: cut},
	{name: "latency", kind: "latency", stream: "downstream", attributes: `"latency": 20, "jitter": 10`},
	{name: "latency", kind: "latency", stream: "upstream", attributes: `"latency": 20, "jitter": 10`},
	{name: "latency too long", kind: "latency", stream: "downstream", attributes: `"latency": 3000`, get: late, post: late},
	{name: "latency too long", kind: "latency", stream: "upstream", attributes: `"latency": 3000`, get: late, post: late},
	{name: "bandwidth", kind: "bandwidth", stream: "downstream", attributes: `"rate": 16`, get: lateOne},
	{name: "bandwidth", kind: "bandwidth", stream: "upstream", attributes: `"rate": 1`, post: late, size: bodySize},
	{name: "slow close", kind: "slow_close", stream: "downstream", attributes: `"delay": 5000`, path: "/until-close", get: lateGap},
	{name: "slow close, length known", kind: "slow_close", stream: "downstream", attributes: `"delay": 5000`},
	{name: "slow close", kind: "slow_close", stream: "upstream", attributes: `"delay": 5000`},
	{name: "timeout", kind: "timeout", stream: "downstream", attributes: `"timeout": 0`, get: late, post: late},
	{name: "timeout", kind: "timeout", stream: "upstream", attributes: `"timeout": 0`, get: late, post: late},
	{name: "timeout, then closed", kind: "timeout", stream: "downstream", attributes: `"timeout": 50`, get: cut, post: cut},
	{name: "timeout, then closed", kind: "timeout", stream: "upstream", attributes: `"timeout": 50`, get: cut, post: cut},
	{name: "reset peer", kind: "reset_peer", stream: "downstream", attributes: `"timeout": 0`, get: cut, post: cut},
	{name: "reset peer", kind: "reset_peer", stream: "upstream", attributes: `"timeout": 0`, get: cut, post: cut},
	{name: "reset peer later", kind: "reset_peer", stream: "downstream", attributes: `"timeout": 50`, get: cut, post: cut},
	{name: "reset peer later", kind: "reset_peer", stream: "upstream", attributes: `"timeout": 50`, get: cut, post: cut},
	{name: "slicer", kind: "slicer", stream: "downstream", attributes: `"average_size": 512, "size_variation": 256, "delay": 100`},
	{name: "slicer", kind: "slicer", stream: "upstream", attributes: `"average_size": 512, "size_variation": 256, "delay": 100`, size: bodySize},
	{name: "limit data in the head", kind: "limit_data", stream: "downstream", attributes: `"bytes": 10`, get: cut, post: cut},
	{name: "limit data in the head", kind: "limit_data", stream: "upstream", attributes: `"bytes": 20`, get: cut, post: cut},
	{name: "limit data in the body", kind: "limit_data", stream: "downstream", attributes: `"bytes": 2000`, get: cutBody},
	{name: "limit data in the body", kind: "limit_data", stream: "upstream", attributes: `"bytes": 2000`, post: cut, size: bodySize},

	{name: "reset handshake", kind: "reset_peer", stream: "upstream", attributes: `"timeout": 0`, secure: true, get: unsent, post: unsent},
	{name: "silent handshake", kind: "timeout", stream: "upstream", attributes: `"timeout": 0`, secure: true, get: stalled, post: stalled},
	{name: "silent handshake", kind: "timeout", stream: "downstream", attributes: `"timeout": 0`, secure: true, get: stalled, post: stalled},
	{name: "cut handshake", kind: "limit_data", stream: "downstream", attributes: `"bytes": 20`, secure: true, get: unsent, post: unsent},
}

// limit is what the presets' AttemptTimeout and IdleTimeout become where they must run out.
const limit = time.Second

// presets are the presets with short waits, and with clocks that run out soon (tight) or never (roomy).
var presets = []struct {
	name         string
	tight, roomy roundtripper.Policy
}{
	{"Standard", hurried(roundtripper.Standard(), limit), hurried(roundtripper.Standard(), patience)},
	{"Headless", hurried(roundtripper.Headless(), limit), hurried(roundtripper.Headless(), patience)},
	{"Transfer", hurried(roundtripper.Transfer(), limit), hurried(roundtripper.Transfer(), patience)},
}

func hurried(p roundtripper.Policy, limit time.Duration) roundtripper.Policy {
	if p.AttemptTimeout > 0 {
		p.AttemptTimeout = limit
	}
	if p.IdleTimeout > 0 {
		p.IdleTimeout = limit
	}
	if p.TotalTimeout > 0 {
		p.TotalTimeout = 10 * limit
	}
	slow := p.Backoff
	p.Backoff = func(retry int, prev time.Duration) time.Duration { return slow(retry, prev) / 50 }
	return p
}

func TestToxics(t *testing.T) {
	t.Parallel()
	for _, tox := range toxics {
		for _, preset := range presets {
			for _, warm := range []bool{false, true} {
				if warm && tox.secure {
					continue // its handshake was before
				}
				t.Run(fmt.Sprintf("%s %s/%s/warm=%t", tox.name, tox.stream, preset.name, warm), func(t *testing.T) {
					t.Parallel()
					l := newLab(t, tox.secure)
					transport := roundtripper.New(l.base, preset.tight)
					if warm {
						expect(t, l, transport, preset.roomy, exchange{fate: fine, method: "GET", mark: "before"})
					}
					var cure func()
					switch tox.kind {
					case "disabled":
						l.proxy.Stop()
						cure = func() { require.NoError(t, l.proxy.Start()) }
					case "dead":
						upstream := l.proxy.Upstream
						l.redirect(t, nextAddress())
						cure = func() { l.redirect(t, upstream) }
					default:
						cure = l.poison(t, tox.kind, tox.stream, tox.attributes)
					}
					t.Run("calls", func(t *testing.T) {
						for _, x := range []exchange{
							{fate: tox.get, method: "GET", mark: "get", path: tox.path},
							{fate: tox.post, method: "POST", mark: "post", path: "/short", size: max(1, tox.size)},
							{fate: tox.post, method: "POST", mark: "keyed", path: "/short", size: max(1, tox.size), key: "k-1"},
						} {
							t.Run(x.mark, func(t *testing.T) {
								t.Parallel()
								policy := preset.tight
								if !x.fate.outOfTime() || x.fate == lateOne && policy.AttemptTimeout == 0 {
									policy = preset.roomy
								}
								expect(t, l, transport, policy, x)
							})
						}
					})
					cure()
					expect(t, l, transport, preset.roomy, exchange{fate: fine, method: "GET", mark: "after"})
					expect(t, l, transport, preset.roomy, exchange{fate: fine, method: "POST", mark: "after-post", path: "/short", size: 1})
				})
			}
		}
	}
}

// exchange is one call, and what becomes of its attempts.
type exchange struct {
	fate               fate
	method, mark, path string
	size               int    // of its body
	key                string // its idempotency key
}

// expect makes the call and checks what the caller sees of it.
func expect(t *testing.T, l *lab, transport *roundtripper.Transport, p roundtripper.Policy, x exchange) {
	t.Helper()
	up := &upload{data: strings.Repeat("u", x.size)}
	req, err := http.NewRequestWithContext(roundtripper.WithPolicy(t.Context(), p), x.method, l.url+x.path, nil)
	require.NoError(t, err)
	req.Header.Set("Mark", x.mark)
	if x.key != "" {
		req.Header.Set("Idempotency-Key", x.key)
	}
	if p.ReadJSON > 0 {
		req.Header.Set("Accept", "application/json")
	}
	if x.size > 0 {
		req.Body, _ = up.open()
		req.GetBody, req.ContentLength = up.open, int64(x.size)
	}

	began := time.Now()
	resp, err := transport.RoundTrip(req)
	if x.within(p) {
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, resp.Body.Close())
		report, ok := roundtripper.ReportFrom(resp)
		require.True(t, ok)
		assert.Equal(t, roundtripper.ReasonOK, report.Stop)
		x.checkBody(t, data, err)
	} else {
		failure, ok := errors.AsType[*roundtripper.Error](err)
		require.Truef(t, ok, "%v is no failed call", err)
		x.checkFailure(t, p, failure)
	}
	assert.Less(t, time.Since(began), x.longest(p)+patience, "the policy's own bound, with room for a slow machine")
	assert.Eventually(t, func() bool { return up.made.Load() == up.released.Load() }, patience, time.Millisecond,
		"a request body was left open")

	switch arrived := l.arrived(x.mark); {
	case x.fate == unsent || x.fate == stalled:
		assert.Zero(t, arrived, "what was never sent has arrived")
	case !x.repeated(p) && x.key == "": // net/http takes a key for leave to repeat, whatever the policy says
		assert.LessOrEqual(t, arrived, 1, "a write was sent twice")
	}
}

// within reports whether the call gives a response: a body that breaks off is an attempt that failed where JSON is
// read ahead.
func (x exchange) within(p roundtripper.Policy) bool {
	switch x.fate {
	case fine:
		return true
	case cutBody, lateOne, lateGap:
		return p.ReadJSON == 0
	}
	return false
}

// repeated reports whether p may send the request again.
func (x exchange) repeated(p roundtripper.Policy) bool {
	return x.method == "GET" || x.key != "" && p.KeyHeader != "" ||
		p.RetryUnsent && (x.fate == unsent || x.fate == stalled)
}

// longest is the time that p gives the call.
func (x exchange) longest(p roundtripper.Policy) time.Duration {
	if most, ok := p.WorstCase(); ok {
		return most
	}
	return time.Duration(p.MaxRetries+1) * (p.IdleTimeout + limit)
}

// checkBody checks how the body of a response ended.
func (x exchange) checkBody(t *testing.T, data []byte, err error) {
	t.Helper()
	want := longJSON
	if x.path == "/short" {
		want = `"taken"`
	}
	switch x.fate {
	case cutBody:
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Less(t, len(data), len(want))
	case lateGap:
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.True(t, strings.HasPrefix(want, string(data)), "what came is the caller's")
	default: // a body that is slow, but never silent, is no concern of an idle timeout
		assert.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
}

// checkFailure checks what the report says of a call that gave no response.
func (x exchange) checkFailure(t *testing.T, p roundtripper.Policy, failure *roundtripper.Error) {
	t.Helper()
	attempts, stop := p.MaxRetries+1, roundtripper.ReasonRetriesSpent
	if !x.repeated(p) {
		attempts, stop = 1, roundtripper.ReasonNotRepeatable
	}
	assert.Equal(t, stop, failure.Reason)
	assert.Equal(t, stop, failure.Report.Stop)
	assert.Len(t, failure.Report.Attempts, attempts)

	timedOut, reason := x.fate.outOfTime(), roundtripper.ReasonNetwork
	if timedOut {
		reason = roundtripper.ReasonAttemptTimeout
	}
	for _, a := range failure.Report.Attempts {
		assert.Equal(t, roundtripper.Verdict{Retry: true, Reason: reason}, a.Verdict, "%v", a.Err)
		assert.Equal(t, x.fate != unsent && x.fate != stalled, a.Sent, "%v", a.Err)
	}
	assert.Equal(t, timedOut, failure.Timeout())
	assert.Equal(t, timedOut, errors.Is(failure, context.DeadlineExceeded))
	if x.fate == cutBody {
		assert.ErrorIs(t, failure, io.ErrUnexpectedEOF)
	}
}
