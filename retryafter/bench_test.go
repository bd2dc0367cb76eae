package retryafter_test

// What a value of each form costs, beside what the standard library takes for
// the same text: the floor in the same run.

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/rebound-go/rebound/retryafter"
)

func BenchmarkParse(b *testing.B) {
	now := time.Date(1994, time.November, 6, 8, 49, 30, 0, time.UTC)
	for _, bench := range []struct{ form, value string }{
		{"seconds", "120"},
		{"fraction", "1.5"},
		{"exponent", "1e3"},
		{"hex", "0x1f"},
		{"imf", "Sun, 06 Nov 1994 08:49:37 GMT"},
		{"rfc850", "Sunday, 06-Nov-94 08:49:37 GMT"},
		{"asctime", "Sun Nov  6 08:49:37 1994"},
		{"none", "soon"},
	} {
		b.Run("form="+bench.form+"/impl=parse", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				retryafter.Parse(bench.value, now)
			}
		})
	}
	for _, floor := range []struct {
		form string
		run  func() error
	}{
		{"seconds", func() error { _, err := strconv.ParseInt("120", 10, 64); return err }},
		{"fraction", func() error { _, err := strconv.ParseFloat("1.5", 64); return err }},
		{"imf", func() error { _, err := http.ParseTime("Sun, 06 Nov 1994 08:49:37 GMT"); return err }},
		{"rfc850", func() error { _, err := http.ParseTime("Sunday, 06-Nov-94 08:49:37 GMT"); return err }},
		{"asctime", func() error { _, err := http.ParseTime("Sun Nov  6 08:49:37 1994"); return err }},
	} {
		b.Run("form="+floor.form+"/impl=floor", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := floor.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFromResponse(b *testing.B) {
	now := time.Date(1994, time.November, 6, 8, 49, 30, 0, time.UTC)
	for _, bench := range []struct{ form, value string }{
		{"none", ""},
		{"seconds", "120"},
		{"imf", "Sun, 06 Nov 1994 08:49:37 GMT"},
	} {
		b.Run("form="+bench.form, func(b *testing.B) {
			resp := &http.Response{Header: http.Header{"Date": {"Sun, 06 Nov 1994 08:49:30 GMT"}}}
			if bench.value != "" {
				resp.Header.Set("Retry-After", bench.value)
			}
			b.ReportAllocs()
			for b.Loop() {
				retryafter.FromResponse(resp, now)
			}
		})
	}
}

func BenchmarkFormat(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		retryafter.Format(90 * time.Second)
	}
}
