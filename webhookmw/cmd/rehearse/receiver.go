package main

// The receiver: one of our own to rehearse with, and the one of serve.

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// receiver is a server behind a Verifier.
type receiver struct {
	url    *url.URL
	server *http.Server
	served chan struct{} // closed when the server has ended
}

// startReceiver starts one, which tells t what becomes of each delivery.
func (c *command) startReceiver(addr string, o *options, t *timeline) (*receiver, error) {
	verifier, err := webhookmw.New(webhookmw.Config{
		Secrets: []string{o.secret},
		Observe: func(e webhookmw.Event) { t.line(verdict(e)) },
	})
	if err != nil {
		return nil, err
	}
	l, err := c.listen(addr)
	if err != nil {
		return nil, err
	}
	r := &receiver{url: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}, served: make(chan struct{})}
	r.server = &http.Server{
		Handler:           verifier.Handler(&worker{work: o.work, answer: o.answer}),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(r.served)
		r.server.Serve(l)
	}()
	return r, nil
}

// stop ends the server and its connections.
func (r *receiver) stop() {
	r.server.Close()
	<-r.served
}

// verdict is what became of a request, as a line of the time line.
func verdict(e webhookmw.Event) (label, text string) {
	label = "refused"
	switch e.Reason {
	case webhookmw.ReasonAccepted, webhookmw.ReasonNotRecorded:
		label = "accepted"
	case webhookmw.ReasonDuplicate:
		label = "duplicate"
	case webhookmw.ReasonFailed, webhookmw.ReasonPanicked:
		label = "failed"
	}
	text = fmt.Sprintf("%d %s", e.Status, e.Reason)
	if e.Err != nil {
		text += ": " + clean(e.Err)
	}
	if d := e.Delivery; d != nil {
		text += fmt.Sprintf(" (event %s, %s, %d bytes, delivery %s)", d.EventID, plain(d.Type), len(d.Body), d.DeliveryID)
		if d.EventSeen && !d.Duplicate {
			text += ", event seen before"
		}
	}
	return label, text
}

// worker is the handler behind the Verifier: it works for a while, and answers.
type worker struct {
	work time.Duration

	mu     sync.Mutex
	answer []int // the last one stays; none: 200
}

func (h *worker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	status := http.StatusOK
	if len(h.answer) > 0 {
		status = h.answer[0]
	}
	if len(h.answer) > 1 {
		h.answer = h.answer[1:]
	}
	h.mu.Unlock()
	time.Sleep(h.work) // also when the sender has hung up: work that is begun is done
	w.WriteHeader(status)
}

// serve is a run of the receiver alone. An interrupt is how it ends.
func (c *command) serve(ctx context.Context, o *options) int {
	t := newTimeline(c.stdout, o.quiet, false)
	r, err := c.startReceiver(o.listen, o, t)
	if err != nil {
		return c.failed(err)
	}
	defer r.stop()
	fmt.Fprintf(c.stdout, "a receiver listens on %s\n", r.url)
	if o.madeSecret {
		fmt.Fprintf(c.stdout, "its secret, made for this run: %s=%s\n", secretVariable, o.secret)
	}
	select {
	case <-ctx.Done():
		return exitOK
	case <-r.served:
		return c.failed(fmt.Errorf("the receiver on %s has ended", r.url))
	}
}
