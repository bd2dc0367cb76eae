package roundtripper

// This file holds what an observer is told.

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// Event is one step of a call. Observe gets them in the order in which they
// happen, one at a time for each call, on the call's own goroutine; only
// [StateSlow] may come from another one.
type Event struct {
	State   State
	Attempt *Attempt // nil before the first
	Report  *Report
}

// State is where a call is.
type State string

// The states of a call.
const (
	StateOffline State = "offline" // waiting for the network
	StateSending State = "sending" // Attempt is on its way
	StateWaiting State = "waiting" // Attempt.Wait says how long
	StateSlow    State = "slow"    // the call has lasted longer than Policy.SlowAfter
	StateDone    State = "done"    // it ended with a 2xx or 3xx
	StateFailed  State = "failed"  // it ended with another status, or an error
)

// Log gives a [Policy.Observe] that writes to l, at level Warn: one line for
// each retry and one for each call that failed, nothing for a call that
// succeeds at once. URLs are written without user info, query and fragment.
func Log(l *slog.Logger) func(Event) {
	return func(e Event) {
		switch e.State {
		case StateWaiting:
			if e.Attempt.Verdict.Reason == "" {
				return // nothing has been sent: the host is left alone
			}
			l.LogAttrs(context.Background(), slog.LevelWarn, "request will be sent again", attrs(e)...)
		case StateFailed:
			l.LogAttrs(context.Background(), slog.LevelWarn, "request failed", attrs(e)...)
		}
	}
}

func attrs(e Event) []slog.Attr {
	as := make([]slog.Attr, 0, 10)
	if a := e.Attempt; a != nil {
		if a.Request != nil {
			as = append(as, slog.String("method", methodOf(a.Request)), slog.String("url", redacted(a.Request.URL)))
		}
		as = append(as, slog.Int("attempt", a.Number))
		if a.StatusCode != 0 {
			as = append(as, slog.Int("status", a.StatusCode))
		}
		if a.Err != nil {
			as = append(as, slog.String("error", redactedError(a.Err)))
		}
		if e.State == StateWaiting {
			as = append(as, slog.String("reason", string(a.Verdict.Reason)), slog.Duration("wait", a.Wait))
		}
	}
	if e.State != StateWaiting {
		as = append(as, slog.String("reason", string(e.Report.Stop)), slog.Duration("elapsed", e.Report.Elapsed.Round(time.Microsecond)))
	}
	if e.Report.RequestID != "" {
		as = append(as, slog.String("request_id", e.Report.RequestID))
	}
	return as
}

// redacted writes u without what may be secret.
func redacted(u *url.URL) string {
	if u == nil {
		return ""
	}
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return plain.String()
}

// redactedError is the text of err with the URLs in it redacted: a base that
// wraps an http.Client puts them there.
func redactedError(err error) string {
	text := err.Error()
	for _, u := range urlsIn(err, nil) {
		clean := "[URL]"
		if parsed, err := url.Parse(u); err == nil {
			clean = redacted(parsed)
		}
		text = strings.ReplaceAll(text, u, clean)
	}
	return text
}

// urlsIn appends the URL of each [*url.Error] in the tree of err.
func urlsIn(err error, urls []string) []string {
	if e, ok := err.(*url.Error); ok && e.URL != "" {
		urls = append(urls, e.URL)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return urlsIn(e.Unwrap(), urls)
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			urls = urlsIn(err, urls)
		}
	}
	return urls
}
