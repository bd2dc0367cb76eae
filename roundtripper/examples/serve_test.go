package examples_test

// This file holds what the examples share: a server that answers as it is told.

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
)

// serve answers each path with its statuses, one after the other and then the last for ever, and with the same body; and
// it tells what came and what it answered.
func serve(body string, statuses map[string][]int) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		left := statuses[r.URL.Path]
		if len(left) > 1 {
			statuses[r.URL.Path] = left[1:]
		}
		fmt.Println("server:", r.Method, r.URL.Path, left[0])
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(left[0])
		fmt.Fprint(w, body)
	}))
}

// now is Standard without waits, so that the examples run at once.
func now() roundtripper.Policy {
	p := roundtripper.Standard()
	p.Backoff = backoff.None()
	return p
}
