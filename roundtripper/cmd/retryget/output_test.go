package main

// This file tests where the body goes.

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file is there whole or as it was, with nothing left beside it.
func TestOutputFile(t *testing.T) {
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		io.WriteString(w, "half")
	}
	for _, tc := range []struct {
		name    string
		before  string // "": there is no file
		handler http.HandlerFunc
		exit    int
		after   string
		stdout  string
	}{
		{"new", "", always(200, "fine"), exitOK, "fine", ""},
		{"replaced", "a longer one that was there", always(200, "fine"), exitOK, "fine", ""},
		{"replaced by nothing", "old", always(204, ""), exitOK, "", ""},
		{"cut short", "", cut, exitFailed, "", ""},
		{"cut short, and the old one stays", "old", cut, exitFailed, "old", ""},
		{"not what was asked for", "old", always(404, "gone"), exitFailed, "old", "gone"},
		{"no answer at all", "old", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, exitFailed, "old", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				name := filepath.Join(dir, "out")
				if tc.before != "" {
					require.NoError(t, os.WriteFile(name, []byte(tc.before), 0o640))
				}
				got := newBench(t, tc.handler).do(t.Context(), "-o", name, testURL)
				assert.Equal(t, tc.exit, got.exit)
				assert.Equal(t, tc.stdout, got.stdout)
				after, err := os.ReadFile(name)
				if tc.before == "" && tc.exit != exitOK {
					assert.ErrorIs(t, err, os.ErrNotExist)
				} else {
					assert.NoError(t, err)
				}
				assert.Equal(t, tc.after, string(after))
				left, err := os.ReadDir(dir)
				require.NoError(t, err)
				assert.LessOrEqual(t, len(left), 1, "%v", left)
			})
		})
	}
}

func TestOutputDash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newBench(t, always(200, "fine")).do(t.Context(), "-o", "-", testURL)
		assert.Equal(t, exitOK, got.exit)
		assert.Equal(t, "fine", got.stdout)
	})
}
