package main

// What scenarios work with: deliveries that can be bent in every way, and their answers.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rebound-go/rebound/backoff"
	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/webhookmw"
)

// patience is how long a scenario waits for an answer.
const patience = 10 * time.Second

// lab is the endpoint that is tried, and how to reach it.
type lab struct {
	url     string
	secret  string
	base    http.RoundTripper
	reached atomic.Bool // it has answered, whatever it was
}

// message is one request.
type message struct {
	method     string
	deliveryID string
	body       []byte
	header     http.Header
	chunked    bool          // of unknown length
	pause      time.Duration // in the middle of the body
	half       bool          // the connection breaks in the middle of the body
	hangUp     bool          // nobody waits for the answer
}

// answer is what came back.
type answer struct {
	status    int // 0: nothing
	duplicate bool
	err       error
}

func (a answer) String() string {
	switch {
	case a.err != nil:
		return "no answer: " + briefly(a.err)
	case a.duplicate:
		return fmt.Sprintf("%d, duplicate", a.status)
	}
	return fmt.Sprint(a.status)
}

// taken reports a delivery that was taken now, and known one that was taken before.
func (a answer) taken() bool { return a.status/100 == 2 && !a.duplicate }
func (a answer) known() bool { return a.status/100 == 2 && a.duplicate }

// newEvent is the body of an event that nobody has seen, size bytes long at least.
func newEvent(size int) []byte {
	id := "evt_" + roundtripper.NewKey()
	body := madeUp(id, "rehearsal.scenario", "")
	return madeUp(id, "rehearsal.scenario", strings.Repeat("x", max(0, size-len(body))))
}

// fresh is a new delivery of a new event, as it should be.
func (l *lab) fresh() *message { return l.carry(newEvent(0)) }

// carry is a new delivery of that body, signed now.
func (l *lab) carry(body []byte) *message {
	m := &message{method: http.MethodPost, deliveryID: "dlv_" + roundtripper.NewKey(), body: body, header: http.Header{}}
	m.header.Set("Content-Type", "application/json")
	m.header.Set("User-Agent", "rebound-rehearse")
	return m.sign(l.secret, time.Now())
}

// sign signs what m carries by now.
func (m *message) sign(secret string, at time.Time) *message {
	webhookmw.Sign(m.header, secret, m.deliveryID, at, m.body)
	return m
}

// send sends m once.
func (l *lab) send(ctx context.Context, m *message) answer {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if m.hangUp {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { cancel() }})
	}
	req, err := http.NewRequestWithContext(ctx, m.method, l.url, m.reader())
	if err != nil {
		return answer{err: err}
	}
	req.Header = m.header.Clone()
	req.ContentLength = int64(len(m.body))
	if m.chunked {
		req.ContentLength = -1
	}
	if u := req.URL.User; u != nil {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
	}
	resp, err := l.base.RoundTrip(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	l.reached.Store(true)
	a := answer{status: resp.StatusCode, duplicate: resp.Header.Get("Webhook-Duplicate") == "true"}
	if a.status == http.StatusSwitchingProtocols {
		return a // what could be read now has no end, and no timeout
	}
	if _, err := io.CopyN(io.Discard, resp.Body, 64<<10); err != nil && err != io.EOF && a.status/100 == 2 {
		return answer{err: err}
	}
	return a
}

var errBreak = errors.New("broken off on purpose")

// reader reads m's body the way that m wants it.
func (m *message) reader() io.Reader {
	if !m.half && m.pause == 0 {
		return bytes.NewReader(m.body)
	}
	middle := len(m.body) / 2
	then := io.Reader(bytes.NewReader(m.body[middle:]))
	if m.half {
		then = failing{}
	}
	return io.MultiReader(bytes.NewReader(m.body[:middle]), &pausing{d: m.pause, Reader: then})
}

// failing is a body that can't be read on.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBreak }

// pausing takes its time, once.
type pausing struct {
	d time.Duration
	io.Reader
}

func (p *pausing) Read(b []byte) (int, error) {
	time.Sleep(p.d)
	p.d = 0
	return p.Reader.Read(b)
}

// settle sends m until it is answered for good. The sender of a duplicate may meet the first one still in work, for as
// long as anything is waited for; a connection that failed is tried three times in all.
func (l *lab) settle(ctx context.Context, m *message) answer {
	end := time.Now().Add(patience)
	for failures := 0; ; {
		a := l.send(ctx, m)
		if a.err != nil {
			failures++
		} else if a.status != http.StatusConflict {
			return a
		}
		if failures == 3 || time.Now().After(end) || backoff.Sleep(ctx, 50*time.Millisecond) != nil {
			return a
		}
	}
}
