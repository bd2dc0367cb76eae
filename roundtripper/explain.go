package roundtripper

// This file holds what a policy comes to, for people.

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// WorstCase is the longest that a call can last until RoundTrip returns and its
// body is read: every attempt at its limit and every wait at its longest. ok is
// false if nothing bounds it but the context.
//
// A gate waits for as long as its own patience lasts, so with one and without a
// TotalTimeout there is no bound.
//
// It assumes a base transport that heeds its context, and leaves out what
// draining a response takes: 50 ms a retry at most. Jitter is taken at the
// longest that a few thousand draws show.
func (p Policy) WorstCase() (d time.Duration, ok bool) {
	if p.AttemptTimeout > 0 && p.Offline == nil {
		d, ok = p.attemptsWorst(), true
	}
	if p.TotalTimeout > 0 && (!ok || p.TotalTimeout < d) {
		return p.TotalTimeout, true
	}
	return d, ok
}

func (p Policy) attemptsWorst() time.Duration {
	retries := time.Duration(p.MaxRetries)
	attempts := after(retries, 1)
	d := after(times(p.AttemptTimeout, attempts), p.waitsWorst(retries))
	if p.ShareRetryAfter {
		d = after(d, times(after(p.MaxDelay, p.MaxDelay/leaveOver), attempts))
	}
	return d
}

// waitsWorst is the sum of the longest waits. A Retry-After may make each of
// them MaxDelay, and where it is honoured the backoff comes on top.
func (p Policy) waitsWorst(retries time.Duration) time.Duration {
	if p.MaxDelay == 0 {
		return 0
	}
	waits := p.spans(int(min(retries, spansShown)))
	longest := func(s span) time.Duration {
		switch p.RetryAfter {
		case HonorRetryAfter:
			return after(p.MaxDelay, s.high)
		case ClampRetryAfter:
			return p.MaxDelay
		}
		return min(p.MaxDelay, s.high)
	}
	var d time.Duration
	for _, s := range waits {
		d = after(d, longest(s))
	}
	if rest := retries - time.Duration(len(waits)); rest > 0 {
		// Nobody knows how a strategy goes on; MaxDelay bounds the most of it.
		last := span{p.MaxDelay, max(p.MaxDelay, waits[len(waits)-1].high)}
		d = after(d, times(longest(last), rest))
	}
	return d
}

// times is d n times over, or the longest duration there is.
func times(d, n time.Duration) time.Duration {
	if d <= 0 || n <= 0 {
		return 0
	}
	if d > math.MaxInt64/n {
		return math.MaxInt64
	}
	return d * n
}

// span is the range of a wait.
type span struct{ low, high time.Duration }

func (s span) String() string {
	if s.low == s.high {
		return s.low.String()
	}
	return s.low.String() + " to " + s.high.String()
}

const (
	spansShown = 8    // a table of more rows tells no more
	draws      = 4096 // enough to see both ends of a range to a percent
)

// spans finds the ranges of the first n waits of the backoff, by drawing them:
// a strategy is a function, and that is all one can ask it.
func (p Policy) spans(n int) []span {
	ss := make([]span, n)
	if p.Backoff == nil {
		return ss
	}
	var prev span
	for retry := range ss {
		s := span{low: math.MaxInt64}
		for i := range draws {
			from := prev.low
			if i%2 == 1 {
				from = prev.high
			}
			d := max(0, p.Backoff(retry, from))
			s = span{min(s.low, d), max(s.high, d)}
		}
		prev = s
		ss[retry] = s.rounded()
	}
	return ss
}

// rounded widens a range that was drawn to what it was drawn from, as people
// would write it.
func (s span) rounded() span {
	if s.low == s.high {
		return s
	}
	unit := time.Duration(1)
	for unit <= s.high/1000 {
		unit *= 10
	}
	unit *= 5
	s.low -= s.low % unit
	if rest := s.high % unit; rest != 0 {
		s.high = after(s.high, unit-rest)
	}
	return s
}

// cut is s under a cap.
func (s span) cut(most time.Duration) span { return span{min(s.low, most), min(s.high, most)} }

// Explain writes p as a small table for people: the attempts and the wait
// before each, what is repeated, and the worst case.
func (p Policy) Explain() string {
	if err := p.Validate(); err != nil {
		return err.Error() + "\n"
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "attempt\twait before it\tlimit")
	limit := orNone(p.AttemptTimeout)
	fmt.Fprintf(w, "1\t-\t%s\n", limit)
	for i, s := range p.spans(min(p.MaxRetries, spansShown)) {
		fmt.Fprintf(w, "%d\t%v\t%s\n", i+2, s.cut(p.MaxDelay), limit)
	}
	if p.MaxRetries > spansShown {
		fmt.Fprintf(w, "to %d\tand so on\t%s\n", uint64(p.MaxRetries)+1, limit)
	}
	w.Flush()
	fmt.Fprintln(&out)
	for _, row := range p.facts() {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	w.Flush()
	return out.String()
}

func (p Policy) facts() [][2]string {
	worst := "no limit but the context's"
	if d, ok := p.WorstCase(); ok {
		worst = d.String()
	}
	facts := [][2]string{{"repeated", "nothing"}}
	if p.MaxRetries > 0 {
		facts = [][2]string{
			{"repeated", p.repeated()},
			{"may heal", p.heals()},
			{"Retry-After", p.retryAfterRule()},
		}
	}
	if g := p.guardNames(); g != "" {
		facts = append(facts, [2]string{"guards", g})
	}
	return append(facts,
		[2]string{"silence", orNone(p.IdleTimeout)},
		[2]string{"in all", orNone(p.TotalTimeout)},
		[2]string{"worst case", worst})
}

func (p Policy) guardNames() string {
	var names []string
	if p.Budget != nil {
		names = append(names, "retry budget")
	}
	if p.Breaker != nil {
		names = append(names, "circuit breaker")
	}
	if p.Offline != nil {
		names = append(names, "offline gate")
	}
	return strings.Join(names, ", ")
}

func (p Policy) repeated() string {
	what := make([]string, 0, 3)
	if len(p.Methods) > 0 {
		what = append(what, strings.Join(p.Methods, " "))
	}
	if p.KeyHeader != "" {
		what = append(what, "any with "+p.KeyHeader)
	}
	if p.RetryUnsent {
		what = append(what, "any of which nothing left")
	}
	if len(what) == 0 {
		return "nothing"
	}
	return strings.Join(what, ", ")
}

func (p Policy) heals() string {
	what := "network errors, attempt timeouts"
	if len(p.Statuses) > 0 {
		what = ranges(p.Statuses) + ", " + what
	}
	if p.KeyHeader != "" {
		what += "; 409 while an earlier attempt with the key may be at work"
	}
	if p.Envelope {
		what += `; not if the body says "retryable": false`
	}
	if p.Decide != nil {
		what += "; Decide has the last word"
	}
	return what
}

// ranges writes statuses in a row, those of more than three together as one
// range.
func ranges(statuses []int) string {
	var words []string
	for i := 0; i < len(statuses); {
		n := 1
		for i+n < len(statuses) && statuses[i+n] == statuses[i]+n {
			n++
		}
		if n > 3 {
			words = append(words, fmt.Sprintf("%d-%d", statuses[i], statuses[i+n-1]))
		} else {
			n = 1
			words = append(words, strconv.Itoa(statuses[i]))
		}
		i += n
	}
	return strings.Join(words, " ")
}

func (p Policy) retryAfterRule() string {
	switch p.RetryAfter {
	case ClampRetryAfter:
		return fmt.Sprintf("replaces the wait, at most %v", p.MaxDelay)
	case IgnoreRetryAfter:
		return "is ignored"
	}
	return fmt.Sprintf("is the least wait; above %v the call stops", p.MaxDelay)
}

func orNone(d time.Duration) string {
	if d == 0 {
		return "no limit"
	}
	return d.String()
}
