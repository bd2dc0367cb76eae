package roundtripper

// This file holds what is written to a log, and what is kept out of it.

import (
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/rebound-go/rebound/roundtripper/internal/redact"
)

// Log gives a [Policy.Observe] that writes to l, at level Warn: one line for
// each retry and one for each call that failed, also where [Policy.Fallback]
// served its caller, nothing for a call that succeeds at once. The lines are
// written with the request's context. URLs are written without user info, query
// and fragment, those in the text of an error too, and of a URL and of such a
// text no more than 256 bytes: a server may have chosen them.
func Log(l *slog.Logger) func(Event) {
	return func(e Event) {
		switch e.State {
		case StateWaiting:
			if e.Attempt.Verdict.Reason == "" {
				return // nothing has been sent: the host is left alone
			}
			l.LogAttrs(e.Request.Context(), slog.LevelWarn, "request will be sent again", attrs(e)...)
		case StateFailed:
			l.LogAttrs(e.Request.Context(), slog.LevelWarn, "request failed", attrs(e)...)
		case StateDone:
			if e.Report.Fallback {
				l.LogAttrs(e.Request.Context(), slog.LevelWarn, "request failed, fallback served", attrs(e)...)
			}
		}
	}
}

func attrs(e Event) []slog.Attr {
	as := make([]slog.Attr, 0, 10)
	req := e.Request
	if e.Attempt != nil && e.Attempt.Request != nil {
		req = e.Attempt.Request // its URL may be Prepare's
	}
	as = append(as, slog.String("method", methodOf(req)), slog.String("url", bounded(redact.URL(req.URL))))
	if a := e.Attempt; a != nil {
		as = append(as, slog.Int("attempt", a.Number))
		if a.StatusCode != 0 {
			as = append(as, slog.Int("status", a.StatusCode))
		}
		if a.Err != nil {
			as = append(as, slog.String("error", bounded(redact.Text(a.Err.Error()))))
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

// longestText is how much is written of a text that somebody else has chosen.
const longestText = 256

// bounded is text, cut off between two characters if it is too long.
func bounded(text string) string {
	if len(text) <= longestText {
		return text
	}
	end := longestText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
