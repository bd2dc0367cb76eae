//go:build unix

package main

// Tests of what needs a process: the signal, and the exit status.

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// With this in its environment the test binary is the command.
const beCommand = "REHEARSE_TEST_IS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(beCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// An interrupt is how a receiver ends, and a sender learns of it by its exit status.
func TestProcess(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	start := func(args ...string) *exec.Cmd {
		child := exec.CommandContext(t.Context(), self, args...)
		child.Env = append(os.Environ(), beCommand+"=1", secretVariable+"="+testSecret)
		return child
	}
	server := start("serve", "-listen", "127.0.0.1:0", "-work", "10s")
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	in := bufio.NewScanner(out)
	require.True(t, in.Scan())
	url := in.Text()[len("a receiver listens on "):]

	sender := start(url)
	progress, err := sender.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, sender.Start())
	steps := bufio.NewScanner(progress)
	require.True(t, steps.Scan(), "an attempt has begun")
	require.NoError(t, sender.Process.Signal(os.Interrupt))
	for steps.Scan() {
	}
	exit, ok := errors.AsType[*exec.ExitError](sender.Wait())
	require.True(t, ok)
	assert.Equal(t, exitInterrupted, exit.ExitCode())

	require.NoError(t, server.Process.Signal(os.Interrupt))
	for in.Scan() {
	}
	assert.NoError(t, server.Wait())
}
