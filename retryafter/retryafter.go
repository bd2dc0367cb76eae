package retryafter

// The header as a whole: which kind of value it holds, which of several lines
// counts, which clock a date is measured against, and how it is written.

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// maxDelay stands for every delay that is too long for a [time.Duration].
const maxDelay time.Duration = math.MaxInt64

// Parse reads one value of a Retry-After header and returns the time to wait
// from now on. The delay is never negative, and ok is false exactly when value
// cannot be read, or is blank.
//
// A number is a count of seconds, as JavaScript's Number reads one, rounded to
// the nearest millisecond with halves rounded up; a negative or infinite one is
// refused, and "-0" is 0. A date has one of the three forms of RFC 9110 section
// 5.6.7, case included; the delay is what is left until then, exactly, and 0
// for a date that has passed. A delay too long for a [time.Duration] becomes
// the longest one, some 292 years. White space around the value, as JavaScript
// defines it, does not count.
//
// A year of two digits is the latest one that ends in them and puts the date no
// more than 50 years after now. A day name must be the name of a day, but need
// not be the right one: recipients are meant to be lenient, and the rest of the
// date is unambiguous. The leap second 23:59:60 is the midnight after it.
func Parse(value string, now time.Time) (delay time.Duration, ok bool) {
	value = trim(value)
	if value == "" {
		return 0, false
	}
	if delay, ok = wholeSeconds(value); ok {
		return delay, true
	}
	// A number that begins with a letter could only be Infinity or NaN.
	if c := value[0] | 0x20; 'a' <= c && c <= 'z' {
		t, ok := parseDate(value, now)
		if !ok {
			return 0, false
		}
		return max(0, t.Sub(now)), true
	}
	seconds, ok := number(value)
	if !ok {
		return 0, false
	}
	return fromSeconds(seconds), true
}

// FromResponse reads the Retry-After header of resp and returns the time to
// wait from now on, by the rules of [Parse]. Of several header lines the first
// that can be read counts. ok is false when there is none, and when resp is
// nil.
//
// A date is measured against the Date header of resp, if there is exactly one
// and it can be read, and against now otherwise: the difference between two
// times of the server's clock is right even where the clock here is wrong. It
// is never too short: Date was cut to the second and the response then took its
// time to arrive, and both make the wait longer than the server asked for, not
// shorter. The Age header is not looked at, so a response that a cache kept for
// a while makes it longer by as much.
//
// FromResponse reads nothing but resp.Header. The status code is the caller's
// business, and so are the RateLimit headers that some servers send besides.
func FromResponse(resp *http.Response, now time.Time) (delay time.Duration, ok bool) {
	if resp == nil {
		return 0, false
	}
	values := resp.Header.Values("Retry-After")
	if len(values) == 0 {
		return 0, false
	}
	if dates := resp.Header.Values("Date"); len(dates) == 1 {
		// The 50-year rule for Retry-After, too, then follows the server's clock.
		if date, ok := parseDate(trim(dates[0]), now); ok {
			now = date
		}
	}
	for _, value := range values {
		if delay, ok := Parse(value, now); ok {
			return delay, true
		}
	}
	return 0, false
}

// Format writes d as a Retry-After value: whole seconds, as RFC 9110 section
// 10.2.3 wants them, rounded up so that nobody comes back too early. A negative
// d is "0". [Parse] reads the result as d or more.
func Format(d time.Duration) string {
	if d <= 0 {
		return "0"
	}
	seconds := int64(d / time.Second)
	// Adding a second less one nanosecond first would overflow close to the maximum.
	if d%time.Second > 0 {
		seconds++
	}
	return strconv.FormatInt(seconds, 10)
}
