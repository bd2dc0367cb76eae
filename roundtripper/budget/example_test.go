package budget_test

import (
	"fmt"

	"github.com/rebound-go/rebound/roundtripper/budget"
)

// In an outage every call fails and would retry three times. The budget lets
// ten of those retries through, whatever the number of calls.
func ExampleNew() {
	b := budget.New(budget.Config{})
	sends := 0
	for range 1000 {
		sends++ // the first attempt, which fails
		for range 3 {
			if !b.Withdraw("api.example.com") {
				break // return the failure there is, without a wait
			}
			sends++
		}
	}
	fmt.Println(sends, "sends for 1000 calls")
	// Output: 1010 sends for 1000 calls
}

func ExampleBudget_Success() {
	b := budget.New(budget.Config{Max: 1})
	fmt.Println("retry:", b.Withdraw("api.example.com"))
	fmt.Println("retry:", b.Withdraw("api.example.com"))
	for range 10 {
		b.Success("api.example.com")
	}
	fmt.Println("retry:", b.Withdraw("api.example.com"))
	// Output:
	// retry: true
	// retry: false
	// retry: true
}

// The common mistake: a token is taken for a retry that is then not sent,
// since the call ended during the wait. Calls that are given up would drain
// the budget.
func ExampleBudget_Refund() {
	b := budget.New(budget.Config{})
	if b.Withdraw("api.example.com") {
		gaveUp := true // during the wait
		if gaveUp {
			b.Refund("api.example.com")
		}
	}
	fmt.Println(b.Tokens("api.example.com"))
	// Output: 10
}

// Each service has its own tokens, so that a dead one doesn't use up those of
// a healthy one.
func ExampleConfig_perHost() {
	b := budget.New(budget.Config{PerHost: true, Max: 2})
	for b.Withdraw("down.example.com") {
	}
	b.Withdraw("up.example.com")
	fmt.Println(b.Snapshot())
	// Output: map[down.example.com:0 up.example.com:1]
}
