package roundtripper

// This file holds what the calls of a Transport tell each other: which host
// has said "not now", and until when.

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// maxPauses bounds the memory of pauses. Past it the one that ends first is
// forgotten.
const maxPauses = 1024

// pauses are the hosts that calls hold back from. The zero value is ready.
type pauses struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// set makes calls to host hold back until at; it never shortens a pause.
func (p *pauses) set(host string, now, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until == nil {
		p.until = make(map[string]time.Time)
	}
	if !at.After(p.until[host]) {
		return
	}
	p.until[host] = at
	if len(p.until) <= maxPauses {
		return
	}
	first := host
	for h, t := range p.until {
		if !t.After(now) {
			delete(p.until, h)
		} else if t.Before(p.until[first]) {
			first = h
		}
	}
	if len(p.until) > maxPauses {
		delete(p.until, first)
	}
}

// left is how long calls to host hold back from now on.
func (p *pauses) left(host string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.until[host]
	if !ok {
		return 0
	}
	d := at.Sub(now)
	if d <= 0 {
		delete(p.until, host)
	}
	return d
}

// share tells the other calls what resp asked for.
func (c *call) share(resp *http.Response) {
	p := c.policy
	if !p.ShareRetryAfter || p.RetryAfter == IgnoreRetryAfter ||
		resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return
	}
	if d, ok := c.report.RetryAfter(); ok && d > 0 {
		now := c.report.answered
		c.t.pauses.set(hostKey(c.orig.URL), now, now.Add(min(d, p.MaxDelay)))
	}
}

// leaveOver is the share of a pause over which those who waited leave.
const leaveOver = 10

// holdBack waits while the host is paused, MaxDelay at most. Its error ends the
// call.
func (c *call) holdBack() (Reason, error) {
	host := hostKey(c.orig.URL)
	for patience := c.policy.MaxDelay; patience > 0; {
		d := min(c.t.pauses.left(host, time.Now()), patience)
		if d <= 0 {
			break
		}
		patience -= d
		d = after(d, rand.N(d/leaveOver+1))
		if left, bounded := c.remaining(); bounded && d >= left {
			return ReasonDeadline, c.endedBy(errHeldBack)
		}
		c.emit(StateWaiting, &Attempt{Number: c.attempts() + 1, Request: c.orig, Start: time.Now(), Wait: d})
		if reason, err := c.sleep(d); err != nil {
			return reason, c.endedBy(err)
		}
	}
	return "", nil
}

// hostKey names the service behind u: scheme, host in lower case, and port.
func hostKey(u *url.URL) string {
	port := u.Port()
	if port == "" {
		switch u.Scheme {
		case "http":
			port = "80"
		case "https":
			port = "443"
		}
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
