package statuspage

// The time line of a call: its steps on a scale, and the same in words.

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// row is a call as it is shown.
type row struct {
	*Call
	Class  string // how it stands: good, bad, busy
	Result string // what came of it, in a word or a number
	Notes  []string
	Bars   []bar
	Lines  []line
}

// bar is a step on the scale of its call, in percent of the whole.
type bar struct {
	X, Width, Middle string
	Class            string
	Label            string // the attempt's number, where it fits and there is more than one step
}

// line is a step in words.
type line struct {
	Class, Label, Text, Error string
}

func rowOf(c *Call) row {
	r := row{Call: c}
	r.Class, r.Result, r.Notes = verdict(c)
	whole := c.Elapsed
	if n := len(c.Steps); n > 0 {
		whole = max(whole, c.Steps[n-1].Start.Add(c.Steps[n-1].Elapsed).Sub(c.Start))
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		going := c.InFlight() && i == len(c.Steps)-1
		class, text := stepText(s, going)
		r.Bars = append(r.Bars, barOf(s, class, c.Start, whole))
		l := line{Class: class, Text: text, Error: s.Error}
		if s.Kind == StepAttempt {
			l.Label = strconv.Itoa(s.Number)
		}
		r.Lines = append(r.Lines, l)
	}
	return r
}

// The least width of a bar that can be seen, and of one with its number in it, in percent.
const (
	leastWidth  = 0.8
	numberWidth = 4
)

func barOf(s *Step, class string, start time.Time, whole time.Duration) bar {
	share := func(d time.Duration) float64 {
		if whole <= 0 {
			return 0
		}
		return min(max(100*float64(d)/float64(whole), 0), 100)
	}
	width := max(share(s.Elapsed), leastWidth)
	if whole <= 0 {
		width = 100
	}
	x := min(share(s.Start.Sub(start)), 100-width)
	percent := func(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) + "%" }
	b := bar{X: percent(x), Width: percent(width), Middle: percent(x + width/2), Class: class}
	if s.Kind == StepAttempt && width >= numberWidth && width < 100-numberWidth {
		b.Label = strconv.Itoa(s.Number)
	}
	return b
}

// verdict says how a call stands.
func verdict(c *Call) (class, result string, notes []string) {
	class, result, why := "busy", "in flight", string(c.State)
	switch c.State {
	case roundtripper.StateDone:
		class, result, why = "good", statusText(c.Status), string(c.Stop)
		if c.Fallback { // its caller is served, its host is not well
			class = "bad"
		}
	case roundtripper.StateFailed:
		class, result, why = "bad", "failed", string(c.Stop)
		if c.Status != 0 {
			result = statusText(c.Status)
		}
	case StateAbandoned:
		class, result, why = "bad", "abandoned", "ended without a word"
	case roundtripper.StateOffline:
		why = "no network"
	}
	if c.Stop != roundtripper.ReasonOK {
		notes = append(notes, why)
	}
	if c.Slow {
		notes = append(notes, "slow")
	}
	if c.Fallback {
		notes = append(notes, "fallback served")
	}
	return class, result, notes
}

func statusText(status int) string {
	if status == 0 {
		return "no response"
	}
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// stepText says what a step came to.
func stepText(s *Step, going bool) (class, text string) {
	took := duration(s.Elapsed)
	switch s.Kind {
	case StepOffline:
		return "offline", "no network for " + took
	case StepHeld:
		return "held", "held back " + took + ofPlan(s, going)
	case StepWait:
		return "wait", "waited " + took + ofPlan(s, going)
	}
	switch {
	case going:
		return "sending", "on its way for " + took
	case s.Reason == "":
		return "bad", "not judged, " + took
	case s.Reason == roundtripper.ReasonOK:
		class = "good"
	case s.MayHeal:
		class = "heal"
	default:
		class = "bad"
	}
	if s.Status != 0 {
		text = strconv.Itoa(s.Status) + " "
	}
	if s.Status == 0 || s.Reason != roundtripper.ReasonStatus && s.Reason != roundtripper.ReasonOK {
		text += string(s.Reason) + " "
	}
	text += "in " + took
	if s.Unsent {
		text += ", not sent"
	}
	if s.Uncharged {
		text += ", not charged"
	}
	return class, text
}

// ofPlan says how long a wait was to be, unless it was that long.
func ofPlan(s *Step, going bool) string {
	if going || s.Planned-s.Elapsed > s.Planned/20 {
		return " of " + duration(s.Planned)
	}
	return ""
}
