package roundtripper

// This file holds the witnesses of whether anything of an attempt left: how far
// its trace saw it get towards a connection, and what its error proves.

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
)

// mayHaveLeft reports whether anything of the request may have left. A body that
// was read may have. The trace of a connection is the better witness than err,
// which may come from a later hop; without one, an error of dialling is proof,
// unless there is a body at which nobody looked on: what was registered with the
// base for a protocol of its own may have sent it.
func (a *attempt) mayHaveLeft(err error) bool {
	if a.out.wasRead() {
		return true
	}
	if a.has(connAsked) {
		return a.has(connGot)
	}
	if inner, ok := errors.AsType[*Error](err); ok {
		last := inner.Report.last()
		return last != nil && last.Sent
	}
	return a.out == nil && hasBody(&a.req) || !isUnsent(err)
}

// isUnsent reports whether err arose before there was a connection to send on.
func isUnsent(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	return isA[*net.DNSError](err) || isA[*tls.CertificateVerificationError](err) || isA[tls.RecordHeaderError](err)
}

// traced is a context that holds a client trace. net/http and net keep the keys
// to themselves, but what a context answers to one shows it.
var traced = httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{ConnectStart: func(_, _ string) {}})

func isTraceKey(key any) bool { return traced.Value(key) != nil }

// connTrace holds the caller's own trace and, with it, ours, which notes how
// far the attempt got towards a connection. One that asked for a connection and
// got none sent nothing, whatever the error is.
func (a *attempt) connTrace() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ask().trace == nil {
		a.asked.trace = httptrace.WithClientTrace(a.call.ctx(), &httptrace.ClientTrace{
			GetConn:      func(string) { a.marks.Or(connAsked) },
			DNSStart:     func(httptrace.DNSStartInfo) { a.marks.Or(connDials) },
			ConnectStart: func(_, _ string) { a.marks.Or(connDials) },
			ConnectDone: func(_, _ string, err error) {
				if err == nil {
					a.marks.Or(connStood)
				}
			},
			GotConn: func(httptrace.GotConnInfo) { a.marks.Or(connGot) },
		})
	}
	return a.asked.trace
}

// dialling reports whether the attempt was still making its connection.
func (a *attempt) dialling() bool {
	return a.marks.Load()&(connDials|connStood|connGot) == connDials
}
