// Package retryafter reads and writes the Retry-After header, with which a
// server that answers 429 or 503 says how long to leave it alone (RFC 9110
// section 10.2.3).
//
// # Which function do I want?
//
// A client that holds an [http.Response] calls [FromResponse]. It finds the
// header, and it measures a date against the server's own clock.
//
// A client that holds only the text of the header calls [Parse].
//
// A server that writes the header calls [Format].
//
//	if delay, ok := retryafter.FromResponse(resp, time.Now()); ok {
//		// Come back in delay, or later.
//	}
//
//	w.Header().Set("Retry-After", retryafter.Format(limiter.Delay()))
//	w.WriteHeader(http.StatusTooManyRequests)
//
// # What counts as a value
//
// The RFC allows a whole number of seconds or a date. Servers send more than
// that, fractions above all, so numbers are read as JavaScript's Number reads
// them: "1.5", "1e3", "+5" and "0x10" are numbers; "-1", "5 s", "1_000" and
// "Infinity" are not. The result is rounded to the nearest millisecond, as
// Math.round does it. A date has one of the three forms of RFC 9110 section
// 5.6.7, to the letter. Anything else, a blank value and the list "10, 20"
// included, is no value: the caller then does what it would have done without
// the header.
//
// # Pitfalls
//
// A server may ask for any length of time, by mistake or out of malice: "3600",
// a date in the year 2100, forty nines. Nothing here overflows, whatever does
// not fit into a [time.Duration] becomes the longest one, but nothing here is
// capped either. Decide how long you are willing to wait before you sleep.
//
// A delay of 0 with ok true is an answer: the server names a moment that has
// passed, or no wait at all. Many clients that obey it at once make a wave, so
// add a jittered backoff to the delay. Add it: jitter that is taken off the
// delay comes back too early.
//
// # Use
//
// Nothing here holds state: every function may be called by any number of
// goroutines at once.
package retryafter
