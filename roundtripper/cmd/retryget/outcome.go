package main

// This file holds how a fetch may end, in words.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// outcome is the last line of a fetch, and its exit status.
type outcome struct {
	label, text string
	exit        int
}

func failed(text string) outcome { return outcome{"failed", text, exitFailed} }

func interrupted(text string) outcome { return outcome{"interrupted", text, exitInterrupted} }

func done(bytes int64, r *roundtripper.Report) outcome {
	return outcome{"done", plural(bytes, "byte") + ", " + tally(r), exitOK}
}

// noResponse is the end of a call without a response.
func noResponse(ctx context.Context, req *http.Request, err error) outcome {
	e, ok := errors.AsType[*roundtripper.Error](err)
	switch {
	case ctx.Err() != nil && ok:
		return interrupted("after " + tally(e.Report))
	case ctx.Err() != nil:
		return interrupted("at a redirect")
	case ok:
		return failed(stopped(req, e.Report, clean(e.Err)))
	}
	if many, ok := errors.AsType[tooManyRedirects](err); ok {
		return failed(many.Error())
	}
	// The client has only one more error of its own, and that shows the URL.
	return failed("a redirect leads to what is no URL")
}

// badStatus is the end with a response that is no 2xx.
func badStatus(resp *http.Response, r *roundtripper.Report) outcome {
	return failed(stopped(resp.Request, r, statusText(resp.StatusCode)))
}

// brokeOff is the end of a body that was being written already, so that no
// policy could repeat it.
func brokeOff(ctx context.Context, err error, bytes int64) outcome {
	after := "after " + plural(bytes, "byte") + " of the body"
	switch {
	case ctx.Err() != nil:
		return interrupted(after)
	case errors.Is(err, context.DeadlineExceeded):
		return failed("cut off " + after + ": " + clean(err) + " (-policy transfer limits only silence)")
	}
	return failed("cut off " + after + ": " + clean(err))
}

// stopped says why there was no further attempt after what was the last
// failure.
func stopped(req *http.Request, r *roundtripper.Report, last string) string {
	text := string(r.Stop) + ": " + last
	if why := why(req, r); why != "" {
		text += "; " + why
	}
	text += " (" + tally(r)
	if r.RequestID != "" {
		text += ", request ID " + r.RequestID
	}
	return text + ")"
}

// why explains the reason for stopping to somebody who does not know them all.
func why(req *http.Request, r *roundtripper.Report) string {
	switch r.Stop {
	case roundtripper.ReasonOK:
		return "not followed, and no 2xx"
	case roundtripper.ReasonStatus:
		return "this policy takes it to be final"
	case roundtripper.ReasonPermanent:
		return "another attempt would meet the same"
	case roundtripper.ReasonEnvelope:
		return "the server said not to retry"
	case roundtripper.ReasonContract:
		return "another attempt would not mend that"
	case roundtripper.ReasonRetriesSpent:
		return "no retry is left"
	case roundtripper.ReasonDeadline:
		return "no time is left for another attempt"
	case roundtripper.ReasonNotReplayable:
		return "the body can't be sent again"
	case roundtripper.ReasonNotRepeatable:
		return "this policy does not repeat a " + req.Method + " without an idempotency key (-key)"
	case roundtripper.ReasonRetryAfterTooLong:
		if at, ok := r.RetryAt(); ok {
			return "it asks for a longer wait than -max-delay; try again at " + at.Format(time.DateTime)
		}
	}
	return ""
}

// tally is what a call took.
func tally(r *roundtripper.Report) string {
	return plural(int64(len(r.Attempts)), "attempt") + " in " + short(r.Elapsed)
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// statusText is a status with its name, which a server might spell any way.
func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// short is d as exactly as people want to read it.
func short(d time.Duration) string {
	if d < time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}
