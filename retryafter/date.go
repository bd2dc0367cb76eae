package retryafter

// Dates in the three forms of RFC 9110 section 5.6.7. time.Parse is not exact
// enough: it takes other zones for GMT, ignores the case of names, and has one
// fixed century for each year of two digits.

import (
	"strings"
	"time"
)

// parseDate reads a date. A year of two digits is relative to now.
func parseDate(s string, now time.Time) (t time.Time, ok bool) {
	day, rest, comma := strings.Cut(s, ", ")
	switch {
	case comma && fits(rest, "00 ??? 0000 00:00:00 GMT") && isDay(day):
		return date(two(rest[7:])*100+two(rest[9:]), rest[3:6], two(rest), rest[12:20])
	case comma && fits(rest, "00-???-00 00:00:00 GMT") && isLongDay(day):
		return dateInCentury(two(rest[7:]), rest[3:6], two(rest), rest[10:18], now)
	case !comma && fits(s, "??? ??? _0 00:00:00 0000") && isDay(s[:3]):
		return date(two(s[20:])*100+two(s[22:]), s[4:7], two(s[8:]), s[11:19])
	}
	return time.Time{}, false
}

// dateInCentury is date for a year of two digits. RFC 9110 has a date that
// appears to be more than 50 years ahead mean the latest such year in the past.
func dateInCentury(yy int, month string, day int, clock string, now time.Time) (t time.Time, ok bool) {
	latest := now.UTC().AddDate(50, 0, 0)
	// Starting from the century of latest, and not of now, lets "00" be the coming
	// year in a December of '99.
	year := latest.Year()/100*100 + yy
	t, ok = date(year, month, day, clock)
	// 29 February need not exist in every year that ends in 00.
	if !ok || t.After(latest) {
		t, ok = date(year-100, month, day, clock)
	}
	return t, ok
}

// date is the instant that its arguments name, if there is one.
func date(year int, month string, day int, clock string) (t time.Time, ok bool) {
	m := monthNamed(month)
	hour, minute, second := two(clock), two(clock[3:]), two(clock[6:])
	inRange := hour <= 23 && minute <= 59 && second <= 59
	if m == 0 || !inRange && clock != "23:59:60" {
		return time.Time{}, false
	}
	t = time.Date(year, m, day, 0, 0, 0, 0, time.UTC)
	// time.Date makes 3 March of 31 February.
	if t.Day() != day {
		return time.Time{}, false
	}
	return t.Add(time.Duration(hour*3600+minute*60+second) * time.Second), true
}

// fits says whether s has the shape of layout, where 0 is any digit, _ a digit
// or a space, ? any byte, and everything else itself.
func fits(s, layout string) bool {
	if len(s) != len(layout) {
		return false
	}
	for i := range len(s) {
		digit := s[i]-'0' <= 9
		switch layout[i] {
		case '0':
			if !digit {
				return false
			}
		case '_':
			if !digit && s[i] != ' ' {
				return false
			}
		case '?':
		default:
			if s[i] != layout[i] {
				return false
			}
		}
	}
	return true
}

// two reads two digits at the beginning of s; a space is a 0.
func two(s string) int {
	n := int(s[1] - '0')
	if s[0] != ' ' {
		n += 10 * int(s[0]-'0')
	}
	return n
}

func isDay(s string) bool {
	switch s {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

func isLongDay(s string) bool {
	switch s {
	case "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday":
		return true
	}
	return false
}

// monthNamed is 0 for a name that no month has.
func monthNamed(s string) time.Month {
	switch s {
	case "Jan":
		return time.January
	case "Feb":
		return time.February
	case "Mar":
		return time.March
	case "Apr":
		return time.April
	case "May":
		return time.May
	case "Jun":
		return time.June
	case "Jul":
		return time.July
	case "Aug":
		return time.August
	case "Sep":
		return time.September
	case "Oct":
		return time.October
	case "Nov":
		return time.November
	case "Dec":
		return time.December
	}
	return 0
}
