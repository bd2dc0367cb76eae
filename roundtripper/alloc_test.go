//go:build !race

package roundtripper_test

import (
	"net/http"
	"testing"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
)

// instant answers at once, without sockets and without a body.
type instant struct{}

func (instant) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

// What a call that succeeds at once allocates, the base's one response
// included. The race detector makes pools forget at random, so this is not for
// it.
func TestAllocations(t *testing.T) {
	guarded := roundtripper.Standard()
	guarded.Breaker, guarded.Budget = breaker.PerHost(breaker.Config{}), budget.New(budget.Config{})
	req, _ := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	for name, tc := range map[string]struct {
		policy roundtripper.Policy
		most   float64
	}{
		"zero":     {roundtripper.Policy{}, 1},   // nothing; one more where there is a body to put a mark on
		"Standard": {roundtripper.Standard(), 2}, // and the call
		"Transfer": {roundtripper.Transfer(), 2}, // likewise
		"Headless": {roundtripper.Headless(), 5}, // and the request ID, and a header map for it: two more
		"guarded":  {guarded, 6},                 // and the guards, and the name of the host: three more
	} {
		rt := roundtripper.New(instant{}, tc.policy)
		got := testing.AllocsPerRun(100, func() {
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		})
		if got > tc.most {
			t.Errorf("%s: %v allocations, want at most %v", name, got, tc.most)
		}
	}
}
