package retryafter_test

// The header in its response: absent, in several lines, beside a Date.

import (
	"net/http"
	"testing"
	"time"

	"github.com/rebound-go/rebound/retryafter"
)

func TestFromResponse(t *testing.T) {
	const (
		second30 = "Sun, 06 Nov 1994 08:49:30 GMT"
		second37 = "Sun, 06 Nov 1994 08:49:37 GMT"
	)
	for _, test := range []struct {
		name   string
		header http.Header
		late   time.Duration // how far the clock here runs ahead
		delay  time.Duration
		ok     bool
	}{
		{name: "no headers at all"},
		{name: "no Retry-After", header: http.Header{"Date": {second30}}},
		{name: "no line", header: http.Header{"Retry-After": {}}},
		{name: "blank", header: http.Header{"Retry-After": {"", " "}}},
		{name: "unreadable", header: http.Header{"Retry-After": {"soon"}, "Date": {second30}}},
		{name: "seconds", header: http.Header{"Retry-After": {"120"}}, delay: 2 * time.Minute, ok: true},
		{name: "zero", header: http.Header{"Retry-After": {"0"}}, ok: true},
		{name: "seconds do not depend on Date", header: http.Header{"Retry-After": {"5"}, "Date": {"Thu, 01 Jan 1970 00:00:00 GMT"}}, delay: 5 * time.Second, ok: true},

		{name: "first of two", header: http.Header{"Retry-After": {"5", "10"}}, delay: 5 * time.Second, ok: true},
		{name: "first that can be read", header: http.Header{"Retry-After": {"", "soon", "-1", "10, 20", "7", "3"}}, delay: 7 * time.Second, ok: true},
		{name: "number before date", header: http.Header{"Retry-After": {"x", second37, "3"}}, delay: 7 * time.Second, ok: true},
		{name: "a list is no value", header: http.Header{"Retry-After": {"10, 20"}}},

		{name: "date without Date", header: http.Header{"Retry-After": {second37}}, delay: 7 * time.Second, ok: true},
		{name: "fraction of now without Date", header: http.Header{"Retry-After": {second37}}, late: 5600 * time.Millisecond, delay: 1400 * time.Millisecond, ok: true},
		{name: "date beside Date", header: http.Header{"Retry-After": {second37}, "Date": {second30}}, delay: 7 * time.Second, ok: true},
		{name: "fast clock", header: http.Header{"Retry-After": {second37}, "Date": {second30}}, late: 1000 * time.Hour, delay: 7 * time.Second, ok: true},
		{name: "slow clock", header: http.Header{"Retry-After": {second37}, "Date": {second30}}, late: -1000 * time.Hour, delay: 7 * time.Second, ok: true},
		{name: "date before Date", header: http.Header{"Retry-After": {second30}, "Date": {second37}}, late: -time.Hour, ok: true},
		{name: "other forms", header: http.Header{"Retry-After": {"Sunday, 06-Nov-94 08:49:37 GMT"}, "Date": {"Sun Nov  6 08:49:30 1994"}}, late: time.Hour, delay: 7 * time.Second, ok: true},
		{name: "century of Date", header: http.Header{"Retry-After": {"Saturday, 06-Nov-99 08:49:37 GMT"}, "Date": {"Fri, 06 Nov 2099 08:49:30 GMT"}}, delay: 7 * time.Second, ok: true},

		{name: "Date unreadable", header: http.Header{"Retry-After": {second37}, "Date": {"1994-11-06T08:00:00Z"}}, delay: 7 * time.Second, ok: true},
		{name: "Date a number", header: http.Header{"Retry-After": {second37}, "Date": {"30"}}, delay: 7 * time.Second, ok: true},
		{name: "Date blank", header: http.Header{"Retry-After": {second37}, "Date": {""}}, delay: 7 * time.Second, ok: true},
		{name: "Date twice", header: http.Header{"Retry-After": {second37}, "Date": {second30, second37}}, late: time.Second, delay: 6 * time.Second, ok: true},
		{name: "Date padded", header: http.Header{"Retry-After": {second37}, "Date": {" " + second30 + " "}}, late: time.Hour, delay: 7 * time.Second, ok: true},

		{name: "too far ahead", header: http.Header{"Retry-After": {"Fri, 31 Dec 9999 23:59:59 GMT"}, "Date": {second30}}, delay: longest, ok: true},
		{name: "Age is not looked at", header: http.Header{"Retry-After": {second37}, "Date": {second30}, "Age": {"5"}}, delay: 7 * time.Second, ok: true},
		{name: "rate limit headers are not looked at", header: http.Header{"Ratelimit-Reset": {"9"}, "X-Ratelimit-Reset": {"784111777"}}},
		{name: "Retry-After beside them", header: http.Header{"Retry-After": {"5"}, "X-Ratelimit-Reset": {"784115377"}}, delay: 5 * time.Second, ok: true}, // google/go-github#3438
	} {
		t.Run(test.name, func(t *testing.T) {
			resp := &http.Response{Header: test.header}
			delay, ok := retryafter.FromResponse(resp, now.Add(test.late))
			if delay != test.delay || ok != test.ok {
				t.Errorf("got %v, %v; want %v, %v", delay, ok, test.delay, test.ok)
			}
		})
	}
}

func TestFromResponseWithoutResponse(t *testing.T) {
	if delay, ok := retryafter.FromResponse(nil, now); delay != 0 || ok {
		t.Errorf("got %v, %v; want 0, false", delay, ok)
	}
}

// The server's clock stood anywhere within the second that Date names, and the
// response took time to arrive: the wait must reach the date all the same.
func TestFromResponseIsNeverTooEarly(t *testing.T) {
	const format = "Mon, 02 Jan 2006 15:04:05 GMT"
	allowed := now.Add(7 * time.Second)
	for written := now; written.Before(allowed.Add(2 * time.Second)); written = written.Add(99 * time.Millisecond) {
		for _, transit := range []time.Duration{0, 50 * time.Millisecond, 3 * time.Second} {
			resp := &http.Response{Header: http.Header{
				"Date":        {written.Format(format)},
				"Retry-After": {allowed.Format(format)},
			}}
			delay, ok := retryafter.FromResponse(resp, written.Add(transit))
			if back := written.Add(transit + delay); !ok || back.Before(allowed) {
				t.Errorf("written %v, transit %v: back at %v, %v; want %v or later", written, transit, back, ok, allowed)
			}
		}
	}
}

func TestFromResponseAllocatesNothing(t *testing.T) {
	for _, value := range []string{"120", "1.5", "Sun, 06 Nov 1994 08:49:37 GMT"} {
		resp := &http.Response{Header: http.Header{
			"Date":        {"Sun, 06 Nov 1994 08:49:30 GMT"},
			"Retry-After": {value},
		}}
		if got := testing.AllocsPerRun(100, func() { retryafter.FromResponse(resp, now) }); got != 0 {
			t.Errorf("%q: %v allocations, want 0", value, got)
		}
	}
}
