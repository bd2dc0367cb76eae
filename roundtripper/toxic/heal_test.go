package toxic_test

// This file holds what happens while the network changes under a call: it heals, it stays dead, or its caller has had
// enough.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
)

// A network that is whole again before the second attempt is all that a call needs. A write without a key gets there
// too, once, if nothing of it had left.
func TestHealsBetweenAttempts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, method string
		toxic        string // empty: the proxy is down
		reason       roundtripper.Reason
	}{
		{"a read that was cut", "GET", "reset_peer", roundtripper.ReasonNetwork},
		{"a read that was dropped", "GET", "timeout", roundtripper.ReasonAttemptTimeout},
		{"a read that found nobody", "GET", "", roundtripper.ReasonNetwork},
		{"a write that found nobody", "POST", "", roundtripper.ReasonNetwork},
	} {
		for _, preset := range presets {
			if tc.method == "POST" && !preset.tight.RetryUnsent {
				continue
			}
			t.Run(tc.name+"/"+preset.name, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, false)
				cure := func() { require.NoError(t, l.proxy.Start()) }
				p := preset.roomy
				if tc.toxic == "" {
					l.proxy.Stop()
				} else {
					cure = l.poison(t, tc.toxic, "downstream", `"timeout": 0`)
				}
				if tc.reason == roundtripper.ReasonAttemptTimeout {
					p = hurried(preset.tight, 4*limit) // one attempt runs out of it, and the next must not
				}
				var healed sync.Once
				p.Observe = func(e roundtripper.Event) {
					if e.State == roundtripper.StateWaiting {
						healed.Do(cure)
					}
				}
				req, err := http.NewRequestWithContext(t.Context(), tc.method, l.url, strings.NewReader("once"))
				require.NoError(t, err)
				req.Header.Set("Mark", "healed")
				resp, err := roundtripper.New(l.base, p).RoundTrip(req)
				require.NoError(t, err)
				data, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				assert.Equal(t, longJSON, string(data))

				report, ok := roundtripper.ReportFrom(resp)
				require.True(t, ok)
				assert.Equal(t, roundtripper.ReasonOK, report.Stop)
				require.Greater(t, len(report.Attempts), 1)
				assert.Equal(t, tc.reason, report.Attempts[0].Verdict.Reason)
				assert.Equal(t, tc.toxic != "", report.Attempts[0].Sent)
				if tc.method == "POST" {
					assert.Equal(t, 1, l.arrived("healed"))
				}
			})
		}
	}
}

// A dead host opens its breaker, from then on no call touches the network, and a trial closes it once the host is back.
func TestBreakerOfDeadHost(t *testing.T) {
	t.Parallel()
	const failures = 3
	for _, tc := range []struct{ name, toxic string }{
		{"down", ""}, {"silent", "timeout"}, {"reset", "reset_peer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, false)
			cure := func() { require.NoError(t, l.proxy.Start()) }
			if tc.toxic == "" {
				l.proxy.Stop()
			} else {
				cure = l.poison(t, tc.toxic, "downstream", `"timeout": 0`)
			}
			p := presets[0].roomy
			if tc.toxic == "timeout" {
				p = presets[0].tight
			}
			call := func(hosts *breaker.Group) error {
				p.Breaker = hosts
				req, err := http.NewRequestWithContext(t.Context(), "GET", l.url, nil)
				require.NoError(t, err)
				req.Header.Set("Mark", "dead")
				resp, err := roundtripper.New(l.base, p).RoundTrip(req)
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				_, err = io.Copy(io.Discard, resp.Body)
				return err
			}

			shut := breaker.PerHost(breaker.Config{Consecutive: failures, Cooldown: time.Hour})
			failure, ok := errors.AsType[*roundtripper.Error](call(shut))
			require.True(t, ok)
			assert.Equal(t, roundtripper.ReasonBreakerOpen, failure.Reason)
			assert.Len(t, failure.Report.Attempts, failures)
			assert.Equal(t, breaker.Open, shut.State(l.url))

			dials, arrived := l.dials.Load(), l.arrived("dead")
			for range 10 {
				failure, ok := errors.AsType[*roundtripper.Error](call(shut))
				require.True(t, ok)
				assert.Equal(t, roundtripper.ReasonBreakerOpen, failure.Reason)
				assert.Empty(t, failure.Report.Attempts)
				open, ok := errors.AsType[*breaker.OpenError](failure)
				require.True(t, ok)
				assert.Error(t, open.Cause)
				wait, ok := failure.RetryAfter()
				assert.True(t, ok)
				assert.Positive(t, wait)
			}
			assert.Equal(t, dials, l.dials.Load(), "an open breaker lets nobody dial")
			assert.Equal(t, arrived, l.arrived("dead"))

			brief := breaker.PerHost(breaker.Config{Consecutive: failures, Cooldown: time.Millisecond, MaxCooldown: time.Millisecond})
			require.Error(t, call(brief))
			cure()
			assert.Eventually(t, func() bool { return call(brief) == nil }, 2*patience, 5*time.Millisecond)
			assert.Equal(t, breaker.Closed, brief.State(l.url))
		})
	}
}

// The caller's own end is the end, also of an attempt that will never be answered.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	for _, preset := range presets {
		for _, tc := range []struct {
			name   string
			reason roundtripper.Reason
			is     error
			leave  func(context.Context, *lab) (context.Context, context.CancelFunc)
		}{
			{"by cancelling", roundtripper.ReasonCanceled, context.Canceled,
				func(ctx context.Context, l *lab) (context.Context, context.CancelFunc) {
					ctx, cancel := context.WithCancel(ctx)
					l.onArrival = cancel
					return ctx, cancel
				}},
			{"by a deadline", roundtripper.ReasonDeadline, context.DeadlineExceeded,
				func(ctx context.Context, _ *lab) (context.Context, context.CancelFunc) {
					return context.WithTimeout(ctx, limit)
				}},
		} {
			t.Run(tc.name+"/"+preset.name, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, false)
				l.poison(t, "timeout", "downstream", `"timeout": 0`)
				ctx, cancel := tc.leave(t.Context(), l)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, "GET", l.url, nil)
				require.NoError(t, err)
				req.Header.Set("Mark", "left")
				_, err = roundtripper.New(l.base, preset.roomy).RoundTrip(req)
				failure, ok := errors.AsType[*roundtripper.Error](err)
				require.True(t, ok)
				assert.Equal(t, tc.reason, failure.Reason)
				assert.ErrorIs(t, failure, tc.is)
				assert.Len(t, failure.Report.Attempts, 1)
				assert.LessOrEqual(t, l.arrived("left"), 1)
			})
		}
	}
}
