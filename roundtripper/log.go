package roundtripper

// This file holds what is written to a log, and what is kept out of it.

import (
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
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
	as = append(as, slog.String("method", methodOf(req)), slog.String("url", bounded(redacted(req.URL))))
	if a := e.Attempt; a != nil {
		as = append(as, slog.Int("attempt", a.Number))
		if a.StatusCode != 0 {
			as = append(as, slog.Int("status", a.StatusCode))
		}
		if a.Err != nil {
			as = append(as, slog.String("error", redactedText(a.Err.Error())))
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
	host := u.Host[strings.LastIndexByte(u.Host, '@')+1:] // put together by hand, it may hold user info
	plain := url.URL{Scheme: u.Scheme, Host: host, Path: u.Path, RawPath: u.RawPath}
	return plain.String()
}

// longestText is how much is written of a text that somebody else has chosen.
const longestText = 256

// redactedText is the text of an error with the URLs in it redacted, and no
// longer than it may be. It goes by the text, since an error may quote that of
// another one without holding it. A URL in quotation marks, as package net/url
// writes it, ends with these; another one ends with the next white space.
func redactedText(text string) string {
	text = badPort.ReplaceAllString(text, "invalid port")
	var out strings.Builder
	for out.Len() <= longestText {
		mark := strings.Index(text, "://")
		if mark < 0 {
			out.WriteString(text)
			break
		}
		start, end := mark, mark+len("://")
		for start > 0 && isSchemeByte(text[start-1]) {
			start--
		}
		stop := " \t\r\n"
		if start > 0 && text[start-1] == '"' {
			stop = `"`
		}
		escaped := false
		for end < len(text) && strings.IndexByte(stop, text[end]) < 0 {
			if text[end] == '\\' {
				end++ // what it escapes is part of the URL
				escaped = true
			}
			end++
		}
		end = min(end, len(text))
		clean := "[URL]"
		if u, err := url.Parse(text[start:end]); err == nil && !escaped && !strings.Contains(u.Path, "://") {
			clean = redacted(u) // else where one ends and another begins is anybody's guess
		}
		out.WriteString(text[:start] + clean)
		text = text[end:]
	}
	return bounded(out.String())
}

// badPort is what package net/url says of user info with a /, ? or # in it: it
// quotes the beginning of the password.
var badPort = regexp.MustCompile(`invalid port \S+ after host`)

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

func isSchemeByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
}
