package statuspage

// Times and durations in words.

import (
	"fmt"
	"strconv"
	"time"
)

// moment is a time with what it is measured against.
type moment struct{ At, Now time.Time }

// Ago is how long ago it was, or how far ahead it is.
func (m moment) Ago() string {
	d := m.Now.Sub(m.At)
	switch {
	case d < 0:
		return "in " + span(-d)
	case d < time.Second:
		return "just now"
	}
	return span(d) + " ago"
}

// UTC is the time of day, with the date where that is another one.
func (m moment) UTC() string {
	at, now := m.At.UTC(), m.Now.UTC()
	if at.Year() != now.Year() || at.YearDay() != now.YearDay() {
		return at.Format("2006-01-02 15:04:05")
	}
	return at.Format("15:04:05")
}

// RFC3339 is the time for programs that read the page.
func (m moment) RFC3339() string { return m.At.UTC().Format(time.RFC3339Nano) }

// duration writes d with three figures, in the unit that fits.
func duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0"
	case d < 100*time.Microsecond:
		return figures(float64(d)/1e3) + " µs"
	case d < 999500*time.Microsecond:
		return figures(float64(d)/1e6) + " ms"
	case d < time.Minute:
		return figures(float64(d)/1e9) + " s"
	}
	return span(d)
}

func figures(f float64) string {
	decimals := 0
	switch {
	case f < 9.995:
		decimals = 2
	case f < 99.95:
		decimals = 1
	}
	return strconv.FormatFloat(f, 'f', decimals, 64)
}

// span writes d in the unit that fits, and the next one.
func span(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%d d %d h", s/86400, s%86400/3600)
}
