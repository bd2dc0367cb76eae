package offline

// The verdict: what an attempt's error says about the network.

import (
	"context"
	"errors"
	"net"
)

// A Verdict is what an attempt says about the network. The zero Verdict is
// Unknown, and so is any that isn't listed here.
type Verdict int

const (
	// Unknown says nothing: the caller gave up, or a peer was found and then
	// fell silent, or it isn't who it should be.
	Unknown Verdict = iota
	// Reached says that something came back from beyond this machine.
	Reached
	// NoPath says that there was no way out.
	NoPath
)

// String returns "unknown", "reached" or "no path".
func (v Verdict) String() string {
	switch v {
	case Reached:
		return "reached"
	case NoPath:
		return "no path"
	}
	return "unknown"
}

// Classify returns the verdict on an attempt that ended with err. It goes by
// the types of errors, never by their text:
//
//   - nil, a refused or reset connection, a name that doesn't exist and a TLS
//     alert from the peer are answers: [Reached];
//   - any other failure to resolve a name, an unreachable network or host, a
//     network that is down, an address that can't be assigned and a connection
//     that isn't made in time mean [NoPath];
//   - all else is [Unknown], such as a certificate that doesn't verify, which
//     may be that of a hotel's login page, or an answer that doesn't come.
//
// A deadline that ends while a connection is made looks the same whosever it
// is. So if the caller's own context has ended, don't ask: it is Unknown.
func Classify(err error) Verdict {
	switch {
	case err == nil:
		return Reached
	case errors.Is(err, context.Canceled):
		return Unknown
	}
	// Before errnos: a DNSError carries none, even if there is no network.
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return Reached
		}
		return NoPath
	}
	switch {
	case isAny(err, answered), alerted(err):
		return Reached
	case isAny(err, pathless), dialTimedOut(err):
		return NoPath
	}
	return Unknown
}

func isAny(err error, targets []error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// alerted reports whether the peer sent a TLS alert. The alert's own type is
// not exported, but its wrapping is part of crypto/tls.
func alerted(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

// dialTimedOut reports whether err is, or wraps, a connection that wasn't made
// in time. An OpError may be inside another, such as that of a proxy.
func dialTimedOut(err error) bool {
	for {
		op, ok := errors.AsType[*net.OpError](err)
		if !ok {
			return false
		}
		if op.Op == "dial" && (op.Timeout() || isAny(op.Err, timedOut)) {
			return true
		}
		err = op.Err
	}
}
