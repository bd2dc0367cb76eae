package roundtripper_test

// This file tests calls against a model: random policies, requests, servers,
// deadlines and cancellations, each with the exact time at which everything
// must happen.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

var twModelSeed = flag.Uint64("modelseed", 1, "seed of the cases of TestModel")

const (
	twModelCases = 4000
	twNever      = time.Duration(1 << 62)
)

func TestModel(t *testing.T) {
	seen := make(map[roundtripper.Reason]int) // what the cases have come to
	synctest.Test(t, func(t *testing.T) {
		for i := range twModelCases {
			r := rand.New(rand.NewPCG(*twModelSeed, uint64(i)))
			c := twRandomCase(r)
			got := c.run(r)
			problems := append(c.compare(c.predict(), got), c.invariants(got)...)
			if i%16 == 0 { // it draws from Backoff, which takes its time
				if worst, ok := c.policy.WorstCase(); ok && got.end > worst {
					problems = append(problems, fmt.Sprintf("ended at %v, WorstCase is %v", got.end, worst))
				}
			}
			if len(problems) > 0 {
				t.Fatalf("case %d of -modelseed=%d\n%v\n%s", i, *twModelSeed, c, strings.Join(problems, "\n"))
			}
			seen[got.stop]++
		}
	})
	// A model that meets only the easy half proves little.
	for _, r := range []roundtripper.Reason{"ok", "status", "permanent", "envelope", "contract", "not-repeatable",
		"not-replayable", "retries-spent", "retry-after-too-long", "deadline", "canceled"} {
		if seen[r] < 10 {
			t.Errorf("only %d cases stop with %q", seen[r], r)
		}
	}
}

// twCase is one call: what is asked for, under which rules, and what the world
// does to it.
type twCase struct {
	policy   roundtripper.Policy
	draws    []time.Duration // what Backoff says
	decides  bool            // Decide takes a 404 for one that may heal
	without  bool            // WithoutRetry
	byCtx    bool            // the policy comes with the context
	method   string
	key      string
	keyInCtx bool
	body     string
	getBody  bool
	ctxEnd   time.Duration // twNever: the context does not end
	deadline bool          // it ends with a deadline,
	hidden   bool          // that can't be seen
	steps    []twModelStep
}

// twModelStep is a step and what its Retry-After asks for; -1: nothing.
type twModelStep struct {
	twStep
	asked time.Duration
}

// twFinal is a body that says that there is no use in another attempt.
const twFinal = `{"retryable":false}`

func (c *twCase) String() string {
	p := c.policy
	var b strings.Builder
	fmt.Fprintf(&b, "retries %d, attempt %v, idle %v, total %v, max delay %v, rule %d, statuses %v, methods %v\n",
		p.MaxRetries, p.AttemptTimeout, p.IdleTimeout, p.TotalTimeout, p.MaxDelay, p.RetryAfter, p.Statuses, p.Methods)
	fmt.Fprintf(&b, "key header %q, replay %d, unsent %v, envelope %v, JSON %d, ID header %q, backoff %v, decides %v, without %v\n",
		p.KeyHeader, p.ReplayBuffer, p.RetryUnsent, p.Envelope, p.ReadJSON, p.RequestIDHeader, c.draws, c.decides, c.without)
	fmt.Fprintf(&b, "%q key %q, body %q, GetBody %v, context ends at %v (deadline %v, hidden %v)",
		c.method, c.key, c.body, c.getBody, c.ctxEnd, c.deadline, c.hidden)
	for i, s := range c.steps {
		fmt.Fprintf(&b, "\nstep %d: %+v", i+1, s)
	}
	return b.String()
}

func twOneOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func twRandomCase(r *rand.Rand) *twCase {
	// In nanoseconds, so that no two things happen at one instant.
	some := func(max time.Duration) time.Duration { return 1 + time.Duration(r.Int64N(int64(max))) }
	maybe := func(max time.Duration) time.Duration { return twOneOf(r, 0, some(max)) }
	c := &twCase{method: twOneOf(r, "GET", "GET", "", "PUT", "POST", "POST", "PATCH"), ctxEnd: twNever}
	c.policy = roundtripper.Policy{
		AttemptTimeout:  maybe(2 * time.Second),
		IdleTimeout:     twOneOf(r, 0, 0, some(2*time.Second)),
		TotalTimeout:    maybe(8 * time.Second),
		MaxRetries:      r.IntN(5),
		Statuses:        twOneOf(r, nil, []int{503}, []int{408, 429, 502, 503, 504}, []int{429, 500, 503}),
		Envelope:        r.IntN(2) == 0,
		ReadJSON:        twOneOf(r, int64(0), 64),
		Methods:         twOneOf(r, []string{"GET"}, []string{"GET", "PUT"}, []string{"GET", "PUT"}),
		KeyHeader:       twOneOf(r, "", "Idempotency-Key", "Idempotency-Key"),
		ReplayBuffer:    twOneOf(r, int64(0), 8, 9, 100),
		RetryUnsent:     r.IntN(2) == 0,
		MaxDelay:        twOneOf(r, 0, some(time.Second), some(4*time.Second), some(4*time.Second)),
		RetryAfter:      roundtripper.RetryAfterRule(r.IntN(3)),
		RequestIDHeader: twOneOf(r, "", "X-Request-Id"),
	}
	if r.IntN(4) > 0 {
		for range c.policy.MaxRetries + 1 { // one more, that only WorstCase asks for
			c.draws = append(c.draws, twOneOf(r, 0, some(time.Second), some(3*time.Second), -some(time.Second)))
		}
		c.policy.Backoff = func(retry int, _ time.Duration) time.Duration { return c.draws[min(retry, len(c.draws)-1)] }
	}
	if r.IntN(5) == 0 {
		c.decides = true
		c.policy.Decide = func(a *roundtripper.Attempt) roundtripper.Verdict {
			v := a.Verdict
			v.Retry = v.Retry || a.StatusCode == 404
			return v
		}
	}
	c.without, c.byCtx = r.IntN(20) == 0, r.IntN(2) == 0
	if r.IntN(3) == 0 {
		c.key, c.keyInCtx = "key-1", r.IntN(2) == 0
	}
	if r.IntN(2) == 0 {
		c.body, c.getBody = "12345678", r.IntN(2) == 0
		c.body += twOneOf(r, "", "9", strings.Repeat("x", 200))
	}
	if r.IntN(2) == 0 {
		c.ctxEnd = twOneOf(r, -1, some(time.Second), some(8*time.Second), some(8*time.Second))
		c.deadline, c.hidden = r.IntN(2) == 0, r.IntN(2) == 0
	}
	for range c.policy.MaxRetries + 1 {
		c.steps = append(c.steps, twRandomStep(r, some))
	}
	// Something must end a server that never answers.
	if p := &c.policy; p.AttemptTimeout == 0 && p.IdleTimeout == 0 && p.TotalTimeout == 0 && c.ctxEnd == twNever {
		p.AttemptTimeout = some(2 * time.Second)
	}
	return c
}

func twRandomStep(r *rand.Rand, some func(time.Duration) time.Duration) (s twModelStep) {
	s.after, s.asked = twOneOf(r, 0, 0, some(time.Second), some(3*time.Second)), -1
	switch r.IntN(10) {
	case 0:
		s.hang = true
	case 1:
		s.err = io.EOF
	case 2:
		s.err, s.unread = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, true
	case 3:
		s.err = twOneOf[error](r, http.ErrSchemeMismatch, io.ErrUnexpectedEOF, syscall.ECONNRESET)
	default:
		s.status = twOneOf(r, 200, 200, 404, 409, 429, 500, 503, 503, 503, 503)
		if r.IntN(2) == 0 {
			s.header = append(s.header, twJSON...)
			s.body = twOneOf(r, `{"a":1}`, twFinal)
			if s.status == 200 && r.IntN(2) == 0 {
				s.stall = r.IntN(2) == 0
				s.cut = io.ErrUnexpectedEOF
			}
		}
		if r.IntN(12) == 0 {
			s.header = append(s.header, "X-Request-Id", "another")
			s.stall = false // draining it takes its time, which is no matter of the rules
		}
		s.unread = r.IntN(4) == 0 // an answer before the body is read
		switch r.IntN(4) {
		case 0:
			s.asked = time.Duration(r.IntN(4500)) * twTick
			s.header = append(s.header, "Retry-After", fmt.Sprintf("%d.%03d", s.asked/time.Second, s.asked%time.Second/twTick))
		case 1:
			s.header = append(s.header, "Retry-After", "soon")
		}
	}
	return s
}

// twOutcome is what became of a call.
type twOutcome struct {
	starts []time.Duration
	end    time.Duration
	status int // 0: an error
	stop   roundtripper.Reason

	resp    *http.Response
	err     error
	report  *roundtripper.Report
	base    *twBase
	changed string // what became different of the caller's request
	closed  int    // how often its body was closed
	misread string // what was wrong with the response's body
}

// run makes the call.
func (c *twCase) run(r *rand.Rand) *twOutcome {
	ctx := context.Background()
	if c.keyInCtx {
		ctx = roundtripper.WithKey(ctx, c.key)
	}
	if c.without {
		ctx = roundtripper.WithoutRetry(ctx)
	}
	policy := c.policy
	if c.byCtx {
		ctx, policy = roundtripper.WithPolicy(ctx, policy), roundtripper.Policy{}
	}
	switch {
	case c.ctxEnd == twNever:
	case c.deadline:
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, c.ctxEnd)
		defer cancel()
		if c.hidden {
			ctx = twHidden{ctx}
		}
	default:
		var cancel func()
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		if c.ctxEnd < 0 {
			cancel()
		} else {
			defer time.AfterFunc(c.ctxEnd, cancel).Stop()
		}
	}
	out := &twOutcome{base: twScript()}
	for _, s := range c.steps {
		out.base.steps = append(out.base.steps, s.twStep)
	}
	req := twRequest(c.method, "").WithContext(ctx)
	req.Method = c.method
	req.Header.Set("X-Caller", "mine")
	if c.key != "" && !c.keyInCtx {
		req.Header.Set("Idempotency-Key", c.key)
	}
	body := &twClosed{Reader: strings.NewReader(c.body)}
	if c.body != "" {
		req.Body, req.ContentLength = body, twOneOf(r, -1, int64(len(c.body)))
		if c.getBody {
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(c.body)), nil }
		}
	}
	before, header, url := *req, maps.Clone(req.Header), req.URL.String()

	out.resp, out.err = roundtripper.New(out.base, policy).RoundTrip(req)
	out.end, out.starts = time.Since(out.base.start), out.base.at
	if out.resp != nil {
		out.status = out.resp.StatusCode
		out.report, _ = roundtripper.ReportFrom(out.resp)
		if last := c.steps[len(out.starts)-1]; !last.stall {
			data, err := io.ReadAll(out.resp.Body)
			if string(data) != last.body || err != last.cut {
				out.misread = fmt.Sprintf("%q, %v", data, err)
			}
		}
		out.resp.Body.Close()
	} else if e, ok := errors.AsType[*roundtripper.Error](out.err); ok {
		out.report = e.Report
	}
	if out.report != nil {
		out.stop = out.report.Stop
	}
	out.closed = body.n
	before.GetBody, req.GetBody = nil, nil // DeepEqual does not compare functions
	if !reflect.DeepEqual(before, *req) || !reflect.DeepEqual(header, req.Header) || req.URL.String() != url {
		out.changed = fmt.Sprintf("%+v, was %+v", *req, before)
	}
	return out
}
