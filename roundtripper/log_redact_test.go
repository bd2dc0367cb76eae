package roundtripper_test

// What must not reach a log: whatever an error's text brings with it.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
)

// parseError is what package net/url says of a URL.
func parseError(text string) error {
	_, err := url.Parse(text)
	return err
}

func TestLogRedactsErrors(t *testing.T) {
	const secret = "S3CRET"
	logged := func(base http.RoundTripper, p roundtripper.Policy, target string) string {
		var out bytes.Buffer
		p.Observe = roundtripper.Log(slog.New(slog.NewTextHandler(&out, nil)))
		req, err := http.NewRequest("GET", target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := roundtripper.New(base, p).RoundTrip(req); err == nil {
			resp.Body.Close()
		}
		return out.String()
	}
	failing := func(err error) http.RoundTripper {
		return baseFunc(func(*http.Request) (*http.Response, error) { return nil, err })
	}
	leak := "http://user:" + secret + "@example.com/things?token=" + secret
	one := &url.Error{Op: "Get", URL: leak, Err: io.EOF}

	for name, err := range map[string]error{
		// url.Error writes its URL with %q: what that escapes is not found again.
		"quotation mark in the query": &url.Error{Op: "Get", URL: `http://example.com/?q="x"&token=` + secret, Err: io.EOF},
		"backslash in the query":      &url.Error{Op: "Get", URL: `http://example.com/?q=\x&token=` + secret, Err: io.EOF},
		// The first URL is the beginning of the second one, which is not found again once the first was replaced.
		"one URL begins another": &url.Error{Op: "Get", URL: "http://user:" + secret + "@example.com/things", Err: one},
		// The text of an error in the tree, without the error.
		"flattened": fmt.Errorf("while fetching: %v", one),
		// Where one ends and the next begins can't be told.
		"glued":     errors.New("tried https://a.example.com/x,https://user:" + secret + "@b.example.com/"),
		"one quote": errors.New(`"https://a.example.com/x https://user:` + secret + `@b.example.com/"`),
		// Package net/url takes the password for a port, and quotes it once more.
		"slash in the password": parseError("http://user:" + secret + "/x@example.com"),
		"hash in the password":  parseError("http://user:" + secret + "#x@example.com"),
		// A text with a URL in it that never was a url.Error, as golang.org/x/net/http/httpproxy makes one.
		"proxy address": fmt.Errorf("invalid proxy address %q: %v", "http://user:"+secret+"@exa mple.com", errors.New("invalid character")),
	} {
		t.Run(name, func(t *testing.T) {
			if text := logged(failing(err), roundtripper.Policy{}, "http://example.com/"); strings.Contains(text, secret) {
				t.Errorf("%s", text)
			}
		})
	}

	// http.Client puts the URL into the error, and the query is not cleaned.
	t.Run("through a client", func(t *testing.T) {
		client := http.Client{Transport: failing(io.EOF)}
		base := baseFunc(func(req *http.Request) (*http.Response, error) { return client.Do(req.Clone(req.Context())) })
		if text := logged(base, roundtripper.Policy{}, `http://example.com/?q="x"&token=`+secret); strings.Contains(text, secret) {
			t.Errorf("%s", text)
		}
	})

	// A breaker's refusal writes its cause and does not unwrap to it.
	t.Run("cause of a breaker further inside", func(t *testing.T) {
		p := roundtripper.Policy{Breaker: breaker.PerHost(breaker.Config{Consecutive: 1})}
		inner := roundtripper.New(failing(one), p)
		logged(inner, roundtripper.Policy{}, "http://example.com/")
		if text := logged(inner, roundtripper.Policy{}, "http://example.com/"); strings.Contains(text, secret) {
			t.Errorf("%s", text)
		}
	})

	// What the server sends instead of a status line is quoted, all of it.
	t.Run("without bound", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			conn.Read(make([]byte, 1024))
			io.WriteString(conn, strings.Repeat(secret, 100_000)+"\r\n\r\n")
		}()
		if text := logged(nil, roundtripper.Policy{}, "http://"+l.Addr().String()); len(text) > 4096 {
			t.Errorf("%d bytes in the log: %.200s", len(text), text)
		}
	})

	// A server may choose the path, with a redirect.
	t.Run("long path", func(t *testing.T) {
		if text := logged(failing(io.EOF), roundtripper.Policy{}, "http://example.com/"+strings.Repeat("a", 100_000)); len(text) > 4096 {
			t.Errorf("%d bytes in the log: %.200s", len(text), text)
		}
	})

	// A URL that was put together by hand, with the user info in Host.
	t.Run("by hand", func(t *testing.T) {
		var out bytes.Buffer
		p := roundtripper.Policy{Observe: roundtripper.Log(slog.New(slog.NewTextHandler(&out, nil)))}
		req := &http.Request{Method: "GET", Header: http.Header{}, URL: &url.URL{Scheme: "http", Host: "user:" + secret + "@example.com", Path: "/"}}
		roundtripper.New(failing(io.EOF), p).RoundTrip(req)
		if text := out.String(); strings.Contains(text, secret) {
			t.Errorf("%s", text)
		}
	})
}
