package main

// Layers: services that call each other, each of which retries.

import (
	"context"
	"fmt"
	"net/http"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/budget"
)

// layers is a chain of services, each with a [roundtripper.Transport] of its own, above one that is down. Nothing is
// simulated but the network.
type layers struct {
	depth    int
	attempts int
	budgets  bool // each has a budget, with the defaults
	together bool // all in one program, where they see each other
}

// clicks sends so many requests in at the top and returns how many arrive at the bottom.
func (l layers) clicks(n int) (arrived int, err error) {
	var next http.RoundTripper = baseFunc(func(req *http.Request) (*http.Response, error) {
		arrived++
		return unavailable(req), nil
	})
	for range l.depth {
		p := roundtripper.Policy{
			MaxRetries: l.attempts - 1,
			Methods:    []string{http.MethodGet},
			Statuses:   []int{http.StatusServiceUnavailable},
		}
		if l.budgets {
			p.Budget = budget.New(budget.Config{})
		}
		if !l.together {
			next = remote(next)
		}
		next = roundtripper.New(next, p)
	}
	for range n {
		req, err := http.NewRequest(http.MethodGet, "http://bottom.example/", nil)
		if err != nil {
			return arrived, err
		}
		resp, err := next.RoundTrip(req)
		if err != nil {
			return arrived, err
		}
		resp.Body.Close()
	}
	return arrived, nil
}

// baseFunc is a base transport made of a function.
type baseFunc func(*http.Request) (*http.Response, error)

func (f baseFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func unavailable(req *http.Request) *http.Response {
	const status = http.StatusServiceUnavailable
	return &http.Response{
		Status:     fmt.Sprint(status, " ", http.StatusText(status)),
		StatusCode: status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{},
		Body:    http.NoBody,
		Request: req,
	}
}

// remote leads to another process. A request arrives there without the context of the one who sent it, and of the
// service's failure only the status comes back.
func remote(next http.RoundTripper) http.RoundTripper {
	return baseFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req.WithContext(context.Background()))
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		return unavailable(req), nil
	})
}

func layersTable() (*table, error) {
	t := &table{
		title: "Layers: what one click becomes",
		text: `
Services in a row, each behind a Transport of package roundtripper, above one that is down: requests that arrive there.
Nothing is simulated but the network.`,
	}
	t.row("layers", "attempts in each", "", "1 click", "1,000 clicks")
	for _, row := range []struct {
		remark string
		layers
	}{
		{"", layers{depth: 1, attempts: 3}},
		{"", layers{depth: 3, attempts: 2}},
		{"", layers{depth: 3, attempts: 3}},
		{"", layers{depth: 3, attempts: 4}},
		{"a budget in each", layers{depth: 3, attempts: 3, budgets: true}},
		{"in one program", layers{depth: 3, attempts: 3, together: true}},
	} {
		one, err := row.clicks(1)
		if err != nil {
			return nil, err
		}
		thousand, err := row.clicks(1000)
		if err != nil {
			return nil, err
		}
		t.row(fmt.Sprint(row.depth), fmt.Sprint(row.attempts), row.remark, fmt.Sprint(one), fmt.Sprint(thousand))
	}
	return t, nil
}
