package offline

// The error numbers of Windows: what Winsock returns, and not the numbers of
// the same POSIX names, which package syscall made up.

import "syscall"

var (
	answered = []error{
		syscall.Errno(10061), // WSAECONNREFUSED
		syscall.Errno(10054), // WSAECONNRESET
	}
	pathless = []error{
		syscall.Errno(10051), // WSAENETUNREACH
		syscall.Errno(10065), // WSAEHOSTUNREACH
		syscall.Errno(10050), // WSAENETDOWN
		syscall.Errno(10049), // WSAEADDRNOTAVAIL
	}
	timedOut = []error{
		syscall.Errno(10060), // WSAETIMEDOUT
	}
)
