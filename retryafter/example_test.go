package retryafter_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/rebound-go/rebound/retryafter"
)

func ExampleParse() {
	now := time.Date(1994, time.November, 6, 8, 49, 30, 0, time.UTC)
	for _, value := range []string{
		"120",
		"1.5",
		"Sun, 06 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08:00:00 GMT", // has passed
		"99999999999999999999",          // does not fit
		"soon",
	} {
		fmt.Println(retryafter.Parse(value, now))
	}
	// Output:
	// 2m0s true
	// 1.5s true
	// 7s true
	// 0s true
	// 2562047h47m16.854775807s true
	// 0s false
}

// Reading the number by hand is where clients go wrong: a value that a server
// chose turns into a negative delay, and the retry into a hot loop.
func ExampleParse_overflow() {
	const value = "9223372037"

	seconds, _ := strconv.Atoi(value)
	wrong := time.Duration(seconds) * time.Second
	right, _ := retryafter.Parse(value, time.Now())

	fmt.Println(wrong < 0, right < 0)
	// Output: true false
}

func ExampleFromResponse() {
	// Far off the clock of the server, and yet the delay is right.
	now := time.Date(2038, time.January, 19, 3, 14, 7, 0, time.UTC)
	resp := &http.Response{
		StatusCode: http.StatusServiceUnavailable,
		Header: http.Header{
			"Date":        {"Sun, 06 Nov 1994 08:49:30 GMT"},
			"Retry-After": {"Sun, 06 Nov 1994 08:49:37 GMT"},
		},
	}

	const longest = time.Minute // that we are willing to wait
	delay, ok := retryafter.FromResponse(resp, now)
	switch {
	case !ok:
		fmt.Println("back off as usual")
	case delay > longest:
		fmt.Println("give up")
	default:
		fmt.Println("wait for", delay)
	}
	// Output: wait for 7s
}

func ExampleFormat() {
	free := 1200 * time.Millisecond // until the next request is allowed

	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", retryafter.Format(free))
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	}

	w := httptest.NewRecorder()
	handler(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Code, w.Header().Get("Retry-After"))
	// Output: 429 2
}
