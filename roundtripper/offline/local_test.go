package offline_test

// Which hosts are this machine, against package net.

import (
	"net"
	"testing"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

// exempt asks a gate that has just gone offline.
func exempt(host string) bool {
	g := offline.New(offline.Config{Failures: 1})
	p, _ := g.TryEnter("example.com")
	p.Done(offline.NoPath)
	_, ok := g.TryEnter(host)
	return ok
}

// An address is exempt just if package net takes it for loopback or
// unspecified, in brackets and with a zone as well.
func FuzzExempt(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "127.0.0.001", "::1", "::ffff:127.1.2.3", "::ffff:0.0.0.0", "1.2.3.4", "fe80::1", "::127.0.0.1", "0::", "1.2.3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		ip := net.ParseIP(host)
		if ip == nil {
			return // a name
		}
		want := ip.IsLoopback() || ip.IsUnspecified()
		for _, form := range []string{host, "[" + host + "]"} {
			if got := exempt(form); got != want {
				t.Errorf("%q: exempt %t, want %t", form, got, want)
			}
		}
		if ip.To4() == nil {
			if got := exempt("[" + host + "%25eth0]"); got != want {
				t.Errorf("%q with a zone: exempt %t, want %t", host, got, want)
			}
		}
	})
}
