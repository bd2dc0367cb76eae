package main

// Budgets: what it costs to retry, and what it saves.

import (
	"fmt"
	"math/rand/v2"

	"github.com/rebound-go/rebound/roundtripper/budget"
)

// payer decides on retries: it is told of each success, and asked after each failure whether there may be a retry. more
// is false if there would be none anyway, because the attempts are used up.
type payer interface {
	succeeded()
	failed(more bool) (retry bool)
}

// free is no budget at all.
type free struct{}

func (free) succeeded()            {}
func (free) failed(more bool) bool { return more }

// tokens is a budget as package budget has it: a retry costs a token.
type tokens struct{ *budget.Budget }

func newTokens(c budget.Config) payer { return tokens{budget.New(c)} }

func (t tokens) succeeded()            { t.Success("") }
func (t tokens) failed(more bool) bool { return more && t.Withdraw("") }

// throttle is a budget by the rule of gRPC (proposal A6, retry throttling): every failure costs a token, whether there is
// a retry or not, and there is one only while more than half of them are left.
type throttle struct{ have, most, ratio float64 }

func newThrottle() payer { return &throttle{10, 10, 0.1} }

func (t *throttle) succeeded() { t.have = min(t.have+t.ratio, t.most) }

func (t *throttle) failed(more bool) bool {
	t.have = max(t.have-1, 0)
	return more && t.have > t.most/2
}

// traffic is what became of many calls, one after the other, that share a budget.
type traffic struct {
	calls, sends, failures int
	excess                 float64 // the most by which sends ever exceeded 1.1 times the calls
}

// send makes calls of up to so many attempts each; an attempt succeeds with that probability.
func send(calls int, success float64, attempts int, p payer) traffic {
	t := traffic{calls: calls}
	for call := 1; call <= calls; call++ {
		for attempt := 1; ; attempt++ {
			t.sends++
			t.excess = max(t.excess, float64(t.sends)-1.1*float64(call))
			if rand.Float64() < success {
				p.succeeded()
				break
			}
			if !p.failed(attempt < attempts) {
				t.failures++
				break
			}
		}
	}
	return t
}

// perCall is how many attempts a call made.
func (t traffic) perCall() float64 { return float64(t.sends) / float64(t.calls) }

// failed is the share of calls that failed.
func (t traffic) failed() float64 { return float64(t.failures) / float64(t.calls) }

func budgetTable() *table {
	const calls = 100_000
	t := &table{
		title: "Budgets: attempts per call",
		text: `
100,000 calls, one after the other, up to 4 attempts each, one budget: package budget itself, or gRPC's rule. In brackets
the share of calls that failed. Excess: the most by which attempts ever exceeded 1.1 times the calls; with package budget
it can't be more than 10.`,
	}
	t.row("attempts that succeed", "no budget", "package budget", "gRPC's rule", "no retries", "excess with package budget")
	for _, success := range []float64{0, 0.5, 0.8, 0.9, 0.95, 0.99} {
		all := []traffic{
			send(calls, success, 4, free{}),
			send(calls, success, 4, standardTokens()),
			send(calls, success, 4, newThrottle()),
			send(calls, success, 1, free{}),
		}
		row := []string{fmt.Sprintf("%.0f %%", 100*success)}
		for _, one := range all {
			row = append(row, fmt.Sprintf("%.4f (%.4f)", one.perCall(), one.failed()))
		}
		t.row(append(row, fmt.Sprintf("%+.1f", all[1].excess))...)
	}
	return t
}
