package offline

// Hosts on this machine, which work without a network and prove nothing.

import (
	"net/netip"
	"strings"
)

// local reports whether host is this machine: 127.0.0.0/8, ::1, localhost and
// names under it (RFC 6761 section 6.3), and the unspecified addresses, which
// package net dials as this machine. An address may be in brackets, with a
// zone, or mapped to IPv6.
func local(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	name, _, _ = strings.Cut(name, "%")
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	addr = addr.Unmap()
	return addr.IsLoopback() || addr.IsUnspecified()
}
