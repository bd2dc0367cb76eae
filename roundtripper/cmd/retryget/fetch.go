package main

// This file holds the fetch: the request under its policy, and its body on the
// way out.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/rebound-go/rebound/roundtripper"
)

// fetch is one run that sends something.
func (c *command) fetch(ctx context.Context, o *options) int {
	out, err := openOutput(o.output, c.stdout)
	if err != nil {
		return c.misused(fmt.Errorf("-o: %w", err))
	}
	defer out.drop()
	t := newTimeline(c.stderr, c.live)
	if o.quiet {
		t = newTimeline(io.Discard, false)
	}
	defer t.settle()

	policy, target := o.policy(), o.url
	if target == nil {
		d, err := startDemo(c.listen, t.note)
		if err != nil {
			return c.end(t, o, failed("the flaky server can't listen: "+clean(err)))
		}
		defer d.stop()
		target, policy = d.url, d.enough(o, policy)
	}
	req, err := o.request(ctx, target, c.stdin)
	switch {
	case ctx.Err() != nil:
		return c.end(t, o, interrupted("before anything was sent"))
	case err != nil:
		return c.misused(err)
	}
	if o.newKey {
		t.line("key", o.key)
	}
	policy.Observe = t.observe
	client := &http.Client{Transport: roundtripper.New(c.base, policy), CheckRedirect: o.checkRedirect}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if invalid, ok := errors.AsType[*roundtripper.InvalidError](err); ok {
		return c.misused(blame(invalid))
	}
	if err != nil {
		return c.end(t, o, noResponse(ctx, req, err))
	}
	return c.end(t, o, c.deliver(ctx, resp, out))
}

// tooManyRedirects ends a fetch that is sent from one place to the next.
type tooManyRedirects int

func (n tooManyRedirects) Error() string {
	return fmt.Sprintf("more than %d redirects (-redirects)", int(n))
}

// checkRedirect is what the client asks before it follows a redirect.
func (o *options) checkRedirect(_ *http.Request, via []*http.Request) error {
	if o.redirects == 0 {
		return http.ErrUseLastResponse
	}
	if len(via) > o.redirects {
		return tooManyRedirects(o.redirects)
	}
	return nil
}

// blame names the flag behind what the transport refused to send.
func blame(e *roundtripper.InvalidError) error {
	switch e.Field {
	case "idempotency key":
		return fmt.Errorf("-key: %s", e.Problem)
	case "request ID":
		return fmt.Errorf("-H: %s: %s", e.Field, e.Problem)
	}
	return fmt.Errorf("%s: %s", e.Field, e.Problem)
}

// deliver writes the body to where it goes. Only that of a 2xx goes to a file:
// what else a server has to say is not what was asked for.
func (c *command) deliver(ctx context.Context, resp *http.Response, out *output) outcome {
	defer resp.Body.Close()
	good := resp.StatusCode >= 200 && resp.StatusCode <= 299
	body := &counter{w: c.stdout}
	if good {
		body.w = out.w
	}
	_, err := io.Copy(body, resp.Body)
	if c.shared && body.w == c.stdout && body.n > 0 && body.last != '\n' {
		io.WriteString(c.stderr, "\n")
	}
	if body.err != nil {
		return failed("the body can't be written: " + clean(body.err))
	}
	if err != nil {
		return brokeOff(ctx, err, body.n)
	}
	report, _ := roundtripper.ReportFrom(resp)
	if !good {
		return badStatus(resp, report)
	}
	if err := out.keep(); err != nil {
		return failed("the body can't be kept: " + clean(err))
	}
	return done(body.n, report)
}

// end tells how the fetch ended, and gives the exit status.
func (c *command) end(t *timeline, o *options, end outcome) int {
	t.line(end.label, end.text)
	switch {
	case !o.quiet || end.exit == exitOK:
	case end.exit == exitInterrupted:
		fmt.Fprintf(c.stderr, "retryget: %s %s\n", end.label, end.text)
	default:
		fmt.Fprintf(c.stderr, "retryget: %s\n", end.text)
	}
	return end.exit
}
