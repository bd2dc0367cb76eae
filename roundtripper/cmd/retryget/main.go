// Command retryget fetches a URL under a retry policy and shows each attempt,
// each wait and why it stopped.
//
//	retryget [flags] [URL]
//
// The body goes to standard output, a time line of what happened to standard
// error. Without a URL, retryget starts a flaky server on the loopback
// interface and fetches from that:
//
//	go run github.com/rebound-go/rebound/roundtripper/cmd/retryget
//
// It is the policies of package roundtripper from the command line: to see what
// one does against a real server, and what its fields change. The flag -h lists
// the rest.
//
// The exit status is 0 after a 2xx response that arrived whole, 1 after any
// other fetch, 2 when nothing was sent because the command line can't be meant,
// and 130 after an interrupt.
package main

// This file holds the command from its arguments to its exit status.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
)

// Exit statuses. That of an interrupt is what shells make of SIGINT.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	// The first interrupt ends the fetch; a second one finds no handler any
	// more and ends the process, should it hang in a write.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command, without the process around it. The end of ctx is an
// interrupt.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := command{
		stdin:  stdin,
		stdout: stdout,
		stderr: stderr,
		live:   isTerminal(stderr),
		shared: isSame(stdout, stderr),
		listen: func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") },
	}
	return c.run(ctx, args)
}

// command is what one run of retryget works with.
type command struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	live   bool                         // stderr is a terminal: lines may change while something lasts
	shared bool                         // stdout and stderr go to the same place
	base   http.RoundTripper            // what sends; nil: a transport of its own
	listen func() (net.Listener, error) // where the flaky server listens
}

func (c *command) run(ctx context.Context, args []string) int {
	o, err := parseFlags(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(c.stdout, help)
		return exitOK
	case err != nil:
		return c.misused(err)
	case o.explain:
		io.WriteString(c.stdout, o.policy().Explain())
		return exitOK
	}
	return c.fetch(ctx, o)
}

// isTerminal reports whether w is a terminal on which a line can be written
// over.
func isTerminal(w io.Writer) bool {
	info, ok := stat(w)
	return ok && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// isSame reports whether v and w are the same terminal, pipe or file.
func isSame(v, w io.Writer) bool {
	first, ok1 := stat(v)
	second, ok2 := stat(w)
	return ok1 && ok2 && os.SameFile(first, second)
}

func stat(w io.Writer) (info os.FileInfo, ok bool) {
	f, ok := w.(*os.File)
	if !ok {
		return nil, false
	}
	info, err := f.Stat()
	return info, err == nil
}

// misused reports a command line that can't be meant.
func (c *command) misused(err error) int {
	fmt.Fprintf(c.stderr, "retryget: %v\nretryget -h lists the flags.\n", err)
	return exitUsage
}
