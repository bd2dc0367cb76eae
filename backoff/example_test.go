package backoff_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rebound-go/rebound/backoff"
)

// show prints the delays before the first n retries.
func show(strategy backoff.Strategy, n int) {
	var prev time.Duration
	for retry := range n {
		prev = strategy(retry, prev)
		fmt.Print(prev, " ")
	}
	fmt.Println()
}

func ExampleNone() {
	show(backoff.None(), 3)
	// Output: 0s 0s 0s
}

func ExampleConstant() {
	show(backoff.Constant(time.Second), 3)
	// Output: 1s 1s 1s
}

func ExampleSchedule() {
	show(backoff.Schedule(25*time.Millisecond, 50*time.Millisecond), 4)
	// Output: 25ms 50ms 50ms 50ms
}

func ExampleExponential() {
	show(backoff.Exponential(500*time.Millisecond, 8*time.Second), 6)
	// Output: 500ms 1s 2s 4s 8s 8s
}

// A shift with a check of the result afterwards looks right, and is for the first
// 35 retries. Then it does not wait at all.
func ExampleExponential_shift() {
	const limit = 8 * time.Second
	base := 500 * time.Millisecond
	right := backoff.Exponential(base, limit)
	for _, retry := range []int{34, 35, 56} {
		wrong := min(limit, base<<retry)
		fmt.Println(retry, wrong <= 0, right(retry, 0))
	}
	// Output:
	// 34 false 8s
	// 35 true 8s
	// 56 true 8s
}

func ExampleFullJitter() {
	strategy := backoff.FullJitter(backoff.Exponential(500*time.Millisecond, 8*time.Second))
	d := strategy(2, 0) // before the third retry
	fmt.Println(0 <= d && d <= 2*time.Second)
	// Output: true
}

func ExampleEqualJitter() {
	strategy := backoff.EqualJitter(backoff.Exponential(500*time.Millisecond, 8*time.Second))
	d := strategy(2, 0)
	fmt.Println(time.Second <= d && d <= 2*time.Second)
	// Output: true
}

func ExampleDecorrelated() {
	strategy := backoff.Decorrelated(500*time.Millisecond, 8*time.Second)
	first := strategy(0, 0)
	second := strategy(1, first) // it needs to know the wait before
	fmt.Println(500*time.Millisecond <= first && first <= 1500*time.Millisecond)
	fmt.Println(500*time.Millisecond <= second && second <= 3*first)
	// Output:
	// true
	// true
}

func ExampleSleep() {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the user has left"))
	fmt.Println(backoff.Sleep(ctx, time.Hour))
	// Output: the user has left
}

// The loop that a strategy is made for.
func ExampleStrategy() {
	attempt := func(number int) error {
		if number < 3 {
			return errors.New("unavailable")
		}
		return nil
	}

	call := func(ctx context.Context, maxRetries int, strategy backoff.Strategy) error {
		var prev time.Duration
		for retry := 0; ; retry++ {
			err := attempt(retry + 1)
			fmt.Println("attempt", retry+1, err)
			if err == nil || retry == maxRetries {
				return err
			}
			prev = strategy(retry, prev)
			if err := backoff.Sleep(ctx, prev); err != nil {
				return err
			}
		}
	}

	err := call(context.Background(), 5, backoff.FullJitter(backoff.Exponential(time.Millisecond, 10*time.Millisecond)))
	fmt.Println(err)
	// Output:
	// attempt 1 unavailable
	// attempt 2 unavailable
	// attempt 3 <nil>
	// <nil>
}
