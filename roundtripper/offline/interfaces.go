package offline

// A hint that looks at the network interfaces of this machine.

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Interfaces returns a Hint that says down, known, if the system lists its
// network interfaces and none could reach another machine: none is up and
// running with an address beyond loopback and link-local. Else it has no
// opinion, since an address is no proof of a path; nor has it where the list
// can't be read, as on newer Android (golang/go#40569).
//
// It reads the list at most once a second, and only when it is asked.
func Interfaces() Hint { return new(interfaces) }

type interfaces struct {
	reading sync.Mutex // held by the one who reads
	latest  atomic.Pointer[look]
}

// A look is what the list said, and when.
type look struct {
	at          time.Time
	up, isKnown bool
}

// Changed returns nil: nothing is watched.
func (*interfaces) Changed() <-chan struct{} { return nil }

// Online looks at the list unless that was done within the last second. While
// one goroutine looks, the others have the look before.
func (i *interfaces) Online() (up, known bool) {
	now := time.Now()
	latest := i.latest.Load()
	if (latest == nil || now.Sub(latest.at) >= time.Second) && i.reading.TryLock() {
		latest = &look{at: now}
		latest.up, latest.isKnown = readInterfaces()
		i.latest.Store(latest)
		i.reading.Unlock()
	}
	if latest == nil {
		return false, false
	}
	return latest.up, latest.isKnown
}

// readInterfaces reports whether some interface is usable, known only if none
// is. An empty list tells nothing: it lacks loopback too.
func readInterfaces() (up, known bool) {
	list, err := net.Interfaces()
	if err != nil || len(list) == 0 {
		return false, false
	}
	for _, i := range list {
		if i.Flags&net.FlagLoopback != 0 || i.Flags&net.FlagUp == 0 || i.Flags&net.FlagRunning == 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			return false, false
		}
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
				return true, false
			}
		}
	}
	return false, true
}
