package webhookmw

// What is written to a log, and what is kept out of it.

import (
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"
)

// Log returns a [Config.Observe] that writes to l: one line for each delivery that was refused, that the handler did not
// take or that could not be recorded, one for each that came before, and nothing for a delivery that is accepted at first
// go. The lines are written with the request's context.
//
//   - Error is what has to be mended on this side: the store failed or is full, the handler panicked or took the
//     connection, something reads bodies before this middleware does.
//   - Warn is what may lose a genuine sender's events, or be an attack: a wrong secret or clock, a body that is too large
//     or is no event, a handler that failed, signed bytes that came before under another delivery ID.
//   - Info is what happens every day, repeats and what strangers send: no signature, or none that could ever match.
//
// A line holds no query, header, signature, secret or body. Of the texts that others have chosen it holds the beginning:
// of an ID or a type 128 bytes, of the path and of an error 256. URLs in the text of an error are left out; anything
// else that a Contract or a Store says in its errors is written.
func Log(l *slog.Logger) func(Event) {
	return func(e Event) {
		if level, text := e.line(); text != "" {
			l.LogAttrs(e.Request.Context(), level, text, e.attrs()...)
		}
	}
}

// line is how important the event is, and what it comes to; nothing for what needs no line.
func (e *Event) line() (level slog.Level, text string) {
	switch e.Reason {
	case ReasonAccepted:
		switch {
		case e.Delivery.SignatureReused:
			return slog.LevelWarn, "delivery taken"
		case e.Delivery.EventSeen:
			return slog.LevelInfo, "delivery taken"
		}
		return 0, ""
	case ReasonDuplicate:
		return slog.LevelInfo, "delivery was taken before"
	case ReasonNotRecorded:
		if e.Status >= 500 { // the sender was told to come back
			return slog.LevelError, "delivery not taken"
		}
		return slog.LevelError, "delivery taken but not recorded"
	case ReasonFailed:
		return slog.LevelWarn, "delivery not taken"
	case ReasonPanicked, ReasonHijacked:
		return slog.LevelError, "delivery not taken"
	case ReasonStore, ReasonStoreFull, ReasonBodyConsumed:
		return slog.LevelError, "delivery refused"
	case ReasonEncoding, ReasonTooLarge, ReasonMilliseconds, ReasonStale, ReasonFuture, ReasonSignature,
		ReasonNotUTF8, ReasonBOM, ReasonContract, ReasonMismatch:
		return slog.LevelWarn, "delivery refused"
	}
	return slog.LevelInfo, "delivery refused"
}

// How much is written of a text that somebody else has chosen.
const (
	longestName = 128
	longestText = 256
)

func (e *Event) attrs() []slog.Attr {
	as := make([]slog.Attr, 0, 10)
	as = append(as, slog.String("reason", string(e.Reason)))
	if e.Status != 0 {
		as = append(as, slog.Int("status", e.Status))
	}
	if e.Request.URL != nil {
		as = append(as, slog.String("path", bounded(e.Request.URL.Path, longestText)))
	}
	if d := e.Delivery; d != nil {
		for _, name := range []struct{ key, text string }{{"event", d.EventID}, {"type", d.Type}, {"delivery", d.DeliveryID}} {
			if name.text != "" {
				as = append(as, slog.String(name.key, bounded(name.text, longestName)))
			}
		}
		if d.EventSeen && !d.Duplicate {
			as = append(as, slog.Bool("event_seen", true))
		}
		if d.SignatureReused {
			as = append(as, slog.Bool("signature_reused", true))
		}
	}
	if e.Err != nil {
		as = append(as, slog.String("error", errorText(e.Err.Error())))
	}
	return append(as, slog.Duration("elapsed", e.Elapsed.Round(time.Microsecond)))
}

// errorText is the beginning of an error's text, without URLs. Looking at ten times what is written is enough for that.
func errorText(text string) string {
	return bounded(withoutURLs(withoutPorts(bounded(text, 10*longestText))), longestText)
}

// bounded is text, cut off between two characters if it is longer than most.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// withoutURLs is text with each URL in it left out: it may hold a password, or a query. One that stands in quotation marks,
// as package net/url quotes them, ends with these; another one ends with the next white space.
func withoutURLs(text string) string {
	var out strings.Builder
	for {
		mark := strings.Index(text, "://")
		if mark < 0 {
			return out.String() + text
		}
		start, end := mark, mark+len("://")
		for start > 0 && isSchemeByte(text[start-1]) {
			start--
		}
		out.WriteString(text[:start] + "[URL]")
		stop := " \t\r\n"
		if start > 0 && text[start-1] == '"' {
			stop = `"`
		}
		for end < len(text) && strings.IndexByte(stop, text[end]) < 0 {
			if text[end] == '\\' {
				end++ // what it escapes is part of the URL
			}
			end++
		}
		text = text[min(end, len(text)):]
	}
}

// withoutPorts cuts what package net/url says of user info with a /, ? or # in it: it takes the beginning of the password
// for a port, and quotes it.
func withoutPorts(text string) string {
	for {
		before, rest, _ := strings.Cut(text, "invalid port ")
		_, after, found := strings.Cut(rest, " after host")
		if !found {
			return text
		}
		text = before + "invalid port" + after
	}
}

func isSchemeByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
}
