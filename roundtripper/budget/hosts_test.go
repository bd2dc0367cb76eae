package budget_test

// Many hosts: kept apart, bounded, and forgotten in the right order.

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/budget"
)

func TestHostsAreKeptApart(t *testing.T) {
	b := budget.New(budget.Config{PerHost: true})
	withdrawAll(b, "down")
	assert.False(t, b.Withdraw("down"))
	assert.True(t, b.Withdraw("up"), "one service's outage takes nothing from another")
	assert.Equal(t, map[string]float64{"down": 0, "up": 9}, b.Snapshot())
}

func TestOneBudgetForAllHosts(t *testing.T) {
	b := budget.New(budget.Config{})
	withdrawAll(b, "down")
	assert.False(t, b.Withdraw("up"))
	assert.Equal(t, map[string]float64{"": 0}, b.Snapshot())
}

// A host that is well leaves no trace: a full bucket is what a new one is.
func TestHealthyHostsAreNotRemembered(t *testing.T) {
	b := budget.New(budget.Config{PerHost: true})
	for i := range 100_000 {
		b.Success(fmt.Sprint("host-", i))
		b.Refund(fmt.Sprint("host-", i))
	}
	assert.Empty(t, b.Snapshot())
}

func TestManyHostsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		config budget.Config
		want   int
	}{
		{budget.Config{PerHost: true}, 1024},
		{budget.Config{PerHost: true, MaxHosts: -1}, 1024},
		{budget.Config{PerHost: true, MaxHosts: 100}, 100},
		{budget.Config{PerHost: true, MaxHosts: 1}, 1},
		{budget.Config{PerHost: true, Initial: 1}, 1024},
	} {
		t.Run(fmt.Sprintf("max=%d", tt.config.MaxHosts), func(t *testing.T) {
			b := budget.New(tt.config)
			for i := range 1500 {
				b.Withdraw(fmt.Sprint("host-", i))
			}
			assert.Len(t, b.Snapshot(), tt.want)
		})
	}
}

// 100,000 hosts that recover don't push out the one that hasn't.
func TestFullHostsGoFirst(t *testing.T) {
	b := budget.New(budget.Config{PerHost: true, MaxHosts: 8})
	withdrawAll(b, "down")
	for i := range 100_000 {
		host := fmt.Sprint("host-", i)
		b.Withdraw(host)
		b.Refund(host)
	}
	assert.False(t, b.Withdraw("down"))
	assert.Len(t, b.Snapshot(), 8)
}

func TestForgettingOrder(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config budget.Config
		before func(b *budget.Budget)
		want   map[string]float64 // after host "new" has taken a token
	}{
		{
			"the full one, though it changed last",
			budget.Config{},
			func(b *budget.Budget) { b.Withdraw("a"); b.Withdraw("b"); b.Refund("b") },
			map[string]float64{"a": 9, "new": 9},
		},
		{
			"none is full: the one that asked longest ago",
			budget.Config{},
			func(b *budget.Budget) { b.Withdraw("a"); b.Withdraw("b"); b.Withdraw("a") },
			map[string]float64{"a": 8, "new": 9},
		},
		{
			"to be refused is to ask",
			budget.Config{Max: 1},
			func(b *budget.Budget) { b.Withdraw("a"); b.Withdraw("b"); b.Withdraw("a") },
			map[string]float64{"a": 0, "new": 0},
		},
		{
			"with a low start, one that has no less goes",
			budget.Config{Initial: 1},
			func(b *budget.Budget) { b.Withdraw("a"); b.Success("b") },
			map[string]float64{"a": 0, "new": 0},
		},
		{
			"with a low start, none has as much: the one that asked longest ago",
			budget.Config{Initial: 1},
			func(b *budget.Budget) { b.Withdraw("a"); b.Withdraw("b"); b.Success("a"); b.Withdraw("a") },
			map[string]float64{"a": 0.1, "new": 0},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.PerHost, tt.config.MaxHosts = true, 2
			b := budget.New(tt.config)
			tt.before(b)
			assert.True(t, b.Withdraw("new"))
			assert.Equal(t, tt.want, b.Snapshot())
		})
	}
}

// A token that was taken before its host was forgotten may be given back
// after it.
func TestRefundAfterForgetting(t *testing.T) {
	for _, tt := range []struct {
		initial, want float64
	}{
		{0, 10},
		{1, 2},
	} {
		b := budget.New(budget.Config{PerHost: true, MaxHosts: 1, Initial: tt.initial})
		b.Withdraw("a")
		b.Withdraw("b")
		b.Refund("a")
		assert.Equal(t, tt.want, b.Tokens("a"))
	}
}

// While hosts come and go on all sides, the one that is down never gets more
// than it is owed: there is always a full one to forget instead.
func TestChurnEarnsNothing(t *testing.T) {
	const goroutines = 8
	b := budget.New(budget.Config{PerHost: true, MaxHosts: goroutines + 2})
	withdrawAll(b, "down")
	var wg sync.WaitGroup
	granted := make([]int, goroutines)
	for i := range goroutines {
		wg.Go(func() {
			for n := range 2000 {
				host := fmt.Sprint("host-", i, "-", n%50)
				if b.Withdraw(host) {
					b.Refund(host)
				}
				granted[i] += withdrawAll(b, "down")
			}
		})
	}
	wg.Wait()
	assert.Equal(t, make([]int, goroutines), granted)
	assert.Len(t, b.Snapshot(), goroutines+2)
}
