package main

// Deliveries: one, or as many as the command line wants, and how they ended.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rebound-go/rebound/webhookmw/rehearse"
)

// deliver is a run that sends or replays an event.
func (c *command) deliver(ctx context.Context, o *options) int {
	t := newTimeline(c.stderr, o.quiet, o.times > 1)
	event := rehearse.Event{ID: o.replay}
	var err error
	if o.replay == "" {
		if event, err = c.readEvent(ctx, o.event); err != nil {
			if ctx.Err() != nil {
				return c.interrupted()
			}
			return c.misused(err)
		}
	} else if _, err = os.Stat(o.events); err != nil {
		return c.misused(fmt.Errorf("-events: %w", err)) // a directory made now would have no event in it
	}
	config := rehearse.Config{Secret: o.secret, Transport: c.base, Observe: t.observe}
	if o.events != "" {
		if config.Events, err = rehearse.NewDir(o.events); err != nil {
			return c.misused(err)
		}
	}
	if o.url == nil {
		own, err := c.startReceiver("127.0.0.1:0", o, t)
		if err != nil {
			return c.failed(err)
		}
		defer own.stop()
		o.url = own.url
	}
	config.URL = o.url.String()
	sender, err := rehearse.New(config)
	if err != nil {
		return c.misused(err)
	}
	one := func() (rehearse.Result, error) {
		if o.replay != "" {
			result, err := sender.Replay(ctx, o.replay, o.key)
			if errors.Is(err, rehearse.ErrNoEvent) {
				err = fmt.Errorf("-replay: %w in %s: %s", err, o.events, o.replay)
			}
			return result, err
		}
		return sender.Send(ctx, event)
	}
	return c.repeat(ctx, o, one)
}

// repeat makes the deliveries, and tells how each of them ended.
func (c *command) repeat(ctx context.Context, o *options, one func() (rehearse.Result, error)) int {
	var mu sync.Mutex
	var failure error
	states := map[rehearse.State]int{}
	deliveries := map[string]bool{} // by ID: replays under one key have the same
	turns := make(chan struct{}, o.times)
	for range o.times {
		turns <- struct{}{}
	}
	close(turns)
	var all sync.WaitGroup
	for range min(o.concurrency, o.times) {
		all.Go(func() {
			for range turns {
				result, err := one()
				mu.Lock()
				if err == nil {
					states[result.State]++
					deliveries[result.DeliveryID] = true
					fmt.Fprintln(c.stdout, ending(result))
				} else if failure == nil {
					failure = err
				}
				stop := failure != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	all.Wait()
	delivered := states[rehearse.Delivered]
	if o.times > 1 && failure == nil {
		fmt.Fprintf(c.stdout, "%d times: %d delivered, %d failed, %d unknown%s\n",
			o.times, delivered, states[rehearse.Rejected], states[rehearse.Unknown], inAll(o, len(deliveries)))
	}
	switch {
	case failure == nil && delivered == o.times:
		return exitOK
	case failure == nil:
		return exitFailed
	case ctx.Err() != nil:
		return c.interrupted()
	case cantBeMeant(failure):
		return c.misused(failure)
	}
	return c.failed(failure)
}

// inAll says how many deliveries all the replays were.
func inAll(o *options, deliveries int) string {
	switch {
	case o.replay == "":
		return ""
	case deliveries == 1:
		return "; all were 1 delivery"
	}
	return fmt.Sprintf("; %d deliveries", deliveries)
}

// cantBeMeant reports whether err is about what was asked for, so that nothing was sent.
func cantBeMeant(err error) bool {
	_, conflict := errors.AsType[*rehearse.ConflictError](err)
	return conflict || errors.Is(err, rehearse.ErrBadEvent) || errors.Is(err, rehearse.ErrNoEvent)
}

// ending is how a delivery ended, on one line.
func ending(r rehearse.Result) string {
	text := fmt.Sprintf("%-9s  event %s, delivery %s", r.State, r.EventID, r.DeliveryID)
	switch {
	case r.Duplicate:
		text += ", duplicate"
	case r.EventSeen:
		text += ", event seen before"
	case r.Gone:
		text += ", gone for good"
	}
	if n := len(r.Attempts); n > 0 {
		first, last := r.Attempts[0], r.Attempts[n-1]
		took := last.Start.Add(last.Elapsed).Sub(first.Start)
		if r.State != rehearse.Delivered {
			text += ": " + lastly(last)
		}
		text += fmt.Sprintf(" (%s in %v)", plural(n, "attempt"), took.Round(time.Millisecond))
	}
	return text
}

// lastly is what the last attempt met.
func lastly(a rehearse.Attempt) string {
	if a.Err != nil {
		return clean(a.Err)
	}
	return statusText(a.StatusCode)
}
