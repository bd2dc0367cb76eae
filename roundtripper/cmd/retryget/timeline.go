package main

// This file holds the time line: what a call does, line by line, as it happens.

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rebound-go/rebound/retryafter"
	"github.com/rebound-go/rebound/roundtripper"
)

// timeline writes lines with the time since it was made. On a terminal it also
// keeps a last line moving while something lasts; the lines that stay are the
// same.
//
// Its methods are for one goroutine, but note is for any.
type timeline struct {
	w     io.Writer
	live  bool
	start time.Time
	told  bool   // the outcome of the last attempt stands there
	later string // what will stand where a line is moving

	quit, gone chan struct{} // nil: no line is moving

	mu      sync.Mutex // guards what follows, and w
	painted int        // characters of the moving line that are on the screen
}

func newTimeline(w io.Writer, live bool) *timeline {
	return &timeline{w: w, live: live, start: time.Now()}
}

// observe is a [roundtripper.Policy.Observe].
func (t *timeline) observe(e roundtripper.Event) {
	a := e.Attempt
	switch e.State {
	case roundtripper.StateSending:
		text := ""
		if a.Number == 1 {
			text = a.Request.Method + " " + redacted(a.Request.URL)
		}
		t.line("attempt "+strconv.Itoa(a.Number), text)
		t.told = false
		t.move(func() string { return t.format("", "no answer yet") })
	case roundtripper.StateWaiting:
		t.outcome(a)
		t.wait(a)
	case roundtripper.StateDone, roundtripper.StateFailed:
		if e.Report.Stop != roundtripper.ReasonCanceled {
			t.outcome(a)
		}
	}
}

// outcome tells what became of a, once.
func (t *timeline) outcome(a *roundtripper.Attempt) {
	if a == nil || t.told {
		return
	}
	t.told = true
	switch {
	case a.Err == nil:
		text := statusText(a.StatusCode)
		if asked, ok := retryafter.FromResponse(a.Response, time.Now()); ok {
			text += ", asks for a wait of " + short(asked)
		}
		t.line("answer", text)
	case a.StatusCode != 0:
		t.line("error", statusText(a.StatusCode)+", but "+clean(a.Err))
	default:
		t.line("error", clean(a.Err))
	}
}

// wait tells of the wait after a, and counts it down.
func (t *timeline) wait(a *roundtripper.Attempt) {
	then := fmt.Sprintf(" before attempt %d: may heal (%s)", a.Number+1, a.Verdict.Reason)
	whole := t.format("wait", short(a.Wait)+then)
	if !t.live {
		t.write(whole)
		return
	}
	end := time.Now().Add(a.Wait)
	count := func() string {
		left := max(0, time.Until(end))
		return t.format("wait", fmt.Sprintf("%.1fs of %s%s", left.Seconds(), short(a.Wait), then))
	}
	t.later = whole
	t.paint(count())
	t.move(count)
}

// line writes a line; what was moving stops.
func (t *timeline) line(label, text string) {
	t.settle()
	t.note(label, text)
}

// note writes a line above what is moving.
func (t *timeline) note(label, text string) { t.write(t.format(label, text)) }

// format is a line with its time, without its end.
func (t *timeline) format(label, text string) string {
	line := fmt.Sprintf("%8.3fs  %-11s  %s", time.Since(t.start).Seconds(), label, text)
	return strings.TrimRight(line, " ")
}

// frame is how often a moving line is drawn.
const frame = 100 * time.Millisecond

// move draws a line again and again until settle.
func (t *timeline) move(draw func() string) {
	if !t.live {
		return
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	t.quit, t.gone = quit, gone
	go func() {
		defer close(gone)
		ticks := time.NewTicker(frame)
		defer ticks.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticks.C:
				t.paint(draw())
			}
		}
	}()
}

// settle ends a moving line, and writes what is to stand there.
func (t *timeline) settle() {
	if t.quit == nil {
		return
	}
	close(t.quit)
	<-t.gone
	t.quit = nil
	if t.later != "" {
		t.write(t.later)
		t.later = ""
		return
	}
	t.write("")
}

// write puts a line where the moving one is; "": nothing.
func (t *timeline) write(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line != "" {
		line += "\n"
	}
	if t.painted > 0 {
		// Two more than were painted: the terminal shows ^C there.
		line = "\r" + strings.Repeat(" ", t.painted+2) + "\r" + line
		t.painted = 0
	}
	if line != "" {
		io.WriteString(t.w, line)
	}
}

// paint draws the moving line over itself.
func (t *timeline) paint(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	pad := strings.Repeat(" ", max(0, t.painted-len(line)))
	io.WriteString(t.w, "\r"+line+pad)
	t.painted = len(line)
}
