package main

// This file tests what is sent.

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seen is what a server saw of a request.
type seen struct {
	method, host, body, length string
	header                     http.Header
}

// watching notes each request, and answers the first with 503.
func watching(saw *[]seen) http.HandlerFunc {
	answer := once(503)
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		length := r.Header.Get("Content-Length")
		if r.ContentLength < 0 {
			length = "unknown"
		}
		*saw = append(*saw, seen{r.Method, r.Host, string(body), length, r.Header})
		answer(w, r)
	}
}

// What the flags say is sent, whole, on every attempt.
func TestRequest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "body")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("from a file ", 100_000)), 0o600))
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, tc := range []struct {
		name   string
		args   []string
		method string
		body   string
	}{
		{"nothing", nil, "GET", ""},
		{"data", []string{"-d", "a=b"}, "POST", "a=b"},
		{"empty data", []string{"-d", ""}, "POST", ""},
		{"data with a method", []string{"-X", "PATCH", "-d", "a=b"}, "PATCH", "a=b"},
		{"file", []string{"-d", "@" + file}, "POST", strings.Repeat("from a file ", 100_000)},
		{"empty file", []string{"-d", "@" + empty}, "POST", ""},
		{"input", []string{"-d", "-"}, "POST", "from standard input"},
		{"input in another spelling", []string{"-d", "@-"}, "POST", "from standard input"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var saw []seen
				b := newBench(t, watching(&saw))
				b.stdin = strings.NewReader("from standard input")
				got := b.do(t.Context(), append(tc.args, "-policy", "standard", "-key", "one", testURL)...)
				require.Equal(t, exitOK, got.exit, got.stderr)
				require.Len(t, saw, 2)
				for _, s := range saw {
					assert.Equal(t, tc.method, s.method)
					assert.True(t, tc.body == s.body, "%d bytes instead of %d", len(s.body), len(tc.body))
					assert.NotEqual(t, "unknown", s.length, "many servers refuse a body of unknown length")
					assert.Equal(t, "one", s.header.Get("Idempotency-Key"))
				}
			})
		})
	}
}

func TestHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var saw []seen
		got := newBench(t, watching(&saw)).do(t.Context(), "-H", "Host: virtual.test", "-H", "X-A:  one ", "-H", "x-a: two",
			"-H", "X-Empty:", "-H", "X-Colon: a:b", testURL)
		require.Equal(t, exitOK, got.exit, got.stderr)
		require.Len(t, saw, 2)
		for _, s := range saw {
			assert.Equal(t, "virtual.test", s.host)
			assert.Equal(t, []string{"one", "two"}, s.header["X-A"])
			assert.Equal(t, []string{""}, s.header["X-Empty"])
			assert.Equal(t, []string{"a:b"}, s.header["X-Colon"])
			assert.Equal(t, []string{"retryget"}, s.header["User-Agent"])
			assert.NotEmpty(t, s.header.Get("X-Request-Id"))
			assert.Empty(t, s.header["Idempotency-Key"])
		}
		assert.Equal(t, saw[0].header["X-Request-Id"], saw[1].header["X-Request-Id"])
	})
}

func TestUserAgent(t *testing.T) {
	for value, want := range map[string][]string{"mine": {"mine"}, "": nil} {
		synctest.Test(t, func(t *testing.T) {
			var saw []seen
			newBench(t, watching(&saw)).do(t.Context(), "-H", "User-Agent: "+value, testURL)
			require.NotEmpty(t, saw)
			assert.Equal(t, want, saw[0].header["User-Agent"])
		})
	}
}

// A key that is made here is shown, for the day on which the write has to be
// tried again; it is the same on every attempt and another one in every run.
func TestNewKey(t *testing.T) {
	var keys []string
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			var saw []seen
			got := newBench(t, watching(&saw)).do(t.Context(), "-d", "x", "-key", "new", testURL)
			require.Equal(t, exitOK, got.exit, got.stderr)
			require.Len(t, saw, 2)
			key := saw[0].header.Get("Idempotency-Key")
			assert.Len(t, key, 26)
			assert.Equal(t, key, saw[1].header.Get("Idempotency-Key"))
			assert.Contains(t, got.stderr, "key          "+key+"\n")
			keys = append(keys, key)
		})
	}
	assert.NotEqual(t, keys[0], keys[1])
}

// An input that never ends is not kept.
func TestInputLimit(t *testing.T) {
	const limit = 1 << 20
	data, err := readInput(t.Context(), io.LimitReader(zeros{}, limit), limit)
	assert.NoError(t, err)
	assert.Len(t, data, limit)
	data, err = readInput(t.Context(), zeros{}, limit)
	assert.EqualError(t, err, "more than 1 MiB of input; put it into a file")
	assert.Empty(t, data)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
