//go:build !windows && !plan9

package offline_test

// Verdicts on the error numbers of POSIX systems.

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

func TestClassifyErrno(t *testing.T) {
	for _, tt := range []struct {
		op   string
		err  syscall.Errno
		want offline.Verdict
	}{
		{"dial", syscall.ENETUNREACH, offline.NoPath},
		{"dial", syscall.EHOSTUNREACH, offline.NoPath},
		{"dial", syscall.ENETDOWN, offline.NoPath},
		{"dial", syscall.EADDRNOTAVAIL, offline.NoPath},
		{"dial", syscall.ETIMEDOUT, offline.NoPath},
		{"dial", syscall.ECONNREFUSED, offline.Reached},
		{"dial", syscall.ECONNRESET, offline.Reached},
		{"dial", syscall.EMFILE, offline.Unknown},
		{"dial", syscall.EACCES, offline.Unknown},
		{"read", syscall.ENETUNREACH, offline.NoPath},
		{"write", syscall.EHOSTUNREACH, offline.NoPath},
		{"read", syscall.ECONNRESET, offline.Reached},
		{"read", syscall.ETIMEDOUT, offline.Unknown},
		{"write", syscall.EPIPE, offline.Unknown},
	} {
		t.Run(fmt.Sprintf("%s/%v", tt.op, tt.err), func(t *testing.T) {
			assert.Equal(t, tt.want, offline.Classify(op(tt.op, os.NewSyscallError("connect", tt.err))))
			assert.Equal(t, tt.want, offline.Classify(op("proxyconnect", op(tt.op, tt.err))))
		})
	}
}
