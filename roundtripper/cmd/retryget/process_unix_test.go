//go:build unix

package main

// This file tests what needs a process, a pipe or a device.

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// With this in its environment the test binary is the command.
const beCommand = "RETRYGET_TEST_IS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(beCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A signal in the middle of a wait ends the process with 130.
func TestSignal(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), beCommand+"=1")
	stderr, err := child.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	var all []string
	for in := bufio.NewScanner(stderr); in.Scan(); {
		all = append(all, in.Text())
		if strings.Contains(in.Text(), "wait         1s before attempt 2") {
			require.NoError(t, child.Process.Signal(os.Interrupt))
		}
	}
	err = child.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, exitInterrupted, exit.ExitCode())
	require.NotEmpty(t, all)
	assert.Contains(t, all[len(all)-1], "interrupted  after 1 attempt in ")
}

// A file that can be read only once is read once, and sent on every attempt.
func TestBodyFromPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	go os.WriteFile(pipe, []byte("from a pipe"), 0)
	synctest.Test(t, func(t *testing.T) {
		var saw []seen
		got := newBench(t, watching(&saw)).do(t.Context(), "-key", "one", "-d", "@"+pipe, testURL)
		require.Equal(t, exitOK, got.exit, got.stderr)
		require.Len(t, saw, 2)
		for _, s := range saw {
			assert.Equal(t, "from a pipe", s.body)
		}
	})
}

// A file that is gone by the second attempt ends the call there, and what the
// first one met is told once.
func TestBodyVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "body")
		require.NoError(t, os.WriteFile(file, []byte("order"), 0o600))
		got := newBench(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			assert.NoError(t, os.Remove(file))
			w.WriteHeader(503)
		}).do(t.Context(), "-key", "one", "-d", "@"+file, testURL)
		assert.Equal(t, exitFailed, got.exit)
		assert.Equal(t, 1, strings.Count(got.stderr, "answer       503"), got.stderr)
		assert.Contains(t, got.stderr, "   0.100s  failed       not-replayable: open "+file+": ")
	})
}

// A link and a pipe stay what they are, and so do the rights of a file.
func TestOutputPlaces(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	require.NoError(t, os.WriteFile(file, []byte("a longer one that was there"), 0o600))
	require.NoError(t, os.Symlink(file, link))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	through := make(chan string)
	go func() {
		data, _ := os.ReadFile(pipe)
		through <- string(data)
	}()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, always(200, "fine"))
		for _, name := range []string{link, pipe} {
			require.Equal(t, exitOK, b.do(t.Context(), "-o", name, testURL).exit)
		}
	})
	for name, want := range map[string]os.FileMode{file: 0o600, link: os.ModeSymlink, pipe: os.ModeNamedPipe} {
		info, err := os.Lstat(name)
		require.NoError(t, err)
		assert.Equal(t, want.Type(), info.Mode().Type(), name)
		if want.IsRegular() {
			assert.Equal(t, want, info.Mode().Perm(), name)
		}
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "fine", string(data))
	if info, err := os.Lstat(pipe); err == nil && info.Mode().Type() == os.ModeNamedPipe {
		assert.Equal(t, "fine", <-through)
	}
}

// A pipe is no terminal; both ends of one command's output may be one.
func TestStreams(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	assert.False(t, isTerminal(w))
	assert.False(t, isTerminal(new(strings.Builder)))
	assert.True(t, isSame(w, w))
	assert.False(t, isSame(w, null))
	assert.False(t, isSame(new(strings.Builder), w))
	t.Setenv("TERM", "xterm")
	assert.True(t, isTerminal(null), "a character device")
	t.Setenv("TERM", "dumb")
	assert.False(t, isTerminal(null))
}
