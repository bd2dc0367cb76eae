package main

// The run of scenarios, and the table that it prints.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// rehearse runs scenarios, one after the other.
func (c *command) rehearse(ctx context.Context, o *options) int {
	t := newTimeline(c.stderr, true, false)
	if o.url == nil {
		own, err := c.startReceiver("127.0.0.1:0", o, t)
		if err != nil {
			return c.failed(err)
		}
		defer own.stop()
		o.url = own.url
		if !o.quiet {
			fmt.Fprintf(c.stderr, "no URL was given: a receiver of our own listens on %s\n", own.url)
		}
	}
	l := &lab{url: o.url.String(), secret: o.secret, base: c.transport()}
	start := time.Now()
	rows := newTable(c.stdout, o.scenarios)
	differ := 0
	for _, s := range o.scenarios {
		got, ok := s.run(ctx, l)
		if ctx.Err() != nil {
			break
		}
		if !ok {
			differ++
		}
		rows.row(mark(ok), s, got)
		if !l.reached.Load() {
			return c.failed(errors.New("nothing answers there; the other scenarios were left out"))
		}
	}
	if ctx.Err() != nil {
		return c.interrupted()
	}
	fmt.Fprintf(c.stdout, "\n%s in %v, %s\n", plural(len(o.scenarios), "scenario"), time.Since(start).Round(time.Millisecond), tally(differ))
	if differ > 0 {
		return exitFailed
	}
	return exitOK
}

func mark(ok bool) string {
	if ok {
		return "ok"
	}
	return "DIFFERS"
}

func tally(differ int) string {
	switch differ {
	case 0:
		return "all answered as a correct receiver does"
	case 1:
		return "1 differs from a correct receiver"
	}
	return fmt.Sprintf("%d differ from a correct receiver", differ)
}

// table writes rows as they come. Its columns are as wide as is known before: the last one, which is not, needs no width.
type table struct {
	w                io.Writer
	name, sent, want int
}

func newTable(w io.Writer, scenarios []scenario) *table {
	t := &table{w, len("scenario"), len("what is sent"), len("a correct receiver")}
	for _, s := range scenarios {
		t.name, t.sent, t.want = max(t.name, len(s.name)), max(t.sent, len(s.sent)), max(t.want, len(s.want))
	}
	t.row("", scenario{name: "scenario", sent: "what is sent", want: "a correct receiver"}, "this one")
	return t
}

func (t *table) row(mark string, s scenario, got string) {
	fmt.Fprintf(t.w, "%-7s  %-*s  %-*s  %-*s  %s\n", mark, t.name, s.name, t.sent, s.sent, t.want, s.want, got)
}
