package roundtripper_test

// This file tests what a crowd of calls does together: a thousand that failed
// at the same moment, and a server that comes back. The module backoff/lab
// simulates the same crowd many times over; the ranges here are from there.

import (
	"math"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
)

// herdServer is down for 3 s and serves 100 requests in each 100 ms from then
// on. It refuses the others with 503, and takes 50 ms for either.
type herdServer struct {
	start time.Time

	mu      sync.Mutex
	served  map[time.Duration]int // by slot
	retries map[time.Duration]int
	sends   int
	last    time.Duration // when the last request that was served came
}

const (
	herdClients = 1000
	herdOutage  = 3 * time.Second
	herdAnswer  = 50 * time.Millisecond
	herdSlot    = 100 * time.Millisecond
	herdServes  = 100
)

func (s *herdServer) RoundTrip(req *http.Request) (*http.Response, error) {
	status := s.take(req)
	time.Sleep(herdAnswer)
	return answer(req, status, ""), nil
}

func (s *herdServer) take(req *http.Request) (status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Since(s.start)
	slot := now / herdSlot
	s.sends++
	if n, _ := roundtripper.AttemptNumber(req.Context()); n > 1 {
		s.retries[slot]++
	}
	if now < herdOutage || s.served[slot] == herdServes {
		return 503
	}
	s.served[slot]++
	s.last = now
	return 200
}

// busiest is the most retries that came in one slot.
func (s *herdServer) busiest() int {
	most := 0
	for _, n := range s.retries {
		most = max(most, n)
	}
	return most
}

// herdRun sends the crowd off, and returns when every call got its 200.
func herdRun(t *testing.T, wait backoff.Strategy) *herdServer {
	s := &herdServer{start: time.Now(), served: map[time.Duration]int{}, retries: map[time.Duration]int{}}
	tr := roundtripper.New(s, roundtripper.Policy{
		MaxRetries: math.MaxInt,
		Methods:    []string{"GET"},
		Statuses:   []int{503},
		Backoff:    wait,
		MaxDelay:   8 * time.Second,
	})
	var calls sync.WaitGroup
	for range herdClients {
		calls.Go(func() {
			resp, err := tr.RoundTrip(newRequest(t, "GET", "http://example.com/", nil))
			if err != nil || resp.StatusCode != 200 {
				t.Errorf("%v, %v", resp, err)
				return
			}
			resp.Body.Close()
		})
	}
	calls.Wait()
	return s
}

// Without jitter the waves stay whole and each is served a tenth; with jitter
// all are through within seconds. None is better than the others in everything.
func TestHerd(t *testing.T) {
	exponential := backoff.Exponential(500*time.Millisecond, 8*time.Second)
	exact := func(d time.Duration) [2]time.Duration { return [2]time.Duration{d, d} }
	within := func(from, to float64) [2]time.Duration {
		return [2]time.Duration{time.Duration(from * 1e9), time.Duration(to * 1e9)}
	}
	busiest := map[string]int{}
	for _, tc := range []struct {
		name           string
		wait           backoff.Strategy
		busiest, sends [2]int
		last           [2]time.Duration
	}{
		// The waves come at 0, 0.55, 1.6, 3.65, 7.85, 15.9 s and every 8.05 s from
		// then on; the fourth is the first that is served.
		{"none", exponential, [2]int{1000, 1000}, [2]int{8500, 8500}, exact(72100 * time.Millisecond)},
		// The last failure is known at 3.05 s, and no wait is longer than 8 s.
		{"full", backoff.FullJitter(exponential), [2]int{225, 340}, [2]int{5150, 5340}, within(10.2, 11.05)},
		{"equal", backoff.EqualJitter(exponential), [2]int{365, 470}, [2]int{4640, 4810}, within(6.8, 7.25)},
		{"decorrelated", backoff.Decorrelated(500*time.Millisecond, 8*time.Second),
			[2]int{100, 175}, [2]int{3640, 3870}, within(7.5, 9.9)},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			s := herdRun(t, tc.wait)
			busiest[tc.name] = s.busiest()
			if got := s.busiest(); got < tc.busiest[0] || got > tc.busiest[1] {
				t.Errorf("busiest slot: %d retries, want %v", got, tc.busiest)
			}
			if s.sends < tc.sends[0] || s.sends > tc.sends[1] {
				t.Errorf("%d requests sent, want %v", s.sends, tc.sends)
			}
			if s.last < tc.last[0] || s.last > tc.last[1] {
				t.Errorf("the last call was through at %v, want %v", s.last, tc.last)
			}
		})
	}
	if !(busiest["none"] > 2*busiest["equal"] && busiest["equal"] > busiest["full"] && busiest["full"] > busiest["decorrelated"]) {
		t.Errorf("busiest slots %v: want none far above equal above full above decorrelated", busiest)
	}
}
