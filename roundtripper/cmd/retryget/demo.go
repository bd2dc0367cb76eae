package main

// This file holds the flaky server, for a machine with nothing else to fetch
// from.

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// demo is a server on the loopback interface that fails by a fixed script, each
// time in another way, and then works.
type demo struct {
	url      *url.URL
	note     func(label, text string) // may be called by many goroutines at once
	server   *http.Server
	served   chan struct{} // closed when the server has ended
	requests atomic.Int64
}

// demoFailures is how many requests fail, and so how many retries it takes.
const demoFailures = 3

// demoBody is what all the trouble is about.
const demoBody = `{"item": "anvil", "stock": 3, "dropped": 0}` + "\n"

// startDemo starts the server. It tells note what it does.
func startDemo(listen func() (net.Listener, error), note func(label, text string)) (*demo, error) {
	l, err := listen()
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	d := &demo{
		url:    &url.URL{Scheme: "http", Host: addr, Path: "/stock.json"},
		note:   note,
		served: make(chan struct{}),
	}
	d.server = &http.Server{
		Handler:           d,
		ReadHeaderTimeout: 5 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(d.served)
		d.server.Serve(l)
	}()
	d.say("no URL was given: a flaky server listens on " + addr)
	return d, nil
}

// enough is p with as many retries as the server takes, unless the command line
// has another number.
func (d *demo) enough(o *options, p roundtripper.Policy) roundtripper.Policy {
	if !o.retries && p.MaxRetries < demoFailures {
		d.note("policy", fmt.Sprintf("%d retries instead of %d: the server fails %[1]d times (see -retries)", demoFailures, p.MaxRetries))
		p.MaxRetries = demoFailures
	}
	return p
}

// stop ends the server and its connections.
func (d *demo) stop() {
	d.server.Close()
	<-d.served
}

func (d *demo) say(text string) { d.note("server", text) }

// ServeHTTP is the script.
func (d *demo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	h := w.Header()
	switch d.requests.Add(1) {
	case 1:
		d.say("answers 503 with Retry-After: 1")
		h.Set("Retry-After", "1")
		http.Error(w, "busy", http.StatusServiceUnavailable)
	case 2:
		d.say("breaks the connection in the middle of the headers")
		// Not before the first byte: net/http would send the request again by
		// itself, since the connection was used before.
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
			conn.Close()
		}
	case 3:
		half := len(demoBody) / 2
		d.say(fmt.Sprintf("answers 200 and cuts the body short after %d of %d bytes", half, len(demoBody)))
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(demoBody)))
		io.WriteString(w, demoBody[:half])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		d.say("answers 200")
		h.Set("Content-Type", "application/json")
		io.WriteString(w, demoBody)
	}
}
