//go:build !windows && !plan9

package offline

// The error numbers of POSIX systems.

import "syscall"

var (
	answered = []error{syscall.ECONNREFUSED, syscall.ECONNRESET}
	pathless = []error{syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.EADDRNOTAVAIL}
	timedOut = []error{syscall.ETIMEDOUT}
)
