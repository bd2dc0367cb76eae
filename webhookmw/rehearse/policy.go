package rehearse

// How often and how soon: the schedule of a delivery.

import (
	"net/http"
	"time"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
)

// Policy is the schedule of a delivery: at most three attempts of two seconds each, the response body included, with
// 25 ms after the first failure and 50 ms after the second, so that a delivery takes 6.075 s at the longest.
//
// Repeated are failures of the network, timeouts, and answers of 408, 409, 425, 429 and 500 to 599; everything else is
// final. There is no jitter, and neither a Retry-After nor a body that stalls changes anything: the delays are small on
// purpose and always the same, so that a rehearsal takes no time and a test can count on them. That is no schedule for
// production, where a receiver should be left alone for minutes and hours.
//
// POST is repeated as it is. What makes that safe is the receiver, which knows a delivery by its ID; there is no
// Idempotency-Key header, since net/http would take one as leave to send a request twice by itself.
func Policy() roundtripper.Policy {
	statuses := []int{
		http.StatusRequestTimeout,
		http.StatusConflict,
		http.StatusTooEarly,
		http.StatusTooManyRequests,
	}
	for status := 500; status <= 599; status++ {
		statuses = append(statuses, status)
	}
	return roundtripper.Policy{
		AttemptTimeout: 2 * time.Second,
		MaxRetries:     2,
		Statuses:       statuses,
		Methods:        []string{http.MethodPost},
		Backoff:        backoff.Schedule(25*time.Millisecond, 50*time.Millisecond),
		MaxDelay:       50 * time.Millisecond,
		RetryAfter:     roundtripper.IgnoreRetryAfter,
	}
}
