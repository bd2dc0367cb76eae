package main

// This file holds the values of flags: numbers, durations, lists, headers, URLs.

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// count reads how many times something may be done.
func count(set func(int)) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is no count; want a whole number, 0 or more", s)
		}
		set(n)
		return nil
	}
}

// duration reads a field of the policy that is a duration.
func (o *options) duration(set func(*roundtripper.Policy, time.Duration)) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return fmt.Errorf("%q is no duration; want 0 or more, with a unit: 300ms, 8s, 1m30s", s)
		}
		o.change(func(p *roundtripper.Policy) { set(p, d) })
		return nil
	}
}

// parseStatuses reads a list of statuses, or none.
func parseStatuses(s string) ([]int, error) {
	if s == "none" {
		return nil, nil
	}
	var statuses []int
	for part := range strings.SplitSeq(s, ",") {
		status, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || status < 100 || status > 599 {
			return nil, fmt.Errorf("%q is no status from 100 to 599; want a list like 429,503, or none", part)
		}
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	return slices.Compact(statuses), nil
}

// addHeader adds a line like "Name: value". Its error shows no more of it than
// the name.
func (o *options) addHeader(line string) error {
	name, value, ok := strings.Cut(line, ":")
	switch value = strings.TrimSpace(value); {
	case !ok:
		return errors.New("there is no colon; want 'Name: value'")
	case !isToken(name):
		return errors.New("what stands before the colon is no header name")
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fmt.Errorf("the value of %s has a control character in it", name)
	}
	o.header.Add(name, value)
	return nil
}

// isToken reports whether s may name a method or a header (RFC 9110, section
// 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// parseURL reads an absolute http or https URL. Its error does not show the
// URL, which may have a password in it.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil && strings.Contains(raw, "@"):
		return nil, errors.New("it can't be parsed; a special character in the user name or password must be percent-encoded")
	case err != nil:
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("it does not begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("it names no host")
	}
	return u, nil
}
