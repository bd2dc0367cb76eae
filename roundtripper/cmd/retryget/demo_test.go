package main

// This file tests the demonstration: its time line, plain and on a terminal, and what flags make of it.

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// The whole demonstration, to the letter and to the millisecond.
var demoLines = lines(
	"   0.000s  server       no URL was given: a flaky server listens on flaky.test",
	"   0.000s  policy       3 retries instead of 2: the server fails 3 times (see -retries)",
	"   0.000s  attempt 1    GET http://flaky.test/stock.json",
	"   0.000s  server       answers 503 with Retry-After: 1",
	"   0.000s  answer       503 Service Unavailable, asks for a wait of 1s",
	"   0.000s  wait         1s before attempt 2: may heal (status)",
	"   1.000s  attempt 2",
	"   1.000s  server       breaks the connection in the middle of the headers",
	"   1.000s  error        net/http: HTTP/1.x transport connection broken: unexpected EOF",
	"   1.000s  wait         200ms before attempt 3: may heal (network)",
	"   1.200s  attempt 3",
	"   1.200s  server       answers 200 and cuts the body short after 22 of 44 bytes",
	"   1.200s  error        200 OK, but unexpected EOF",
	"   1.200s  wait         400ms before attempt 4: may heal (network)",
	"   1.600s  attempt 4",
	"   1.600s  server       answers 200",
	"   1.600s  answer       200 OK",
	"   1.600s  done         44 bytes, 4 attempts in 1.6s",
)

func TestDemo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newBench(t, nil).do(t.Context())
		assert.Equal(t, result{exitOK, demoBody, demoLines}, got)
	})
}

// On a terminal the same lines stay; what moved in between is gone.
func TestDemoOnTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.live = true
		got := b.do(t.Context())
		assert.Equal(t, exitOK, got.exit)
		assert.Equal(t, demoBody, got.stdout)
		assert.Equal(t, demoLines, screen(got.stderr))
		for _, frame := range []string{
			"\r   0.000s  wait         1.0s of 1s before attempt 2: may heal (status)",
			"\r   0.500s  wait         0.5s of 1s before attempt 2: may heal (status)",
			"\r   0.900s  wait         0.1s of 1s before attempt 2: may heal (status)",
			"\r   1.400s  wait         0.2s of 400ms before attempt 4: may heal (network)",
		} {
			assert.Contains(t, got.stderr, frame)
		}
		assert.NotContains(t, strings.ReplaceAll(got.stderr, "\r", ""), "\x1b", "only what every terminal knows")
	})
}

// screen is what a terminal shows in the end: a carriage return goes back to
// the beginning of the line, and what follows overwrites it.
func screen(text string) string {
	var shown strings.Builder
	for line := range strings.Lines(text) {
		var row []byte
		for part := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "\r") {
			if len(part) >= len(row) {
				row = row[:0]
			}
			row = append([]byte(part), row[min(len(part), len(row)):]...)
		}
		shown.WriteString(string(bytes.TrimRight(row, " ")))
		if strings.HasSuffix(line, "\n") {
			shown.WriteByte('\n')
		}
	}
	return shown.String()
}

// The demonstration follows the flags too.
func TestDemoUnderFlags(t *testing.T) {
	for _, tc := range []struct {
		name, args string
		exit       int
		took       time.Duration
		stdout     string
		stderr     []string
		without    string
	}{
		{name: "fewer retries", args: "-retries 1", exit: exitFailed, took: time.Second,
			stderr: []string{"failed       retries-spent: ", "2 attempts in 1s"}, without: "policy"},
		{name: "no waits", args: "-max-delay 0", exit: exitOK,
			stdout: demoBody, stderr: []string{"wait         0s before attempt 2", "4 attempts in 0s"}},
		{name: "a write", args: "-X POST", exit: exitFailed, stdout: "busy\n",
			stderr: []string{"not-repeatable: 503 Service Unavailable; this policy does not repeat a POST without an idempotency key (-key)"}},
		{name: "a write with a key", args: "-d order -key k1", exit: exitOK, took: 1600 * time.Millisecond,
			stdout: demoBody, stderr: []string{"attempt 1    POST", "4 attempts"}},
		{name: "nothing read ahead", args: "-policy transfer -retry-after clamp", exit: exitFailed, took: -1,
			stdout: demoBody[:22], stderr: []string{"failed       cut off after 22 bytes of the body: unexpected EOF"}, without: "instead of"},
		{name: "a server that asks for too much", args: "-retry-after honor -max-delay 999ms", exit: exitFailed, stdout: "busy\n",
			stderr: []string{"retry-after-too-long: 503 Service Unavailable; it asks for a longer wait than -max-delay; try again at 2000-"}},
		{name: "a deadline", args: "-total-timeout 900ms", exit: exitFailed, stdout: "busy\n",
			stderr: []string{"deadline: 503 Service Unavailable; no time is left for another attempt (1 attempt in 0s"}},
		{name: "quiet", args: "-quiet", exit: exitOK, took: 1600 * time.Millisecond, stdout: demoBody},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := newBench(t, nil).do(t.Context(), strings.Fields(tc.args)...)
				assert.Equal(t, tc.exit, got.exit)
				assert.Equal(t, tc.stdout, got.stdout)
				for _, want := range tc.stderr {
					assert.Contains(t, got.stderr, want)
				}
				if len(tc.stderr) == 0 {
					assert.Empty(t, got.stderr)
				}
				if tc.without != "" {
					assert.NotContains(t, got.stderr, tc.without)
				}
				if tc.took >= 0 { // below: jittered
					assert.Equal(t, tc.took, time.Since(start))
				}
			})
		})
	}
}

func TestDemoCannotListen(t *testing.T) {
	b := newBench(t, nil)
	b.listen = func() (net.Listener, error) { return nil, errors.New("no loopback") }
	got := b.do(t.Context())
	assert.Equal(t, exitFailed, got.exit)
	assert.Contains(t, got.stderr, "failed       the flaky server can't listen: no loopback\n")
}
