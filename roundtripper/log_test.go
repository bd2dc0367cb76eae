package roundtripper_test

// This file tests Log: one line for each retry and each call that failed, and
// nothing in them that is secret.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// twLogged makes a call with Log and gives what was written, a map a line.
func twLogged(t *testing.T, base http.RoundTripper, p roundtripper.Policy, req *http.Request) (lines []map[string]any, text string) {
	t.Helper()
	var out bytes.Buffer
	p.Observe = roundtripper.Log(slog.New(slog.NewJSONHandler(&out, nil)))
	twDo(t, base, p, req)
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		lines = append(lines, m)
	}
	return lines, out.String()
}

func TestLogLines(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script []twStep
		want   int
	}{
		{"success at once", []twStep{{status: 200}}, 0},
		{"redirection", []twStep{{status: 302}}, 0},
		{"one retry", []twStep{{status: 503}, {status: 200}}, 1},
		{"two retries", []twStep{{err: io.EOF}, {status: 503}, {status: 200}}, 2},
		{"two retries and a failure", []twStep{{status: 503}}, 3},
		{"errors", []twStep{{err: io.EOF}}, 3},
		{"final at once", []twStep{{status: 404}}, 1},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			lines, text := twLogged(t, twScript(tc.script...), roundtripper.Headless(), twRequest("GET", ""))
			if len(lines) != tc.want {
				t.Errorf("%d lines, want %d:\n%s", len(lines), tc.want, text)
			}
		})
	}
}

// A line says what one looks for: which request, which attempt, what happened,
// how long the wait is, why it stopped.
func TestLogTells(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		req := twRequest("GET", "")
		req.Header.Set("X-Request-Id", "id-7")
		lines, _ := twLogged(t, twScript(twStep{status: 503}, twStep{err: io.EOF}), roundtripper.Headless(), req)
		want := [][]any{
			{"GET", "http://example.com/things", "id-7", 1.0, 503.0, "status", float64(100 * time.Millisecond)},
			{"GET", "http://example.com/things", "id-7", 2.0, "EOF", "network", float64(200 * time.Millisecond)},
			{"GET", "http://example.com/things", "id-7", 3.0, "EOF", "retries-spent", float64(300 * time.Millisecond)},
		}
		if len(lines) != len(want) {
			t.Fatalf("%d lines", len(lines))
		}
		for i, values := range want {
			for _, v := range values {
				found := false
				for _, got := range lines[i] {
					found = found || got == v
				}
				if !found {
					t.Errorf("line %d says nothing of %v: %v", i+1, v, lines[i])
				}
			}
		}
	})
}

// Credentials do not end up in logs (hashicorp/go-retryablehttp#158): neither
// from the URL nor from an error that quotes one, however deep it stands.
func TestLogRedacts(t *testing.T) {
	const secret = "S3CRET"
	leak := "http://user:" + secret + "@example.com/things?token=" + secret + "#" + secret
	other := "https://" + secret + ":" + secret + "@elsewhere.example.com/x?key=" + secret
	one := &url.Error{Op: "Get", URL: leak, Err: io.EOF}
	for name, step := range map[string]twStep{
		"status":        {status: 503},
		"plain error":   {err: io.EOF},
		"URL error":     {err: one},
		"wrapped":       {err: fmt.Errorf("while fetching: %w", one)},
		"two of them":   {err: &url.Error{Op: "Post", URL: other, Err: one}},
		"joined":        {err: errors.Join(one, &url.Error{Op: "Post", URL: other, Err: io.EOF})},
		"not parseable": {err: &url.Error{Op: "parse", URL: "http://user:" + secret + "@exa mple.com/%zz?token=" + secret, Err: errors.New("bad")}},
	} {
		twRun(t, name, func(t *testing.T) {
			req, err := http.NewRequest("GET", leak, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+secret)
			req.Header.Set("Cookie", "session="+secret)
			step.header = []string{"Set-Cookie", "session=" + secret}
			step.body = secret
			lines, text := twLogged(t, twScript(step), roundtripper.Headless(), req)
			if len(lines) != 3 {
				t.Errorf("%d lines", len(lines))
			}
			if strings.Contains(text, secret) {
				t.Errorf("the log holds a secret:\n%s", text)
			}
			if !strings.Contains(text, "example.com/things") {
				t.Errorf("the log names no URL:\n%s", text)
			}
		})
	}
	// What http.Client makes of it when it is the base of a wrapper.
	twRun(t, "through a client", func(t *testing.T) {
		client := http.Client{Transport: twScript(twStep{err: io.EOF})}
		base := twFunc(func(req *http.Request) (*http.Response, error) {
			return client.Do(req.Clone(req.Context()))
		})
		req, _ := http.NewRequest("GET", leak, nil)
		if _, text := twLogged(t, base, roundtripper.Headless(), req); strings.Contains(text, secret) {
			t.Errorf("the log holds a secret:\n%s", text)
		}
	})
}

// Our own errors speak of no URL, header or body either.
func TestErrorsTellNoSecret(t *testing.T) {
	const secret = "S3CRET"
	for name, step := range map[string]twStep{
		"status": {status: 503, body: secret}, "EOF": {err: io.EOF}, "timeout": {hang: true},
		"mismatch": {status: 200, header: []string{"X-Request-Id", secret}}, "malformed": {status: 200, header: twJSON, body: secret},
	} {
		twRun(t, name, func(t *testing.T) {
			req, _ := http.NewRequest("GET", "http://user:"+secret+"@example.com/?token="+secret, nil)
			req.Header.Set("Authorization", secret)
			resp, err := twDo(t, twScript(step), roundtripper.Headless(), req)
			if err == nil {
				err = roundtripper.CheckStatus(resp)
			}
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A call without an attempt is a line as well, and no panic.
func TestLogWithoutAnAttempt(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		lines, text := twLogged(t, twScript(twStep{status: 200}), roundtripper.Headless(), twRequest("GET", "").WithContext(ctx))
		if len(lines) != 1 || !strings.Contains(text, "canceled") {
			t.Errorf("%s", text)
		}
		p := roundtripper.Headless()
		p.MaxRetries = -1
		if lines, text = twLogged(t, twScript(twStep{status: 200}), p, twRequest("GET", "")); len(lines) != 1 || !strings.Contains(text, "invalid") {
			t.Errorf("%s", text)
		}
	})
}

// A call that failed is a line also where its caller is served.
func TestLogOfAFallback(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		p := roundtripper.Headless()
		p.MaxRetries = 0
		p.Fallback = func(*http.Request, *roundtripper.Report, error) (*http.Response, error) {
			return &http.Response{StatusCode: 200}, nil
		}
		lines, text := twLogged(t, twScript(twStep{status: 503}), p, twRequest("GET", ""))
		if len(lines) != 1 || !strings.Contains(text, "fallback served") || !strings.Contains(text, "503") {
			t.Errorf("%s", text)
		}
	})
}

// Holding back for a host that said "not now" to another call is no retry, and
// the call that held back succeeds at its first attempt.
func TestLogOfAPause(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		var out bytes.Buffer
		p := twShared()
		p.Observe = roundtripper.Log(slog.New(slog.NewTextHandler(&out, nil)))
		base := twScript(twStep{status: 429, header: []string{"Retry-After", "10"}}, twStep{status: 200})
		tr := roundtripper.New(base, p)
		twGet(t, tr, t.Context(), "http://example.com/")
		out.Reset()
		if took, _, _ := twGet(t, tr, t.Context(), "http://example.com/"); took < 10*time.Second || out.Len() != 0 {
			t.Errorf("after %v, written: %s", took, out.String())
		}
	})
}

// The handler decides what is written: a logger that wants errors only is not
// bothered, and its groups and attributes hold.
func TestLogUsesTheLogger(t *testing.T) {
	twRun(t, "", func(t *testing.T) {
		var out bytes.Buffer
		l := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelError + 1}))
		p := roundtripper.Headless()
		p.Observe = roundtripper.Log(l)
		twDo(t, twScript(twStep{status: 503}), p, twRequest("GET", ""))
		if out.Len() != 0 {
			t.Errorf("written: %s", out.String())
		}
		p.Observe = roundtripper.Log(slog.New(slog.NewTextHandler(&out, nil)).With("service", "billing"))
		twDo(t, twScript(twStep{status: 503}), p, twRequest("GET", ""))
		if n := strings.Count(out.String(), "service=billing"); n != 3 {
			t.Errorf("%d lines with the logger's attribute", n)
		}
	})
}
