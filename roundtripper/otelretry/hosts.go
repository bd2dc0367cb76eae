package otelretry

// This file holds the bound on hosts: a program that visits many must not make
// a time series of each.

import (
	"net/url"
	"strconv"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

type host struct {
	address string
	port    int // 0: unknown
}

// hostOf is the host of u, with the port of its scheme if it names none.
func hostOf(u *url.URL) host {
	h := host{address: u.Hostname()}
	if text := u.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err == nil {
			h.port = int(port)
		}
		return h
	}
	switch u.Scheme {
	case "http":
		h.port = 80
	case "https":
		h.port = 443
	}
	return h
}

// hosts are those that metrics tell apart: the first ones that were seen.
type hosts struct {
	most int

	mu    sync.RWMutex
	known map[host]struct{}
}

// append appends the attributes of h to as.
func (hs *hosts) append(as []attribute.KeyValue, h host) []attribute.KeyValue {
	h.address = strings.ToLower(h.address)
	if !hs.tellApart(h) {
		h = host{address: other}
	}
	return h.append(as)
}

func (h host) append(as []attribute.KeyValue) []attribute.KeyValue {
	as = append(as, semconv.ServerAddress(h.address))
	if h.port != 0 {
		as = append(as, semconv.ServerPort(h.port))
	}
	return as
}

func (hs *hosts) tellApart(h host) bool {
	hs.mu.RLock()
	_, ok := hs.known[h]
	full := len(hs.known) >= hs.most
	hs.mu.RUnlock()
	if ok || full {
		return ok
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if _, ok := hs.known[h]; ok {
		return true
	}
	if len(hs.known) >= hs.most {
		return false
	}
	if hs.known == nil {
		hs.known = make(map[host]struct{})
	}
	hs.known[h] = struct{}{}
	return true
}
