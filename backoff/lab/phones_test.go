package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func policyNamed(t *testing.T, name string) phonePolicy {
	t.Helper()
	for _, p := range phonePolicies() {
		if p.name == name {
			return p
		}
	}
	t.Fatalf("no policy %q", name)
	return phonePolicy{}
}

// around is the attempts per second over six seconds, which a hanging attempt takes, in those of 200,000 phones.
func around(all []*rush, at time.Duration) float64 {
	return over(all, func(r *rush) float64 {
		sum := 0.0
		for k := range 6 {
			sum += r.rate(at + time.Duration(2*k-5)*time.Second/2)
		}
		return sum / 6 * 200_000 / float64(r.phones)
	}).mean
}

// What 200,000 phones do in an outage fewer do in proportion: the load after a minute and near the end, and the attempts
// per call. The tolerances are six standard errors or more.
func TestPhonesInTheOutage(t *testing.T) {
	const phones, runs = 20_000, 5
	for name, want := range map[string]struct{ minute, end, perCall float64 }{
		"no retries":                                           {3_000, 3_000, 1},
		"at once, until it works":                              {31_320, 33_300, 14.8},
		"at once, 4 attempts":                                  {12_000, 12_000, 3.7},
		"full jitter, 4 attempts":                              {12_000, 12_000, 3.68},
		"... and a budget per phone that starts full":          {12_000, 12_000, 3.68},
		"... and a budget per phone that starts at 1":          {6_000, 3_000, 1.56},
		"... and a breaker per phone, 5 / 30 s":                {12_000, 3_000, 2.67},
		"full jitter, no limit, a breaker per phone, 5 / 30 s": {15_000, 3_000, 3.22},
	} {
		f := theFleet(policyNamed(t, name), phones)
		f.watched = 0
		all := f.times(runs)
		tolerance := func(load float64) float64 {
			if load > 10_000 {
				return 0.03
			}
			return 0.06
		}
		assert.InEpsilon(t, want.minute, around(all, 60*time.Second), tolerance(want.minute), "%s: at 60 s", name)
		assert.InEpsilon(t, want.end, around(all, 115*time.Second), tolerance(want.end), "%s: at 115 s", name)
		assert.InEpsilon(t, want.perCall, over(all, (*rush).perCall).mean, 0.02, "%s: attempts per call", name)
	}
}

// One budget for all phones stops their retries after ten.
func TestPhonesThatShareABudget(t *testing.T) {
	r := theFleet(policyNamed(t, "... and one budget for all phones"), 2000)
	r.watched = 0
	got := r.run()
	assert.Equal(t, got.calls+10, got.sends)
}

// The service comes back to a load that it can't take. If overload makes it slower, those who retry at once keep it
// down; a limit on attempts ends it in either case.
func TestPhonesAfterTheOutage(t *testing.T) {
	for _, tc := range []struct {
		name     string
		collapse bool
		recovers bool
	}{
		{"no retries", true, true},
		{"at once, until it works", false, true},
		{"at once, until it works", true, false},
		{"full jitter, 4 attempts", true, true},
	} {
		f := theFleet(policyNamed(t, tc.name), 20_000)
		f.collapse = tc.collapse
		load := f.run().rate(f.outage + 290*time.Second)
		if tc.recovers {
			assert.InDelta(t, 300, load, 150, "%s, collapse %v: back to the calls that there are", tc.name, tc.collapse)
		} else {
			assert.Greater(t, load, 3*f.capacity, "%s, collapse %v: still overloaded", tc.name, tc.collapse)
		}
	}
}

// How long it takes to recover only a large fleet tells.
func TestPhonesRecover(t *testing.T) {
	for collapse, want := range map[bool]span{false: {22, 30}, true: {75, 100}} {
		f := theFleet(policyNamed(t, "full jitter, 4 attempts"), 200_000)
		f.collapse = collapse
		d, ok := f.run().recovery()
		assert.True(t, ok, "collapse %v", collapse)
		want.holds(t, fmt.Sprint("seconds to recover, collapse ", collapse), d.Seconds())
	}
}

// A call that is pending when the phone would poll again takes the place of that poll.
func TestPhonesHaveOneCallAtATime(t *testing.T) {
	f := theFleet(policyNamed(t, "at once, until it works"), 1)
	f.watched = 0
	for range 50 {
		r := f.run()
		require.Equal(t, 1, r.calls)
		sends := 0
		for step, n := range r.load {
			require.LessOrEqual(t, n, 1, "in step %d", step)
			sends += n
		}
		// One every 6 s from the first poll on.
		assert.GreaterOrEqual(t, sends, 9)
		assert.LessOrEqual(t, sends, 20)
	}
}

func BenchmarkPhones(b *testing.B) {
	for _, p := range phonePolicies() {
		for _, collapse := range []bool{false, true} {
			b.Run(fmt.Sprintf("policy=%s/collapse=%v", strings.ReplaceAll(p.name, " / ", "-"), collapse), func(b *testing.B) {
				f := theFleet(p, 200_000)
				f.collapse = collapse
				var last *rush
				for b.Loop() {
					last = f.run()
				}
				b.ReportMetric(last.rate(60*time.Second), "attempts/s")
				b.ReportMetric(last.perCall(), "attempts/call")
				d, _ := last.recovery()
				b.ReportMetric(d.Seconds(), "s-to-recover")
			})
		}
	}
}
