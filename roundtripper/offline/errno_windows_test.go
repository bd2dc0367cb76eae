package offline_test

// Verdicts on the error numbers of Windows.

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
		{"dial", 10051, offline.NoPath},
		{"dial", 10065, offline.NoPath},
		{"dial", 10050, offline.NoPath},
		{"dial", 10049, offline.NoPath},
		{"dial", 10060, offline.NoPath},
		{"read", 10060, offline.Unknown},
		{"dial", 10061, offline.Reached},
		{"read", 10054, offline.Reached},
		{"dial", 10013, offline.Unknown},
	} {
		t.Run(fmt.Sprintf("%s/%d", tt.op, int(tt.err)), func(t *testing.T) {
			assert.Equal(t, tt.want, offline.Classify(op(tt.op, os.NewSyscallError("connectex", tt.err))))
		})
	}
}
