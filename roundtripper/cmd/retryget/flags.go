package main

// This file holds the command line: what each flag means, and what is refused.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// options is a command line that has been read.
type options struct {
	url       *url.URL // nil: the flaky server's
	method    string
	header    http.Header
	data      string
	hasData   bool
	key       string // "": none
	newKey    bool   // key was made here
	redirects int
	output    string // "": standard output
	quiet     bool
	explain   bool

	preset  func() roundtripper.Policy
	changes []func(*roundtripper.Policy) // one for each flag that replaces a field
	retries bool                         // -retries was given

	headers []string // the values of -H, not looked at yet
	refused error    // what a flag had to say to its value
}

// policy is the preset with the fields that flags replace.
func (o *options) policy() roundtripper.Policy {
	p := o.preset()
	if o.key != "" && p.KeyHeader == "" {
		p.KeyHeader = "Idempotency-Key"
	}
	for _, change := range o.changes {
		change(&p)
	}
	return p
}

// change notes what a flag does to the policy.
func (o *options) change(f func(*roundtripper.Policy)) { o.changes = append(o.changes, f) }

// parseFlags reads a command line. Its error is [flag.ErrHelp], or names the
// flag that can't be meant, without showing what may be secret.
func parseFlags(args []string) (*options, error) {
	o := &options{header: http.Header{}, redirects: 10, preset: roundtripper.Headless}
	fs := flag.NewFlagSet("retryget", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.defineRequest(fs)
	o.definePolicy(fs)
	if err := fs.Parse(args); err != nil {
		if o.refused != nil {
			return nil, o.refused
		}
		return nil, unknown(fs, args, err)
	}
	for _, line := range o.headers {
		if err := o.addHeader(line); err != nil {
			return nil, fmt.Errorf("-H: %w", err)
		}
	}
	if o.method == "" {
		o.method = http.MethodGet
		if o.hasData {
			o.method = http.MethodPost
		}
	}
	return o, o.takeURL(fs.Args())
}

// takeURL reads what stands after the flags.
func (o *options) takeURL(rest []string) (err error) {
	switch {
	case len(rest) == 0:
		return nil
	case len(rest) > 1 && strings.HasPrefix(rest[1], "-"):
		return errors.New("a flag after the URL; flags come before it")
	case len(rest) > 1:
		return fmt.Errorf("%d URLs; want one", len(rest))
	}
	if o.url, err = parseURL(rest[0]); err != nil {
		return fmt.Errorf("URL: %w", err)
	}
	return nil
}

// define defines a flag that has a value. What package flag makes of an error
// would show the value; this error does not.
func (o *options) define(fs *flag.FlagSet, name string, set func(string) error) {
	fs.Func(name, "", func(s string) error {
		err := set(s)
		if err != nil {
			o.refused = fmt.Errorf("-%s: %w", name, err)
		}
		return err
	})
}

// defineRequest defines the flags of the request and of the output.
func (o *options) defineRequest(fs *flag.FlagSet) {
	o.define(fs, "X", func(s string) error {
		if !isToken(s) {
			return fmt.Errorf("%q is no HTTP method", s)
		}
		o.method = s
		return nil
	})
	o.define(fs, "d", func(s string) error {
		o.data, o.hasData = s, true
		return nil
	})
	o.define(fs, "H", func(s string) error {
		o.headers = append(o.headers, s)
		return nil
	})
	o.define(fs, "key", func(s string) error {
		if s == "" {
			return errors.New("it is empty")
		}
		if o.key, o.newKey = s, s == "new"; o.newKey {
			o.key = roundtripper.NewKey()
		}
		return nil
	})
	o.define(fs, "redirects", count(func(n int) { o.redirects = n }))
	fs.StringVar(&o.output, "o", "", "")
	fs.BoolVar(&o.quiet, "quiet", false, "")
	fs.BoolVar(&o.explain, "explain", false, "")
}

// definePolicy defines the flags that make the policy.
func (o *options) definePolicy(fs *flag.FlagSet) {
	o.define(fs, "policy", func(s string) error {
		presets := map[string]func() roundtripper.Policy{
			"headless": roundtripper.Headless,
			"standard": roundtripper.Standard,
			"transfer": roundtripper.Transfer,
		}
		preset, ok := presets[s]
		if !ok {
			return fmt.Errorf("no policy is called %q; want headless, standard or transfer", s)
		}
		o.preset = preset
		return nil
	})
	o.define(fs, "retries", count(func(n int) {
		o.retries = true
		o.change(func(p *roundtripper.Policy) { p.MaxRetries = n })
	}))
	o.define(fs, "attempt-timeout", o.duration(func(p *roundtripper.Policy, d time.Duration) { p.AttemptTimeout = d }))
	o.define(fs, "idle-timeout", o.duration(func(p *roundtripper.Policy, d time.Duration) { p.IdleTimeout = d }))
	o.define(fs, "total-timeout", o.duration(func(p *roundtripper.Policy, d time.Duration) { p.TotalTimeout = d }))
	o.define(fs, "max-delay", o.duration(func(p *roundtripper.Policy, d time.Duration) { p.MaxDelay = d }))
	o.define(fs, "statuses", func(s string) error {
		statuses, err := parseStatuses(s)
		o.change(func(p *roundtripper.Policy) { p.Statuses = statuses })
		return err
	})
	o.define(fs, "retry-after", func(s string) error {
		rules := map[string]roundtripper.RetryAfterRule{
			"honor":  roundtripper.HonorRetryAfter,
			"clamp":  roundtripper.ClampRetryAfter,
			"ignore": roundtripper.IgnoreRetryAfter,
		}
		rule, ok := rules[s]
		if !ok {
			return fmt.Errorf("no rule is called %q; want honor, clamp or ignore", s)
		}
		o.change(func(p *roundtripper.Policy) { p.RetryAfter = rule })
		return nil
	})
}

// unknown is the error for a flag that does not exist or lacks its value. It
// shows the name of the flag at most: what is glued to it may be what -H was
// meant to be given.
func unknown(fs *flag.FlagSet, args []string, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	arg := "" // the last that was looked at
	if n := len(args) - fs.NArg(); n > 0 {
		arg = args[n-1]
	}
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	switch {
	case fs.Lookup(name) != nil:
		return err // its name and what it lacks
	case !strings.HasPrefix(arg, "-") || name == "":
		return errors.New("an argument begins with a dash and is no flag")
	case len(arg) == len(name)+1 && fs.Lookup(name[:1]) != nil:
		return fmt.Errorf("an unknown flag that begins with -%s; the value of -%[1]s comes after a space", name[:1])
	case !isToken(name):
		return errors.New("an argument begins with a dash and is no flag")
	}
	return fmt.Errorf("no flag is called -%s", name)
}
