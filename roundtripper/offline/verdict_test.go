package offline_test

// Verdicts on errors as package net and its callers make them.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

// op wraps as package net does.
func op(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Err: err}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want offline.Verdict
	}{
		{"nil", nil, offline.Reached},

		{"no such name", op("dial", &net.DNSError{Err: "no such host", IsNotFound: true}), offline.Reached},
		{"no such name, and temporary", &net.DNSError{IsNotFound: true, IsTemporary: true}, offline.Reached},
		{"no resolver", op("dial", &net.DNSError{Err: "dial udp 192.0.2.1:53: connect: network is unreachable", IsTemporary: true}), offline.NoPath},
		{"resolver in trouble", &net.DNSError{Err: "server misbehaving", IsTemporary: true}, offline.NoPath},
		{"resolver silent", &net.DNSError{Err: "i/o timeout", IsTimeout: true}, offline.NoPath},
		{"any other DNS error", &net.DNSError{Err: "cannot unmarshal DNS message"}, offline.NoPath},
		{"resolver, time ran out", op("dial", &net.DNSError{IsTimeout: true, UnwrapErr: context.DeadlineExceeded}), offline.NoPath},
		{"resolver, caller gave up", op("dial", &net.DNSError{UnwrapErr: context.Canceled}), offline.Unknown},

		{"dial, time ran out", op("dial", os.ErrDeadlineExceeded), offline.NoPath},
		{"dial, time ran out, as a context says it", op("dial", context.DeadlineExceeded), offline.NoPath},
		{"dial through a proxy, time ran out", op("proxyconnect", op("dial", os.ErrDeadlineExceeded)), offline.NoPath},
		{"dial, anything else", op("dial", errors.New("odd")), offline.Unknown},
		{"read, time ran out", op("read", os.ErrDeadlineExceeded), offline.Unknown},
		{"write, time ran out", op("write", os.ErrDeadlineExceeded), offline.Unknown},
		{"proxy, time ran out", op("proxyconnect", os.ErrDeadlineExceeded), offline.Unknown},

		{"caller gave up", context.Canceled, offline.Unknown},
		{"deadline", context.DeadlineExceeded, offline.Unknown},
		{"dial, caller gave up", op("dial", context.Canceled), offline.Unknown},

		{"TLS alert from the peer", op("remote error", errors.New("tls: handshake failure")), offline.Reached},
		{"TLS alert of our own", op("local error", errors.New("tls: bad certificate")), offline.Unknown},
		{"unknown authority", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, offline.Unknown},
		{"wrong name", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, offline.Unknown},
		{"EOF", io.EOF, offline.Unknown},
		{"connection closed here", op("read", net.ErrClosed), offline.Unknown},
		{"bad address", op("dial", &net.AddrError{Err: "missing port in address", Addr: "h"}), offline.Unknown},
		{"anything else", errors.New("odd"), offline.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, offline.Classify(tt.err))
			if tt.err != nil {
				wrapped := fmt.Errorf("call: %w", &url.Error{Op: "Get", URL: "http://h", Err: tt.err})
				assert.Equal(t, tt.want, offline.Classify(wrapped), "wrapped")
				assert.Equal(t, tt.want, offline.Classify(errors.Join(errors.New("odd"), tt.err)), "joined")
			}
		})
	}
}

// The handshake of a real client with a real server that refuses it.
func TestClassifyAlert(t *testing.T) {
	client, server := net.Pipe()
	go func() {
		_ = tls.Server(server, &tls.Config{}).Handshake() // it has no certificate
		server.Close()
	}()
	err := tls.Client(client, &tls.Config{ServerName: "h"}).Handshake()
	client.Close()
	assert.Error(t, err)
	assert.Equal(t, offline.Reached, offline.Classify(err))
}
