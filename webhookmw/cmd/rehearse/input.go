package main

// The event that is sent: where it comes from.

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/webhookmw/rehearse"
)

// inputBytes is the most that is read of an event.
const inputBytes = 16 << 20

// readEvent returns the event of the command line.
func (c *command) readEvent(ctx context.Context, name string) (e rehearse.Event, err error) {
	switch name {
	case "":
		e.Body = madeUp("evt_"+roundtripper.NewKey(), "rehearsal.delivered", "")
	case "-":
		e.Body, err = readInput(ctx, c.stdin)
	default:
		var f *os.File
		if f, err = os.Open(name); err == nil {
			defer f.Close()
			e.Body, err = readInput(ctx, f)
		}
	}
	if err != nil {
		return e, fmt.Errorf("-event: %w", err)
	}
	return e, nil
}

// madeUp is the body of an event, with as much in it as note is long. Its snowman shows who counts characters for bytes.
func madeUp(id, typ, note string) []byte {
	return fmt.Appendf(nil, `{"id":%q,"type":%q,"data":{"greeting":"hello ☃","note":%q}}`, id, typ, note)
}

// readInput reads r to its end, or until ctx ends: a terminal may never end.
func readInput(ctx context.Context, r io.Reader) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, inputBytes+1))
		read <- result{data, err}
	}()
	select {
	case got := <-read:
		if len(got.data) > inputBytes {
			return nil, fmt.Errorf("more than %d MiB", inputBytes>>20)
		}
		return got.data, got.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
