package roundtripper_test

// This file tests many calls together, and calls inside calls: the figures of
// stacked layers, the bound of the budget for any interleaving, a model of the
// breaker, 500 calls in a long outage.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
)

// gdApart stands for the border of a process: what comes through it knows
// nothing of the call outside.
func gdApart(next http.RoundTripper) http.RoundTripper {
	return baseFunc(func(req *http.Request) (*http.Response, error) {
		return next.RoundTrip(req.Clone(context.Background()))
	})
}

// Layers that each try three times multiply, 27 for one click; those of one
// program make three. A budget in each layer leaves 19 for the first click, and
// of 1,000 failing clicks 1,030 (nanobot#2760, envoy#31597).
func TestBudgetLayers(t *testing.T) {
	for _, tc := range []struct {
		name                string
		apart, budgeted     bool
		clicks, first, last int
	}{
		{"apart", true, false, 10, 27, 270},
		{"together", false, false, 10, 3, 30},
		{"apart, budgets", true, true, 1000, 19, 1030},
		{"together, budgets", false, true, 1000, 3, 1010},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := &gdBase{do: gdStatus(503)}
			var rt http.RoundTripper = base
			for range 3 {
				p := quick(gdPolicy())
				p.MaxRetries = 2
				if tc.budgeted {
					p.Budget = budget.New(budget.Config{})
				}
				if tc.apart {
					rt = gdApart(rt)
				}
				rt = roundtripper.New(rt, p)
			}
			for click := 1; click <= tc.clicks; click++ {
				gdEnd(t, rt, gdGet(t.Context(), gdURL))
				if got := base.sends(); click == 1 && got != tc.first {
					t.Errorf("%d sends for the first click, want %d", got, tc.first)
				}
			}
			if got := base.sends(); got != tc.last {
				t.Errorf("%d sends for %d clicks, want %d", got, tc.clicks, tc.last)
			}
		})
	}
}

// One budget, gate and breaker for all the transports of a program is how they
// are meant to be used, and transports stack: a client library's own one on top
// of its user's. Then one attempt is one attempt: it counts once, and no layer
// waits for the turn that an outer one has, or is refused as a second trial.
func TestGuardsSharedByLayers(t *testing.T) {
	// stack is three layers with the same guards; in the middle one the request
	// is made anew, as an OAuth transport does.
	stack := func(base http.RoundTripper, p roundtripper.Policy) http.RoundTripper {
		inner := roundtripper.New(base, p)
		middle := roundtripper.New(baseFunc(func(req *http.Request) (*http.Response, error) {
			return inner.RoundTrip(gdGet(req.Context(), req.URL.String()))
		}), p)
		return roundtripper.New(middle, p)
	}
	twRun(t, "budget", func(t *testing.T) {
		p := gdPolicy()
		p.Budget = budget.New(budget.Config{Initial: 5})
		rt := stack(&gdBase{do: gdStatus(200)}, p)
		for range 10 {
			gdEnd(t, rt, gdGet(t.Context(), gdURL))
		}
		gdTokens(t, p.Budget, 6)
	})
	for _, status := range []int{200, 503} {
		twRun(t, fmt.Sprintf("breaker counts/%d", status), func(t *testing.T) {
			p := gdPolicy()
			p.MaxRetries, p.Breaker = 0, breaker.PerHost(breaker.Config{})
			rt := stack(&gdBase{do: gdStatus(status)}, p)
			for range 3 {
				gdEnd(t, rt, gdGet(t.Context(), gdURL))
			}
			if s := gdStatusOf(t, p.Breaker); s.State != breaker.Closed || s.Known != 3 {
				t.Errorf("%+v: want three results", s)
			}
		})
		twRun(t, fmt.Sprintf("trial/%d", status), func(t *testing.T) {
			p := gdPolicy()
			p.Breaker = breaker.PerHost(breaker.Config{})
			base := &gdBase{do: gdStatus(status)}
			gdCool(p.Breaker)
			resp, err := stack(base, p).RoundTrip(gdGet(t.Context(), gdURL))
			if err != nil || base.sends() != 1 {
				t.Fatalf("%v, %v after %d sends: want the response of the trial", resp, err, base.sends())
			}
			if drink(t, resp); resp.StatusCode != status {
				t.Errorf("status %d", resp.StatusCode)
			}
			gdState(t, p.Breaker, map[int]breaker.State{200: breaker.Closed, 503: breaker.Open}[status])
		})
	}
	twRun(t, "gate", func(t *testing.T) {
		base, p := gdAway(offline.Config{})
		base.up, p.Breaker, p.AttemptTimeout = true, nil, 8*time.Second
		gdLose(p.Offline)
		start := time.Now()
		r := gdEnd(t, stack(base, p), gdGet(context.Background(), gdURL))
		if got := time.Since(start); r.Stop != roundtripper.ReasonOK || len(r.Attempts) != 1 || got > time.Second {
			t.Errorf("stop %q after %v and %d attempts: want the first probe to get through", r.Stop, got, len(r.Attempts))
		}
	})
	twRun(t, "gate closes", func(t *testing.T) {
		base, p := gdAway(offline.Config{})
		p.Breaker, p.Backoff = nil, nil
		time.AfterFunc(time.Minute, func() { base.set(true) })
		r := gdEnd(t, stack(base, p), gdGet(context.Background(), gdURL))
		if got, want := gdCharged(r), []int{1, 2, len(r.Attempts)}; r.Stop != roundtripper.ReasonOK || !slices.Equal(got, want) {
			t.Errorf("stop %q, charged %v, want %v", r.Stop, got, want)
		}
	})
}

// A gate that only the inner layer has waits there: the outer call, which does
// the repeating, sees attempts that were charged and one that takes its time.
func TestOfflineInAnInnerLayer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, inner := gdAway(offline.Config{})
		inner.Breaker = nil
		outer := quick(gdPolicy())
		outer.MaxRetries = 2
		time.AfterFunc(time.Minute, func() { base.set(true) })
		r := gdEnd(t, roundtripper.New(roundtripper.New(base, inner), outer), gdGet(context.Background(), gdURL))
		if len(r.Attempts) != 3 || r.Stop != roundtripper.ReasonOK || r.Elapsed < time.Minute || base.count() < 8 {
			t.Errorf("stop %q after %d attempts, %v and %d sends: want the third to wait", r.Stop, len(r.Attempts), r.Elapsed, base.count())
		}
	})
}

// A layer further inside that fails without an answer is no sign of life for
// the guards further outside, whatever it stopped for.
func TestGuardsOfInnerFailures(t *testing.T) {
	for _, tc := range []struct {
		name string
		want breaker.Outcome
		err  error
		p    func(p *roundtripper.Policy)
	}{
		{"breaker open", breaker.Neutral, errReset, func(p *roundtripper.Policy) {
			p.Breaker = breaker.PerHost(breaker.Config{})
			gdOpen(p.Breaker, nil)
		}},
		{"offline", breaker.Neutral, errReset, func(p *roundtripper.Policy) {
			p.Offline = offline.New(offline.Config{MaxWait: time.Millisecond})
			gdLose(p.Offline)
		}},
		{"invalid", breaker.Neutral, errReset, func(p *roundtripper.Policy) { p.MaxRetries = -1 }},
		{"budget spent", breaker.Failure, errReset, func(p *roundtripper.Policy) { p.Budget = budget.New(budget.Config{Initial: -1}) }},
		{"retries spent", breaker.Failure, errReset, func(p *roundtripper.Policy) { p.MaxRetries = 1 }},
		{"not repeatable", breaker.Failure, errReset, func(p *roundtripper.Policy) { p.Methods = nil }},
		{"breaker opens", breaker.Failure, errReset, func(p *roundtripper.Policy) { p.Breaker = breaker.PerHost(breaker.Config{Consecutive: 1}) }},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			inner := gdPolicy()
			tc.p(&inner)
			outer := roundtripper.Policy{Breaker: breaker.PerHost(breaker.Config{}), Budget: budget.New(budget.Config{Initial: 5})}
			rt := roundtripper.New(roundtripper.New(&gdBase{do: gdError(tc.err)}, inner), outer)
			gdEnd(t, rt, gdGet(t.Context(), gdURL))
			s := gdStatusOf(t, outer.Breaker)
			want := map[breaker.Outcome][2]int{breaker.Neutral: {0, 0}, breaker.Failure: {1, 1}}[tc.want]
			if got := [2]int{s.Known, s.Failures}; got != want {
				t.Errorf("known, failures: %v, want %v", got, want)
			}
			gdTokens(t, outer.Budget, 5)
		})
	}
}

// For any interleaving, at every prefix: retries <= Max + Ratio x successes, and
// so sends <= 1.1 x calls + 10. 32 goroutines make calls that succeed, fail,
// are given up in a wait and in an attempt, are refused and panic.
func TestBudgetBoundHoldsForAnyInterleaving(t *testing.T) {
	for _, failing := range []uint32{95, 50, 10} {
		t.Run(fmt.Sprintf("failing=%d%%", failing), func(t *testing.T) {
			var mu sync.Mutex
			calls, sends, firsts, successes, worst := 0, 0, 0, 0, 0
			base := baseFunc(func(req *http.Request) (*http.Response, error) {
				n, _ := roundtripper.AttemptNumber(req.Context())
				mu.Lock()
				defer mu.Unlock()
				sends++
				if n == 1 {
					firsts++
				}
				worst = max(worst, 10*(sends-firsts)-successes)
				if 10*sends > 11*calls+100 || 10*(sends-firsts) > 100+successes {
					t.Errorf("%d sends, %d of them firsts, for %d calls and %d successes", sends, firsts, calls, successes)
				}
				switch x := rand.Uint32N(100); {
				case x < failing/2:
					return nil, errReset
				case x < failing-1:
					return answer(req, 503, ""), nil
				case x < failing:
					panic("base")
				}
				successes++ // before the budget can hear of it
				return answer(req, 200, ""), nil
			})
			p := gdPolicy()
			p.Backoff = func(int, time.Duration) time.Duration { return time.Duration(rand.Uint32N(2)) * 50 * time.Microsecond }
			p.Budget = budget.New(budget.Config{})
			rt := roundtripper.New(base, p)
			var wg sync.WaitGroup
			for range 32 {
				wg.Go(func() {
					for range 50 {
						mu.Lock()
						calls++
						mu.Unlock()
						ctx, cancel := context.WithCancel(t.Context())
						if rand.Uint32N(4) == 0 {
							time.AfterFunc(time.Duration(rand.Uint32N(100))*time.Microsecond, cancel)
						}
						gdAside(rt, gdGet(ctx, gdURL))
						cancel()
					}
				})
			}
			wg.Wait()
			if failing > 20 && worst < 90 {
				t.Errorf("never more than %d/10 retries above what was earned: the budget was not put to the test", worst)
			}
		})
	}
}

// Nothing of a budget is lost or made: at the end it holds what it had, a tenth
// for each answer, less one for each retry that was sent, whatever became of
// the calls.
func TestBudgetBalance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var earned, retries, others atomic.Int64
		base := baseFunc(func(req *http.Request) (*http.Response, error) {
			if n, _ := roundtripper.AttemptNumber(req.Context()); n > 1 {
				retries.Add(1)
			}
			x := rand.Uint32N(100)
			// Never at the very moment at which a timeout or a caller ends it.
			if err := twSleep(req.Context(), time.Duration(x)*twTick+300*time.Microsecond); err != nil {
				others.Add(1)
				return nil, err
			}
			switch {
			case x < 30:
				return answer(req, []int{429, 502, 503}[x%3], ""), nil
			case x < 40:
				return nil, errReset
			case x < 42:
				panic("base")
			}
			earned.Add(1)
			return answer(req, []int{200, 404}[x%2], ""), nil
		})
		const initial = 1e5
		p := gdPolicy()
		p.AttemptTimeout = 95 * twTick
		p.Backoff = func(int, time.Duration) time.Duration { return time.Duration(rand.Uint32N(100)) * twTick }
		p.Budget = budget.New(budget.Config{Initial: initial, Max: 1e6})
		p.Breaker = breaker.PerHost(breaker.Config{Consecutive: 3, Ratio: 2, Cooldown: 10 * twTick, MaxCooldown: 10 * twTick})
		p.Prepare = func(*http.Request, int) error {
			switch rand.Uint32N(100) {
			case 0:
				return errors.New("no key")
			case 1:
				panic("no key")
			}
			return nil
		}
		rt := roundtripper.New(base, p)
		var wg sync.WaitGroup
		for i := range 50 {
			url := fmt.Sprintf("http://host%d.test/", i%10)
			wg.Go(func() {
				for range 50 {
					time.Sleep(time.Duration(rand.Uint32N(20)) * twTick) // refusals take no time
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(50+rand.Uint32N(500))*twTick)
					if rand.Uint32N(3) == 0 {
						time.AfterFunc(time.Duration(rand.Uint32N(300))*twTick, cancel)
					}
					gdAside(rt, gdGet(ctx, url))
					cancel()
				}
			})
		}
		wg.Wait()
		if retries.Load() < 100 || earned.Load() < 100 || others.Load() < 20 {
			t.Fatalf("%d retries, %d answers, %d given up: too few to tell", retries.Load(), earned.Load(), others.Load())
		}
		want := initial + float64(earned.Load())/10 - float64(retries.Load())
		if got := p.Budget.Tokens(gdHost); math.Abs(got-want) > 1e-6 {
			t.Errorf("%v tokens, want %v", got, want)
		}
	})
}

// gdModel is the breaker by its rules, for one call at a time.
type gdModel struct {
	state    breaker.State
	row      int
	results  []bool // the last 20; true is a failure
	cooldown time.Duration
}

func (m *gdModel) take(o breaker.Outcome) {
	switch {
	case o == breaker.Neutral:
	case m.state == breaker.HalfOpen && o == breaker.Success:
		*m = gdModel{cooldown: 30 * time.Second}
	case m.state == breaker.HalfOpen:
		m.state, m.cooldown = breaker.Open, min(2*m.cooldown, 5*time.Minute)
	default:
		m.row++
		if o == breaker.Success {
			m.row = 0
		}
		m.results = append(m.results, o == breaker.Failure)
		m.results = m.results[max(0, len(m.results)-20):]
		failures := 0
		for _, failed := range m.results {
			if failed {
				failures++
			}
		}
		if o == breaker.Failure && (m.row == 5 || len(m.results) == 20 && failures >= 10) {
			m.state = breaker.Open
		}
	}
}

// Random calls, one after another, against a model of the rules: the same
// state after each, the same refusals, cooldowns in their range.
func TestBreakerFollowsTheModel(t *testing.T) {
	steps := []struct {
		do      func(*http.Request, int) (*http.Response, error)
		outcome breaker.Outcome
	}{
		{gdStatus(200), breaker.Success},
		{gdStatus(404), breaker.Success},
		{gdStatus(500), breaker.Success},
		{gdStatus(503), breaker.Failure},
		{gdStatus(502), breaker.Failure},
		{gdError(errReset), breaker.Failure},
		{gdStatus(429), breaker.Neutral},
		{func(*http.Request, int) (*http.Response, error) { panic("base") }, breaker.Neutral},
	}
	for seed := range uint64(50) {
		twRun(t, fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, seed))
			base := &gdBase{}
			p := roundtripper.Policy{Breaker: breaker.PerHost(breaker.Config{})}
			rt := roundtripper.New(base, p)
			m := gdModel{cooldown: 30 * time.Second}
			var trialAt time.Time
			for i := range 200 {
				pick := random.IntN(len(steps))
				if random.IntN(3) == 0 { // so that there are runs
					pick = 3 + random.IntN(3)
				}
				step := steps[pick]
				base.set(step.do)
				sends := base.sends()
				before := time.Now()
				if m.state == breaker.Open {
					if trialAt.IsZero() {
						left := gdRefused(t, nil, gdErrorOf(rt, gdGet(t.Context(), gdURL))).RetryIn
						if left < m.cooldown || left > m.cooldown*3/2 {
							t.Fatalf("step %d: refused for %v, want %v to %v", i, left, m.cooldown, m.cooldown*3/2)
						}
						trialAt = before.Add(left)
						time.Sleep(time.Duration(random.Int64N(int64(left) * 2)))
					}
					if time.Now().Before(trialAt) {
						gdRefused(t, nil, gdErrorOf(rt, gdGet(t.Context(), gdURL)))
						if base.sends() != sends {
							t.Fatalf("step %d: it let one through %v early", i, time.Until(trialAt))
						}
						time.Sleep(time.Until(trialAt))
					}
					m.state, trialAt = breaker.HalfOpen, time.Time{}
				}
				gdAside(rt, gdGet(t.Context(), gdURL))
				if base.sends() != sends+1 {
					t.Fatalf("step %d: refused while %v", i, m.state)
				}
				m.take(step.outcome)
				if got := p.Breaker.State(gdHost); got != m.state {
					t.Fatalf("step %d, %v: it is %v, want %v", i, step.outcome, got, m.state)
				}
			}
		})
	}
}

// 500 calls for five minutes without a network: never two probes at once, on
// their schedule; on return all leave within Resume, spread over it; two
// attempts are charged for the outage.
func TestOfflineFiveHundredCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, p := gdAway(offline.Config{})
		base.takes = 20 * twTick
		p.AttemptTimeout, p.Backoff = time.Second, nil
		rt := roundtripper.New(base, p)
		var wg sync.WaitGroup
		var mu sync.Mutex
		charged, attempts := 0, 0
		var left []time.Time
		one := func() {
			r := gdEnd(t, rt, gdGet(context.Background(), gdURL))
			mu.Lock()
			defer mu.Unlock()
			if r.Stop != roundtripper.ReasonOK {
				t.Errorf("stop %q", r.Stop)
				return
			}
			charged, attempts = charged+len(gdCharged(r)), attempts+len(r.Attempts)
			left = append(left, r.Attempts[len(r.Attempts)-1].Start)
		}
		wg.Go(one)
		time.Sleep(100 * twTick)
		for range 499 {
			wg.Go(one)
		}
		time.Sleep(5 * time.Minute)
		probes := base.count() - 3
		base.set(true)
		back := time.Now()
		wg.Wait()

		if base.most != 1 || charged != 2+500 || attempts != base.count() {
			t.Errorf("%d probes at once, %d charged, %d attempts of %d sends", base.most, charged, attempts, base.count())
		}
		if probes < 5+8 || probes > 5+20 { // 1, 2, 4, 8, 16 and then 30 s at the longest, half that at the shortest
			t.Errorf("%d probes in five minutes", probes)
		}
		if len(left) != 500 {
			t.Fatalf("%d of 500 calls came through", len(left))
		}
		slices.SortFunc(left, time.Time.Compare)
		first, last := left[0], left[len(left)-1]
		if first.Sub(back) > 30*time.Second+base.takes {
			t.Errorf("the first left %v after the return", first.Sub(back))
		}
		if span := last.Sub(first); span > 2*time.Second+base.takes || span < 1800*twTick {
			t.Errorf("they left over %v, want 2 s", span)
		}
		for i := range 4 { // a quarter of them in each half second, more or less
			from := first.Add(time.Duration(i) * 500 * twTick)
			n := 0
			for _, at := range left {
				if !at.Before(from) && at.Before(from.Add(500*twTick)) {
					n++
				}
			}
			if n < 60 {
				t.Errorf("%d left in the %d. half second", n, i+1)
			}
		}
		gdTokens(t, p.Budget, 10) // 5 - 2 + 50, at most 10
		gdState(t, p.Breaker, breaker.Closed)
	})
}

// Guards cost no goroutine and no timer of their own, however many there are
// (vertx-circuit-breaker#58): else the bubble would not end.
func TestGuardsLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i := range 2000 {
			base, p := gdAway(offline.Config{})
			base.up = i%2 == 0
			p.MaxRetries = 0
			gdEnd(t, roundtripper.New(base, p), gdGet(t.Context(), gdURL))
		}
	})
}

// Every event has a report, whatever happens before the first attempt.
func TestEventsHaveAReport(t *testing.T) {
	twRun(t, "offline", func(t *testing.T) {
		base, p := gdAway(offline.Config{})
		base.up = true
		gdLose(p.Offline)
		gdWatch(t, base, p)
	})
	twRun(t, "held back", func(t *testing.T) {
		p := gdPolicy()
		p.ShareRetryAfter = true
		gdWatch(t, &gdBase{do: func(req *http.Request, n int) (*http.Response, error) {
			return answer(req, map[bool]int{true: 429, false: 200}[n == 1], "", "Retry-After", "9"), nil
		}}, p)
	})
	twRun(t, "refused", func(t *testing.T) {
		p := gdPolicy()
		p.Breaker = breaker.PerHost(breaker.Config{})
		gdOpen(p.Breaker, nil)
		gdWatch(t, &gdBase{}, p)
	})
}

// gdWatch makes two calls, the second in the first's last wait or after it, and
// looks at their events.
func gdWatch(t *testing.T, base http.RoundTripper, p roundtripper.Policy) {
	log := roundtripper.Log(slog.New(slog.NewTextHandler(io.Discard, nil)))
	p.Observe = func(e roundtripper.Event) {
		if e.Report == nil {
			t.Errorf("no report with %q", e.State)
			return
		}
		log(e)
	}
	rt := roundtripper.New(base, p)
	var wg sync.WaitGroup
	wg.Go(func() { gdEnd(t, rt, gdGet(context.Background(), gdURL)) })
	synctest.Wait()
	gdEnd(t, rt, gdGet(context.Background(), gdURL))
	wg.Wait()
}
