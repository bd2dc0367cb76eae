package main

// The time line: what happens, line by line, as it happens.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// timeline writes lines with the time since it was made. Its methods are for any goroutine.
type timeline struct {
	w     io.Writer
	start time.Time

	mu      sync.Mutex
	numbers map[string]int // of deliveries, by their IDs; nil: there is only one
}

func newTimeline(w io.Writer, quiet, several bool) *timeline {
	t := &timeline{w: w, start: time.Now()}
	if quiet {
		t.w = io.Discard
	}
	if several {
		t.numbers = map[string]int{}
	}
	return t
}

// line writes one.
func (t *timeline) line(label, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := fmt.Sprintf("%8.3fs  %-11s  %s", time.Since(t.start).Seconds(), label, text)
	io.WriteString(t.w, strings.TrimRight(line, " ")+"\n")
}

// observe tells the steps of deliveries.
func (t *timeline) observe(e roundtripper.Event) {
	a := e.Attempt
	if a == nil {
		return
	}
	n := t.number(a)
	switch e.State {
	case roundtripper.StateSending:
		text := ""
		if a.Number == 1 {
			text = a.Request.Method + " " + redacted(a.Request.URL) + ", delivery " + a.Request.Header.Get("Webhook-Delivery-Id")
		}
		t.line(fmt.Sprintf("attempt %d", a.Number), n+text)
	case roundtripper.StateWaiting:
		t.outcome(n, a)
		t.line("wait", fmt.Sprintf("%s%v before attempt %d: may heal (%s)", n, a.Wait, a.Number+1, a.Verdict.Reason))
	case roundtripper.StateDone, roundtripper.StateFailed:
		t.outcome(n, a)
	}
}

// outcome tells what became of an attempt.
func (t *timeline) outcome(n string, a *roundtripper.Attempt) {
	switch {
	case a.Request == nil: // told before
	case a.Err != nil:
		t.line("error", n+clean(a.Err))
	default:
		text := statusText(a.StatusCode)
		if a.Response != nil && a.Response.Header.Get("Webhook-Duplicate") == "true" {
			text += ", duplicate"
		}
		t.line("answer", n+text)
	}
}

// number tells several deliveries apart.
func (t *timeline) number(a *roundtripper.Attempt) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.numbers == nil || a.Request == nil {
		return ""
	}
	id := a.Request.Header.Get("Webhook-Delivery-Id")
	n, ok := t.numbers[id]
	if !ok {
		n = len(t.numbers) + 1
		t.numbers[id] = n
	}
	return fmt.Sprintf("#%d ", n)
}

// statusText is a status with its name.
func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// briefly is the innermost of err, without all that it came through.
func briefly(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return clean(err)
		}
		err = inner
	}
}
