package bench_test

// Reading Retry-After.

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/retryafter"
)

var inTwoMinutes = time.Now().UTC().Add(2 * time.Minute)

var retryAfters = []struct {
	form, value  string
	want, within time.Duration
}{
	{"seconds", "120", 2 * time.Minute, 0},
	{"fraction", "1.5", 1500 * time.Millisecond, 0},
	{"imf", inTwoMinutes.Format(http.TimeFormat), 2 * time.Minute, time.Minute},
	{"rfc850", inTwoMinutes.Format("Monday, 02-Jan-06 15:04:05 GMT"), 2 * time.Minute, time.Minute},
	{"asctime", inTwoMinutes.Format(time.ANSIC), 2 * time.Minute, time.Minute},
}

// header is a value, and whatever somebody wants to have it in. Peers export
// their reading only as part of a delay, for which they want the response.
type header struct {
	value    string
	response *http.Response
	attempt  failsafe.ExecutionAttempt[*http.Response]
	now      time.Time
}

func headerWith(value string) header {
	resp := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {value}}}
	return header{value, resp, attempt{resp: resp}, time.Now()}
}

type attempt struct {
	failsafe.ExecutionAttempt[*http.Response]
	resp *http.Response
}

func (a attempt) LastResult() *http.Response { return a.resp }

type reader struct {
	name  string
	read  func(header) (time.Duration, bool)
	forms []string // that it takes; nil: all
}

// The floor is the standard library's function for each form alone. For a date
// go-retryablehttp looks at the clock; the others are given the time.
var readers = []reader{
	{"rebound", func(h header) (time.Duration, bool) { return retryafter.Parse(h.value, h.now) }, nil},
	{"rebound-response", func(h header) (time.Duration, bool) {
		return retryafter.FromResponse(h.response, h.now)
	}, nil},
	{"go-retryablehttp", func(h header) (time.Duration, bool) {
		d := retryablehttp.DefaultBackoff(0, 0, 0, h.response)
		return d, d > 0
	}, []string{"seconds", "imf"}},
	{"failsafe-go", func(h header) (time.Duration, bool) {
		d := failsafehttp.DelayFunc(h.attempt)
		return d, d > 0
	}, []string{"seconds"}},
	{"floor", func(h header) (time.Duration, bool) {
		n, err := strconv.ParseInt(h.value, 10, 64)
		return time.Duration(n) * time.Second, err == nil
	}, []string{"seconds"}},
	{"floor", func(h header) (time.Duration, bool) {
		f, err := strconv.ParseFloat(h.value, 64)
		return time.Duration(f * float64(time.Second)), err == nil
	}, []string{"fraction"}},
	{"floor", func(h header) (time.Duration, bool) {
		t, err := http.ParseTime(h.value)
		return t.Sub(h.now), err == nil
	}, []string{"imf", "rfc850", "asctime"}},
}

// BenchmarkRetryAfter reads one value.
func BenchmarkRetryAfter(b *testing.B) {
	for _, f := range retryAfters {
		h := headerWith(f.value)
		for _, r := range shuffled(readers) {
			if !r.takes(f.form) {
				continue
			}
			b.Run("form="+f.form+"/impl="+r.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r.read(h)
				}
			})
		}
	}
}

func (r reader) takes(form string) bool { return r.forms == nil || slices.Contains(r.forms, form) }

// Nobody is left out of a column whose form it takes.
func TestReadersTakeTheForms(t *testing.T) {
	for _, r := range readers {
		for _, f := range retryAfters {
			if r.name == "floor" && !r.takes(f.form) {
				continue // it is another function's
			}
			got, ok := r.read(headerWith(f.value))
			assert.Equal(t, r.takes(f.form), ok, "%s %s", r.name, f.value)
			if ok {
				assert.InDelta(t, f.want, got, float64(f.within), "%s %s", r.name, f.value)
			}
		}
	}
}
