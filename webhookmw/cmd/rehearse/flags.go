package main

// The command line: what each flag means, and what is refused.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// options is a command line that has been read.
type options struct {
	serve      bool
	url        *url.URL // nil: a receiver of our own
	secretFile string
	secret     string // found later
	madeSecret bool   // it was made here

	event       string // a file, - for standard input; "": one made up
	replay, key string
	events      string // a directory; "": in memory
	times       int
	concurrency int
	scenarios   []scenario // nil: deliver
	quiet       bool

	listen string
	work   time.Duration
	answer []int
}

// parseFlags reads a command line. Its error is [flag.ErrHelp] or says what can't be meant.
func parseFlags(args []string) (*options, error) {
	o := &options{times: 1, concurrency: 1, listen: "127.0.0.1:8090"}
	name := "rehearse"
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.secretFile, "secret-file", "", "")
	fs.BoolVar(&o.quiet, "quiet", false, "")
	if len(args) > 0 && args[0] == "serve" {
		o.serve, args = true, args[1:]
		o.defineServe(fs)
	} else {
		o.defineSend(fs)
	}
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["secret-file"] && o.secretFile == "" {
		return nil, errors.New("-secret-file: it is empty; want the name of a file")
	}
	if o.serve {
		if fs.NArg() > 0 {
			return nil, errors.New("serve takes flags only")
		}
		return o, nil
	}
	if err := o.takeURL(fs.Args()); err != nil {
		return nil, err
	}
	return o, o.together(given)
}

// defineSend defines the flags of everything but serve.
func (o *options) defineSend(fs *flag.FlagSet) {
	fs.StringVar(&o.event, "event", "", "")
	fs.StringVar(&o.replay, "replay", "", "")
	fs.StringVar(&o.key, "key", "", "")
	fs.StringVar(&o.events, "events", "", "")
	fs.Func("times", "", count(&o.times))
	fs.Func("concurrency", "", count(&o.concurrency))
	fs.Func("scenario", "", func(s string) (err error) {
		o.scenarios, err = findScenarios(s)
		return err
	})
}

// defineServe defines the flags of serve.
func (o *options) defineServe(fs *flag.FlagSet) {
	fs.StringVar(&o.listen, "listen", o.listen, "")
	fs.Func("work", "", func(s string) (err error) {
		if o.work, err = time.ParseDuration(s); err != nil || o.work < 0 {
			return errors.New("want a duration of 0 or more, with a unit: 300ms, 2.5s")
		}
		return nil
	})
	fs.Func("answer", "", func(s string) (err error) {
		o.answer, err = parseStatuses(s)
		return err
	})
}

// together checks what flags mean to each other. Without a URL and anything to send it is all scenarios.
func (o *options) together(given map[string]bool) error {
	sends := false
	for _, name := range []string{"event", "replay", "key", "events", "times", "concurrency"} {
		if !given[name] {
			continue
		}
		sends = true
		if o.scenarios != nil {
			return fmt.Errorf("-scenario sends events of its own; -%s has no meaning there", name)
		}
	}
	switch {
	case given["event"] && o.event == "":
		return errors.New("-event: it is empty; want the name of a file, or -")
	case given["events"] && o.events == "":
		return errors.New("-events: it is empty; want the name of a directory")
	case o.concurrency > o.times:
		return fmt.Errorf("-concurrency %d: more than -times, which is %d", o.concurrency, o.times)
	case given["event"] && given["replay"]:
		return errors.New("-event and -replay: want one of them")
	case given["key"] && o.key == "":
		return errors.New("-key: it is empty")
	case given["key"] && o.replay == "":
		return errors.New("-key is for replays; give the event's ID with -replay")
	case given["replay"] && o.replay == "":
		return errors.New("-replay: want the ID of an event")
	case given["replay"] && o.events == "":
		return errors.New("-replay needs -events, the directory in which the event was kept")
	case o.url == nil && given["secret-file"]:
		return errors.New("-secret-file is for a URL; the receiver of our own has a secret of its own")
	}
	if o.url == nil && !sends && o.scenarios == nil {
		o.scenarios = scenarios()
	}
	return nil
}

// takeURL reads what stands after the flags. Its error does not show the URL, which may have a password in it.
func (o *options) takeURL(rest []string) error {
	switch {
	case len(rest) == 0:
		return nil
	case len(rest) > 1 && strings.HasPrefix(rest[1], "-"):
		return errors.New("a flag after the URL; flags come before it")
	case len(rest) > 1:
		return fmt.Errorf("%d URLs; want one", len(rest))
	}
	u, err := url.Parse(rest[0])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New("URL: want an absolute one, with http:// or https://")
	}
	o.url = u
	return nil
}

// count reads how many times something is done.
func count(n *int) func(string) error {
	return func(s string) (err error) {
		if *n, err = strconv.Atoi(s); err != nil || *n < 1 || *n > 100_000 {
			return errors.New("want a whole number from 1 to 100000")
		}
		return nil
	}
}

// parseStatuses reads a list of statuses.
func parseStatuses(s string) (statuses []int, err error) {
	for part := range strings.SplitSeq(s, ",") {
		status, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || status < 200 || status > 599 {
			return nil, errors.New("want statuses from 200 to 599 with commas between them: 500,200")
		}
		statuses = append(statuses, status)
	}
	return statuses, nil
}
