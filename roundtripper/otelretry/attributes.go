package otelretry

// This file holds the attributes: those of the conventions, and those of our
// own.

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/internal/redact"
)

// The names of our own attributes.
const (
	keyAttempts   = "rebound.attempts"
	keyStop       = "rebound.stop"
	keyRequestID  = "rebound.request_id"
	keyRetryAfter = "rebound.retry_after"
	keyFallback   = "rebound.fallback"
	keyAttempt    = "rebound.attempt"
	keyReason     = "rebound.reason"
	keyWaitKind   = "rebound.wait.kind"
	keyWaitTime   = "rebound.wait.duration"
	keyState      = "rebound.breaker.state"
)

// other stands for the many values that a metric must not tell apart.
const other = "_OTHER"

// requestAttributes are what is known before the request is sent, with room for
// one more.
func requestAttributes(req *http.Request, more []attribute.KeyValue) []attribute.KeyValue {
	as := make([]attribute.KeyValue, 0, 6+len(more))
	method := methodOf(req)
	as = append(as, method)
	if method == semconv.HTTPRequestMethodOther {
		as = append(as, semconv.HTTPRequestMethodOriginal(req.Method))
	}
	if req.URL != nil {
		u := redact.Plain(req.URL)
		as = hostOf(&u).append(append(as, semconv.URLFull(u.String())))
	}
	return append(as, more...)
}

func responseAttributes(resp *http.Response) []attribute.KeyValue {
	as := make([]attribute.KeyValue, 0, 2)
	as = append(as, semconv.HTTPResponseStatusCode(resp.StatusCode))
	switch {
	case resp.ProtoMajor == 1:
		as = append(as, semconv.NetworkProtocolVersion("1."+strconv.Itoa(resp.ProtoMinor)))
	case resp.ProtoMajor > 1:
		as = append(as, semconv.NetworkProtocolVersion(strconv.Itoa(resp.ProtoMajor)))
	}
	return as
}

// methodOf is the method of req. Those that the conventions do not know are one.
func methodOf(req *http.Request) attribute.KeyValue {
	switch req.Method {
	case "", http.MethodGet:
		return semconv.HTTPRequestMethodGet
	case http.MethodHead:
		return semconv.HTTPRequestMethodHead
	case http.MethodPost:
		return semconv.HTTPRequestMethodPost
	case http.MethodPut:
		return semconv.HTTPRequestMethodPut
	case http.MethodPatch:
		return semconv.HTTPRequestMethodPatch
	case http.MethodDelete:
		return semconv.HTTPRequestMethodDelete
	case http.MethodConnect:
		return semconv.HTTPRequestMethodConnect
	case http.MethodOptions:
		return semconv.HTTPRequestMethodOptions
	case http.MethodTrace:
		return semconv.HTTPRequestMethodTrace
	case "QUERY":
		return semconv.HTTPRequestMethodQuery
	}
	return semconv.HTTPRequestMethodOther
}

// methodName is the name of a span for req.
func methodName(req *http.Request) string {
	if method := methodOf(req); method != semconv.HTTPRequestMethodOther {
		return method.Value.AsString()
	}
	return "HTTP"
}

// errorType classes err, in few words: the reason of a call, what ended a
// context, a connection that ended, or the type of the error.
func errorType(err error) string {
	if failed, ok := err.(*roundtripper.Error); ok {
		return string(failed.Reason)
	}
	if errors.Is(err, context.Canceled) {
		return "canceled"
	}
	if t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && t.Timeout() {
		return "timeout"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "eof"
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		err = dns // more telling than the dial around it
	}
	return semconv.ErrorType(err).Value.AsString()
}

// statusType classes a response that is a failure.
func statusType(status int) string { return strconv.Itoa(status) }
