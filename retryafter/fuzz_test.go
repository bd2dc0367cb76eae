package retryafter_test

// Properties of any input: numbers agree with a slow reading of the grammar,
// dates with net/http, and what Format writes brings nobody back too early.

import (
	"math"
	"math/big"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/retryafter"
)

var (
	decimalLiteral = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	hugeExponent   = regexp.MustCompile(`[eE][+-]?[0-9]{5}`)
	radixLiterals  = map[int]*regexp.Regexp{
		2:  regexp.MustCompile(`^0[bB][01]+$`),
		8:  regexp.MustCompile(`^0[oO][0-7]+$`),
		16: regexp.MustCompile(`^0[xX][0-9a-fA-F]+$`),
	}
)

const javaScriptSpace = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

// slowNumber reads a number with regular expressions and exact arithmetic.
func slowNumber(value string) (delay time.Duration, ok bool) {
	value = strings.Trim(value, javaScriptSpace)
	seconds := math.NaN()
	switch {
	case !decimalLiteral.MatchString(value):
	case hugeExponent.MatchString(value):
		seconds, _ = strconv.ParseFloat(value, 64) // 0 or infinite, unless value is very long
	default:
		exact, _ := new(big.Rat).SetString(value)
		seconds, _ = exact.Float64()
	}
	for base, literal := range radixLiterals {
		if literal.MatchString(value) {
			n, _ := new(big.Int).SetString(value[2:], base)
			seconds, _ = new(big.Float).SetInt(n).Float64()
		}
	}
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) || seconds < 0 {
		return 0, false
	}
	ms := math.Floor(seconds * 1000)
	if seconds*1000-ms >= 0.5 {
		ms++
	}
	if math.IsInf(ms, 1) {
		return longest, true
	}
	ns, _ := big.NewFloat(ms).Int(nil)
	if ns.Mul(ns, big.NewInt(int64(time.Millisecond))); !ns.IsInt64() {
		return longest, true
	}
	return time.Duration(ns.Int64()), true
}

func FuzzParseNumber(f *testing.F) {
	for _, r := range append(vectors(f), corpus(f)...) {
		f.Add(r.value)
	}
	f.Add(strings.Repeat("9", 1000) + "e-995")
	f.Fuzz(func(t *testing.T, value string) {
		delay, ok := retryafter.Parse(value, now)
		if delay < 0 || !ok && delay != 0 {
			t.Fatalf("Parse(%q) = %v, %v", value, delay, ok)
		}
		if c := strings.Trim(value, javaScriptSpace); c != "" && 'A' <= c[0]&^0x20 && c[0]&^0x20 <= 'Z' {
			return // a date, if anything
		}
		if hugeExponent.MatchString(value) && len(value) > 9000 {
			return // ParseFloat can't tell; the tables have such numbers
		}
		if wantDelay, wantOK := slowNumber(value); delay != wantDelay || ok != wantOK {
			t.Errorf("Parse(%q) = %v, %v; want %v, %v", value, delay, ok, wantDelay, wantOK)
		}
	})
}

func FuzzParseDate(f *testing.F) {
	for _, value := range []string{
		"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
		"Sat, 31 Dec 2016 23:59:60 GMT", "Tuesday, 29-Feb-00 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 EST",
		"Sunday, 06-Nov-94 08:49:37 EST", "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 31 Feb 1994 08:49:37 GMT",
	} {
		f.Add(value, int64(784111770), int64(0))
		f.Add(value, int64(2871763200), int64(999_999_999))
	}
	f.Fuzz(func(t *testing.T, value string, seconds, nanoseconds int64) {
		const years10000 = 253402300800 // where years of five digits begin, in seconds since 1970
		now := time.Unix(seconds%years10000, nanoseconds%1e9)
		delay, ok := retryafter.Parse(value, now)
		if delay < 0 || !ok && delay != 0 {
			t.Fatalf("Parse(%q, %v) = %v, %v", value, now, delay, ok)
		}
		text := strings.Trim(value, javaScriptSpace)
		if text == "" || text[0] < 'A' {
			return // a number, if anything
		}
		leap := strings.Contains(text, "23:59:60")
		want, err := http.ParseTime(strings.Replace(text, "23:59:60", "23:59:59", 1))
		switch {
		case !ok && err == nil && want.Format(http.TimeFormat) == text:
			t.Fatalf("Parse(%q) refuses what net/http writes", value)
		case !ok:
			return // net/http takes more than the RFC allows
		case err != nil:
			t.Fatalf("Parse(%q) = %v, net/http: %v", value, delay, err)
		}
		if leap {
			want = want.Add(time.Second)
		}
		if strings.Contains(text, "-") {
			want = withinCentury(want, now)
		}
		if want := max(0, want.Sub(now)); delay != want {
			t.Errorf("Parse(%q, %v) = %v, want %v", value, now, delay, want)
		}
	})
}

// withinCentury moves t by hundreds of years, to the last such date that is no
// more than 50 years after now. A 29 February lands only where there is one.
func withinCentury(t, now time.Time) time.Time {
	latest := now.UTC().AddDate(50, 0, 0)
	for year := latest.Year() + 1; ; year-- {
		moved := t.AddDate(year-t.Year(), 0, 0)
		if (year-t.Year())%100 == 0 && moved.Day() == t.Day() && !moved.After(latest) {
			return moved
		}
	}
}

func FuzzFormat(f *testing.F) {
	for _, d := range []int64{0, 1, -1, 999_999_999, 1_000_000_000, 1_000_000_001, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, 9223372036e9, 9223372036e9 + 1} {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		d := time.Duration(n)
		text := retryafter.Format(d)
		back, ok := retryafter.Parse(text, now)
		if !ok || back < max(0, d) {
			t.Fatalf("Parse(Format(%d) = %q) = %v, %v", n, text, back, ok)
		}
		if back-max(0, d) >= time.Second {
			t.Fatalf("Format(%d) = %q, a second or more too long", n, text)
		}
		if again := retryafter.Format(back); again != text {
			t.Fatalf("Format(%d) = %q, and once read and written again %q", n, text, again)
		}
	})
}
