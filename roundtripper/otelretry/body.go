package otelretry

// This file holds the response body that ends a span.

import (
	"io"
	"net/http"
	"sync/atomic"

	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// spanBody is a span that ends once: when the response body that it covers has
// been read to its end, has failed or is closed, whichever is first, or earlier
// where there is nothing to cover. A body may be closed while it is read.
type spanBody struct {
	io.ReadCloser
	span   trace.Span
	over   atomic.Bool
	failed bool // it says why already: what becomes of the body is no more than a consequence
}

// cover puts b in the place of resp's body, or ends the span at once if there is
// none whose end one could see. The body of a 101 stays as it is: it is a
// connection, and not only a reader.
func (b *spanBody) cover(resp *http.Response) {
	if resp == nil || resp.Body == nil || resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		b.end(nil)
		return
	}
	b.ReadCloser = resp.Body
	resp.Body = b
}

func (b *spanBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch err {
	case nil:
	case io.EOF:
		b.end(nil)
	default:
		b.end(err)
	}
	return n, err
}

func (b *spanBody) Close() error {
	defer b.end(nil) // after the body's own Close, in which a span inside of it ends
	return b.ReadCloser.Close()
}

// judge sets the span's status as the conventions for HTTP clients have it. The
// text of an error is left out: it may quote URLs.
func (b *spanBody) judge(resp *http.Response, err error) {
	switch {
	case err != nil:
		b.fail(errorType(err))
	case resp == nil:
		b.fail("no_response")
	case resp.StatusCode >= 400:
		b.fail(statusType(resp.StatusCode))
	}
}

func (b *spanBody) fail(errorType string) {
	b.failed = true
	b.span.SetAttributes(semconv.ErrorTypeKey.String(errorType))
	b.span.SetStatus(codes.Error, "")
}

// end ends the span, once. err is how the body failed.
func (b *spanBody) end(err error) {
	if b.over.Swap(true) {
		return
	}
	if err != nil && !b.failed {
		b.fail(errorType(err))
	}
	b.span.End()
}

// abandon is the end of what never returned.
func (b *spanBody) abandon() {
	b.fail("panic")
	b.end(nil)
}
