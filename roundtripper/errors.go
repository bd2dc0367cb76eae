package roundtripper

// This file holds the errors that a caller meets.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Error is a call that gave no response. [errors.Is] finds everything that
// applies in it: [context.Canceled], [context.DeadlineExceeded], the context's
// cause, the base transport's own error.
type Error struct {
	Reason Reason  // why the call stopped: Report.Stop
	Report *Report // never nil, but in one that somebody else made
	Err    error   // what went wrong last; never nil
}

func (e *Error) Error() string {
	if e.Reason == ReasonInvalid {
		return e.Err.Error() // It says so, and nothing was attempted.
	}
	n := 0
	if e.Report != nil {
		n = len(e.Report.Attempts)
	}
	if n == 1 {
		return fmt.Sprintf("roundtripper: %s after 1 attempt: %v", e.Reason, e.Err)
	}
	return fmt.Sprintf("roundtripper: %s after %d attempts: %v", e.Reason, n, e.Err)
}

// Unwrap gives Err.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether time ran out: an attempt's, the call's or the
// context's. [net/url.Error.Timeout] passes it on.
func (e *Error) Timeout() bool {
	if e.Reason == ReasonDeadline || e.Reason == ReasonAttemptTimeout {
		return true
	}
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](e.Err)
	return ok && t.Timeout()
}

// Temporary makes Error a [net.Error], which retrying layers further out look
// for. It decides nothing here, and is what nobody can know: a timeout is
// temporary, and anything else is what the base's own error says it is.
func (e *Error) Temporary() bool {
	if e.Timeout() {
		return true
	}
	t, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](e.Err)
	return ok && t.Temporary()
}

// RetryAfter is how long to wait, from the last response on, before another
// call makes sense: see [Report.RetryAfter].
func (e *Error) RetryAfter() (time.Duration, bool) { return e.Report.RetryAfter() }

// Errors that a Transport makes itself.
var (
	errNoResponse = errors.New("base transport returned neither a response nor an error")
	errIDMismatch = errors.New("the response carries another request ID")
	errBodyOver   = errors.New("roundtripper: read of a request body after its attempt")
	errHeldBack   = fmt.Errorf("the host asked to be left alone beyond the deadline: %w", context.DeadlineExceeded)
	errWouldPass  = fmt.Errorf("the next wait would outlast the deadline: %w", context.DeadlineExceeded)
	errTooLate    = errors.New("the response came after its time")
	errBodyLength = errors.New("the request body is not as long as its ContentLength")
	errNoBody     = errors.New("GetBody returned no body")
)

// timeoutError says which clock of ours ran out. It is a [net.Error] and is
// [context.DeadlineExceeded]; err is what the base made of it, if anything.
type timeoutError struct {
	clock string
	limit time.Duration
	err   error
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("%s of %v exceeded", e.clock, e.limit)
}

func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

func (e *timeoutError) Unwrap() []error {
	return withoutNil(context.DeadlineExceeded, e.err)
}

// endedError is a call that ended with its context, or that had to since its
// deadline was certain to pass: the context's error, its cause, and what had
// gone wrong before. It is a [net.Error], as a context's DeadlineExceeded is.
type endedError struct {
	ended, cause, last error
}

func (e *endedError) Error() string {
	text := e.ended.Error()
	if e.cause != nil && e.cause.Error() != text {
		text += ": " + e.cause.Error()
	}
	if e.last != nil && e.last.Error() != text {
		text += " (last: " + e.last.Error() + ")"
	}
	return text
}

func (e *endedError) Timeout() bool   { return errors.Is(e.ended, context.DeadlineExceeded) }
func (e *endedError) Temporary() bool { return e.Timeout() }

func (e *endedError) Unwrap() []error { return withoutNil(e.ended, e.cause, e.last) }

func withoutNil(errs ...error) []error {
	kept := errs[:0]
	for _, err := range errs {
		if err != nil {
			kept = append(kept, err)
		}
	}
	return kept
}

// statusOnly is the failure of an attempt that got a response, where an error
// has to speak of it.
func statusOnly(code int) error {
	return fmt.Errorf("status %d", code)
}

// keptBody is the most that a StatusError reads of a body.
const keptBody = 64 << 10

// StatusError is a response outside 200 to 299, as [CheckStatus] reports it.
type StatusError struct {
	StatusCode int
	Report     *Report // nil: the response came from no Transport of ours
	Body       []byte  // at most the first 64 KiB
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("roundtripper: status %d", e.StatusCode)
	if name := http.StatusText(e.StatusCode); name != "" {
		text += " " + strings.ToLower(name)
	}
	if e.Report != nil && len(e.Report.Attempts) > 1 {
		text += fmt.Sprintf(" after %d attempts", len(e.Report.Attempts))
	}
	return text
}

// RetryAfter is how long the response asked to wait: see [Report.RetryAfter].
func (e *StatusError) RetryAfter() (time.Duration, bool) { return e.Report.RetryAfter() }

// Retryable reports whether the failure may heal, as the policy judged it. It
// does not say that the request may be repeated: a write without a key that
// stopped as [ReasonNotRepeatable], see [Report.Stop], may have been done.
func (e *StatusError) Retryable() bool {
	last := e.Report.last()
	return last != nil && last.Verdict.Retry
}

// CheckStatus returns nil for a response of 200 to 299 and leaves it alone. For
// any other it reads at most 64 KiB of the body, closes it and returns a
// [*StatusError].
func CheckStatus(resp *http.Response) error {
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil
	}
	e := &StatusError{StatusCode: resp.StatusCode}
	e.Report, _ = ReportFrom(resp)
	if resp.Body != nil {
		// A body that breaks off tells what it can: the status is the error.
		e.Body, _ = io.ReadAll(io.LimitReader(resp.Body, keptBody))
		resp.Body.Close()
	}
	return e
}
