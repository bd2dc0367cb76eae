// Command rehearse tries a webhook receiver against what will happen to it.
//
//	rehearse [flags] [URL]
//	rehearse serve [flags]
//
// With a URL it delivers a signed event there, as package rehearse does, and shows each attempt as it happens; with
// -scenario it sends what goes wrong in production (twins, replays, stale and forged deliveries, bodies that are cut off
// or too large) and prints a table of what the receiver answered beside what a correct one answers. Without a URL it
// sends to a receiver of its own, behind package webhookmw, and where no flag says what, that is all scenarios:
//
//	go run github.com/rebound-go/rebound/webhookmw/cmd/rehearse
//
// The subcommand serve is the other way round: a receiver for trying senders, which prints each delivery and what became
// of it. The flag -h lists the rest.
//
// The secret comes from the environment variable REHEARSE_SECRET or from a file, never from an argument, which others on
// the machine could see.
//
// The exit status is 0 if everything was delivered, or every scenario answered as it should be; 1 if not; 2 if nothing
// was sent because the command line can't be meant; and 130 after an interrupt, except that of serve, which has no other
// end: 0.
package main

// The command, from its arguments to its exit status.

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
	"strings"
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
	context.AfterFunc(ctx, stop) // so that a second interrupt ends the process, should it hang
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command, without the process around it. The end of ctx is an interrupt.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := command{
		stdin:  stdin,
		stdout: stdout,
		stderr: stderr,
		getenv: os.Getenv,
		listen: func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) },
	}
	return c.run(ctx, args)
}

// command is what one run works with.
type command struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	getenv func(string) string
	base   http.RoundTripper // what sends; nil: one like http.DefaultTransport
	listen func(addr string) (net.Listener, error)
}

func (c *command) run(ctx context.Context, args []string) int {
	o, err := parseFlags(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(c.stdout, help())
		return exitOK
	case err != nil:
		return c.misused(err)
	}
	if o.secret, err = c.findSecret(o); err != nil {
		return c.misused(err)
	}
	switch {
	case o.serve:
		return c.serve(ctx, o)
	case o.scenarios != nil:
		return c.rehearse(ctx, o)
	}
	return c.deliver(ctx, o)
}

// misused reports a command line that can't be meant.
func (c *command) misused(err error) int {
	c.complain(err)
	io.WriteString(c.stderr, "rehearse -h lists the flags.\n")
	return exitUsage
}

// failed reports what ended the run early.
func (c *command) failed(err error) int {
	c.complain(err)
	return exitFailed
}

// interrupted reports an interrupt that came before the end.
func (c *command) interrupted() int {
	io.WriteString(c.stderr, "rehearse: interrupted\n")
	return exitInterrupted
}

// complain writes err behind the command's name, which is also that of the package most errors come from: once is enough.
func (c *command) complain(err error) {
	fmt.Fprintf(c.stderr, "rehearse: %s\n", strings.ReplaceAll(clean(err), "rehearse: ", ""))
}

// transport is what sends.
func (c *command) transport() http.RoundTripper {
	if c.base != nil {
		return c.base
	}
	return http.DefaultTransport
}
