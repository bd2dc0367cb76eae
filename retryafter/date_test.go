package retryafter_test

// Dates: the three forms of RFC 9110 section 5.6.7, their edges, and what only
// looks like one of them.

import (
	"testing"
	"time"

	"github.com/rebound-go/rebound/retryafter"
)

func TestParseReadsTheThreeDateForms(t *testing.T) {
	check(t, []reading{ // hashicorp/go-retryablehttp reads the first alone
		{"Sun, 06 Nov 1994 08:49:37 GMT", 7 * time.Second, true},
		{"Sunday, 06-Nov-94 08:49:37 GMT", 7 * time.Second, true},
		{"Sun Nov  6 08:49:37 1994", 7 * time.Second, true},
		{"Sun Nov 06 08:49:37 1994", 7 * time.Second, true},
		{"Wed Nov 16 08:49:30 1994", 240 * time.Hour, true},
		{" Sun, 06 Nov 1994 08:49:37 GMT\t", 7 * time.Second, true},

		{"Sun, 06 Nov 1994 08:49:30 GMT", 0, true},
		{"Sun, 06 Nov 1994 08:49:29 GMT", 0, true},
		{"Thu, 01 Jan 1970 00:00:00 GMT", 0, true},
		{"Sat, 01 Jan 0000 00:00:00 GMT", 0, true},

		{"Fri, 01 Jan 2100 00:00:00 GMT", time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).Sub(now), true},
		{"Fri, 31 Dec 9999 23:59:59 GMT", longest, true},
	})
}

func TestParseReadsEveryMonthAndDay(t *testing.T) {
	for day := range 366 {
		date := time.Date(1996, time.January, 1+day, 12, 0, 0, 0, time.UTC)
		for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
			check(t, []reading{{date.Format(layout), date.Sub(now), true}})
		}
	}
}

// basecamp-sdk#796: a date that lost its fraction of a second was too early.
func TestParseKeepsFractionsOfNow(t *testing.T) {
	now := time.Date(1994, time.November, 6, 8, 49, 35, 600_000_000, time.UTC)
	for _, now := range []time.Time{now, now.In(time.FixedZone("", -5*3600))} {
		delay, ok := retryafter.Parse("Sun, 06 Nov 1994 08:49:37 GMT", now)
		if want := 1400 * time.Millisecond; delay != want || !ok {
			t.Errorf("at %v got %v, %v; want %v, true", now, delay, ok, want)
		}
	}
}

func TestParseReadsTwoDigitYearsByThe50YearRule(t *testing.T) {
	instant := func(text string) time.Time {
		i, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	for _, test := range []struct{ now, value, want string }{
		{"2026-06-01 12:00:00", "Monday, 01-Jun-26 12:00:01 GMT", "2026-06-01 12:00:01"},
		{"2026-06-01 12:00:00", "Sunday, 01-Jun-76 11:59:59 GMT", "2076-06-01 11:59:59"},
		{"2026-06-01 12:00:00", "Sunday, 01-Jun-76 12:00:00 GMT", "2076-06-01 12:00:00"}, // 50 years, not more
		{"2026-06-01 12:00:00", "Sunday, 01-Jun-76 12:00:01 GMT", ""},
		{"2026-06-01 12:00:00", "Sunday, 01-Jan-77 00:00:00 GMT", ""},
		{"2026-06-01 12:00:00", "Sunday, 06-Nov-94 08:49:37 GMT", ""},
		{"2026-06-01 12:00:00", "Sunday, 06-Nov-69 08:49:37 GMT", "2069-11-06 08:49:37"}, // time.Parse's fixed turn of the century
		{"1999-12-31 23:59:59", "Saturday, 01-Jan-00 00:00:04 GMT", "2000-01-01 00:00:04"},
		{"2050-01-01 00:00:00", "Friday, 01-Jan-00 00:00:00 GMT", "2100-01-01 00:00:00"},
		{"2049-12-31 23:59:59", "Friday, 01-Jan-00 00:00:00 GMT", ""},
		{"2060-01-01 00:00:00", "Tuesday, 29-Feb-00 00:00:00 GMT", ""}, // not in 2100, so in 2000
		{"2096-01-01 00:00:00", "Wednesday, 29-Feb-96 00:00:00 GMT", "2096-02-29 00:00:00"},
	} {
		var want time.Duration
		if test.want != "" {
			want = instant(test.want).Sub(instant(test.now))
		}
		delay, ok := retryafter.Parse(test.value, instant(test.now))
		if delay != want || !ok {
			t.Errorf("Parse(%q, %v) = %v, %v; want %v, true", test.value, test.now, delay, ok, want)
		}
	}
}

func TestParseLeapSecondIsTheNextMidnight(t *testing.T) {
	check(t, []reading{
		{"Sat, 31 Dec 1994 23:59:60 GMT", time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC).Sub(now), true},
		{"Saturday, 31-Dec-94 23:59:60 GMT", time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC).Sub(now), true},
		{"Sat Dec 31 23:59:60 1994", time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC).Sub(now), true},
		{"Sat, 31 Dec 1994 23:58:60 GMT", 0, false},
		{"Sat, 31 Dec 1994 12:59:60 GMT", 0, false},
		{"Sat, 31 Dec 1994 23:59:61 GMT", 0, false},
	})
}

// The day name is redundant, and senders get it wrong.
func TestParseAcceptsADayNameThatDisagrees(t *testing.T) {
	for _, day := range []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
		check(t, []reading{{day + ", 06 Nov 1994 08:49:37 GMT", 7 * time.Second, true}})
		check(t, []reading{{day + " Nov  6 08:49:37 1994", 7 * time.Second, true}})
	}
	for _, day := range []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"} {
		check(t, []reading{{day + ", 06-Nov-94 08:49:37 GMT", 7 * time.Second, true}})
	}
}

func TestParseRefusesWhatIsNoDate(t *testing.T) {
	for _, value := range []string{
		// other zones: EST was read as UTC, five hours off
		"Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 gmt", "Sun, 06 Nov 1994 08:49:37 Z",
		"Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sunday, 06-Nov-94 08:49:37 EST",
		"Sun Nov  6 08:49:37 1994 GMT", "Sun Nov  6 08:49:37 UTC 1994",
		// other forms
		"1994-11-06T08:49:37Z", "1994-11-06 08:49:37", "06 Nov 1994 08:49:37 GMT", "Nov  6 08:49:37 1994", "Sun, 06-Nov-1994 08:49:37 GMT",
		"Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sunday Nov  6 08:49:37 1994",
		"Sun, 6 Nov 1994 08:49:37 GMT", "Sun,  6 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sunday,  6-Nov-94 08:49:37 GMT",
		"Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37.5 GMT", "Sun, 06 Nov 1994  8:49:37 GMT",
		"Sun,06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37 GMT; x", "Sun, 06 Nov 1994 08:49:37 GMT, 5", "Sun, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 11994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06\u00a0Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT",
		// names
		"SUN, 06 Nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06 NOV 1994 08:49:37 GMT",
		"Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Okt 1994 08:49:37 GMT", "sunday, 06-Nov-94 08:49:37 GMT", "Sunnday, 06-Nov-94 08:49:37 GMT",
		", 06 Nov 1994 08:49:37 GMT", ", 06-Nov-94 08:49:37 GMT", "Xun Nov  6 08:49:37 1994", "Sun Nov. 6 08:49:37 1994", "Sun, 06 ??? 1994 08:49:37 GMT",
		// no such day or time
		"Thu, 31 Feb 1994 08:49:37 GMT", "Thu, 29 Feb 1995 08:49:37 GMT", "Thu, 29 Feb 2100 08:49:37 GMT", "Thu, 31 Nov 1994 08:49:37 GMT",
		"Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Dec 1994 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT", "Sunday, 31-Feb-94 08:49:37 GMT",
		"Sun Nov  0 08:49:37 1994", "Sun Nov 31 08:49:37 1994", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:60 GMT",
		// words
		"soon", "now", "tomorrow", "never", "GMT", "Sun", "Sun,", "Sun, ",
	} {
		check(t, []reading{{value: value}})
	}
}

// One byte that cannot stand where it stands makes a date none.
func TestParseIsExactInEveryByte(t *testing.T) {
	for _, value := range []string{"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov 16 08:49:37 1994"} {
		for i := range value {
			for _, wrong := range []string{"", "\x00", "/", ";", "x", "\xff"} {
				check(t, []reading{{value: value[:i] + wrong + value[i+1:]}})
			}
		}
	}
}
