package budget_test

// What one budget allows: figures, configurations, and the bound itself.

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/budget"
)

// withdrawAll takes tokens until there are none, and counts them.
func withdrawAll(b *budget.Budget, host string) (n int) {
	for b.Withdraw(host) {
		n++
	}
	return n
}

func succeed(b *budget.Budget, host string, times int) {
	for range times {
		b.Success(host)
	}
}

// Fractions of a token add up exactly: float sums of 0.1 don't reach 1.
func TestSuccessesBuyRetries(t *testing.T) {
	for _, tt := range []struct {
		ratio           float64
		successes, want int
	}{
		{0.1, 9, 0},
		{0.1, 10, 1},
		{0.1, 19, 1},
		{0.1, 20, 2},
		{0.6, 1, 0},
		{0.6, 10, 6},
		{0.003, 333, 0},
		{0.003, 334, 1},
		{0.003, 1000, 3},
		{0.0005, 1000, 1}, // rounded to 0.001
		{0.0004, 9000, 0}, // rounded to nothing
		{1, 7, 7},
		{2.5, 2, 5},
		{0, 10, 1}, // 0.1 by default
	} {
		t.Run(fmt.Sprintf("ratio=%v/successes=%d", tt.ratio, tt.successes), func(t *testing.T) {
			b := budget.New(budget.Config{Ratio: tt.ratio})
			if got := withdrawAll(b, "h"); got != 10 {
				t.Fatalf("started with %d, want 10", got)
			}
			succeed(b, "h", tt.successes)
			if got := withdrawAll(b, "h"); got != tt.want {
				t.Errorf("%d successes bought %d retries, want %d", tt.successes, got, tt.want)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	const most = 1e12
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		name       string
		config     budget.Config
		start      float64 // tokens at first
		afterOne   float64 // and after one was taken, if one could be, and one success
		afterMany  float64 // and after 1,000 more
		retryFirst bool
	}{
		{"zero", budget.Config{}, 10, 9.1, 10, true},
		{"max", budget.Config{Max: 2}, 2, 1.1, 2, true},
		{"max is rounded", budget.Config{Max: 1.2346}, 1.235, 0.335, 1.235, true},
		{"max below a token", budget.Config{Max: 0.9}, 0.9, 0.9, 0.9, false},
		{"negative max", budget.Config{Max: -1}, 0, 0, 0, false},
		{"NaN max", budget.Config{Max: nan}, 0, 0, 0, false},
		{"infinite max", budget.Config{Max: inf}, most, most - 0.9, most, true},
		{"negative infinite max", budget.Config{Max: -inf}, 0, 0, 0, false},
		{"initial", budget.Config{Initial: 1}, 1, 0.1, 10, true},
		{"initial above max", budget.Config{Max: 3, Initial: 4}, 3, 2.1, 3, true},
		{"negative initial", budget.Config{Initial: -1}, 0, 0.1, 10, false},
		{"NaN initial", budget.Config{Initial: nan}, 0, 0.1, 10, false},
		{"infinite initial", budget.Config{Initial: inf}, 10, 9.1, 10, true},
		{"negative ratio", budget.Config{Ratio: -1}, 10, 9, 9, true},
		{"NaN ratio", budget.Config{Ratio: nan}, 10, 9, 9, true},
		{"infinite ratio", budget.Config{Ratio: inf}, 10, 10, 10, true},
		{"everything infinite", budget.Config{Ratio: inf, Max: inf, Initial: inf}, most, most, most, true},
	} {
		for _, perHost := range []bool{false, true} {
			tt.config.PerHost = perHost
			t.Run(fmt.Sprintf("%s/perHost=%t", tt.name, perHost), func(t *testing.T) {
				b := budget.New(tt.config)
				assert.Equal(t, tt.start, b.Tokens("h"), "at first")
				assert.Equal(t, tt.retryFirst, b.Withdraw("h"))
				b.Success("h")
				assert.Equal(t, tt.afterOne, b.Tokens("h"), "after one")
				succeed(b, "h", 1000)
				assert.Equal(t, tt.afterMany, b.Tokens("h"), "after many")
			})
		}
	}
}

func TestZeroBudgetAllowsNothing(t *testing.T) {
	var b budget.Budget
	b.Success("h")
	b.Refund("h")
	assert.False(t, b.Withdraw("h"))
}

func TestRefund(t *testing.T) {
	b := budget.New(budget.Config{Max: 2})
	assert.True(t, b.Withdraw("h"))
	assert.Equal(t, 1.0, b.Tokens("h"))
	b.Refund("h")
	assert.Equal(t, 2.0, b.Tokens("h"))
	b.Refund("h")
	assert.Equal(t, 2.0, b.Tokens("h"), "a refund never exceeds Max")
}

// A budget that ran dry in an outage comes back with the service.
func TestComesBack(t *testing.T) {
	b := budget.New(budget.Config{})
	withdrawAll(b, "h")
	assert.False(t, b.Withdraw("h"))
	succeed(b, "h", 10)
	assert.True(t, b.Withdraw("h"))
	assert.False(t, b.Withdraw("h"))
	succeed(b, "h", 1000)
	assert.Equal(t, 10.0, b.Tokens("h"))
}

// In a total outage, 10,000 calls that would each retry three times make
// 10,010 sends.
func TestOutage(t *testing.T) {
	b := budget.New(budget.Config{})
	sends := 0
	for range 10_000 {
		sends++
		for range 3 {
			if !b.Withdraw("h") {
				break
			}
			sends++
		}
	}
	assert.Equal(t, 10_010, sends)
}

// step is one operation, at its place in an order that all goroutines agree on.
type step struct {
	at                 int64
	retries, successes int
}

// The bound holds at every prefix, for any interleaving. The order is made of
// tickets: a success and a refund draw theirs before they happen, a withdrawal
// after it happened. So a prefix never has a retry whose token isn't yet
// accounted for, whatever the scheduler does.
func TestBoundHoldsForAnyInterleaving(t *testing.T) {
	for _, tt := range []struct {
		name       string
		config     budget.Config
		max, ratio float64
	}{
		{"defaults", budget.Config{}, 10, 0.1},
		{"small", budget.Config{Max: 1, Ratio: 0.003}, 1, 0.003},
		{"generous", budget.Config{Max: 5, Ratio: 0.6}, 5, 0.6},
		{"starts low", budget.Config{Initial: 1}, 10, 0.1},
		{"per host", budget.Config{PerHost: true, Max: 3}, 3, 0.1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := budget.New(tt.config)
			var tickets atomic.Int64
			var wg sync.WaitGroup
			parts := make([][]step, 16)
			for i := range parts {
				wg.Go(func() { parts[i] = work(b, &tickets, 2000) })
			}
			wg.Wait()

			steps := slices.Concat(parts...)
			slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
			retries, successes := 0, 0
			for i, s := range steps {
				retries += s.retries
				successes += s.successes
				if bound := tt.max + tt.ratio*float64(successes) + 1e-9; float64(retries) > bound {
					t.Fatalf("after %d of %d steps: %d retries, bound is %.3f", i+1, len(steps), retries, bound)
				}
			}
			if retries == 0 || successes == 0 {
				t.Fatalf("%d retries and %d successes prove nothing", retries, successes)
			}
		})
	}
}

func work(b *budget.Budget, tickets *atomic.Int64, n int) (steps []step) {
	owed := 0 // tokens taken that may yet be given back
	for range n {
		switch rand.IntN(3) {
		case 0:
			at := tickets.Add(1)
			b.Success("h")
			steps = append(steps, step{at: at, successes: 1})
		case 1:
			if b.Withdraw("h") {
				steps = append(steps, step{at: tickets.Add(1), retries: 1})
				owed++
			}
		case 2:
			if owed > 0 {
				at := tickets.Add(1)
				b.Refund("h")
				steps = append(steps, step{at: at, retries: -1})
				owed--
			}
		}
	}
	return steps
}

// The budget agrees, step by step, with one written in the plainest way. The
// amounts are thousandths.
func FuzzBudget(f *testing.F) {
	f.Add(uint16(100), uint16(10_000), uint16(10_000), []byte("wwwwwwwwwwwwssssssssssw"))
	f.Add(uint16(3), uint16(1000), uint16(1), []byte("wswrsw"))
	f.Add(uint16(600), uint16(999), uint16(2000), []byte("swrswr"))
	f.Fuzz(func(t *testing.T, ratio, most, initial uint16, ops []byte) {
		ratio, most, initial = max(ratio, 1), max(most, 1), max(initial, 1) // 0 has a meaning of its own
		config := budget.Config{Ratio: float64(ratio) / 1000, Max: float64(most) / 1000, Initial: float64(initial) / 1000}
		one := budget.New(config)
		config.PerHost = true
		perHost := budget.New(config)

		limit := int(most)
		want := min(int(initial), limit)
		for i, op := range ops {
			wantOK := false
			switch op {
			case 's':
				one.Success("h")
				perHost.Success("h")
				want = min(want+int(ratio), limit)
			case 'r':
				one.Refund("h")
				perHost.Refund("h")
				want = min(want+1000, limit)
			case 'w':
				if wantOK = want >= 1000; wantOK {
					want -= 1000
				}
				for _, b := range []*budget.Budget{one, perHost} {
					if got := b.Withdraw("h"); got != wantOK {
						t.Fatalf("step %d: Withdraw = %t, want %t", i, got, wantOK)
					}
				}
			}
			for _, b := range []*budget.Budget{one, perHost} {
				if got := b.Tokens("h"); got != float64(want)/1000 {
					t.Fatalf("step %d: %v tokens, want %v", i, got, float64(want)/1000)
				}
			}
		}
	})
}
