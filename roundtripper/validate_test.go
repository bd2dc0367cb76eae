package roundtripper_test

// This file tests what a policy may not say, and that nothing is sent under one
// that says it.

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*roundtripper.Policy)
		field  string // empty: it is valid
	}{
		{"as it is", func(p *roundtripper.Policy) {}, ""},
		{"AttemptTimeout above TotalTimeout", func(p *roundtripper.Policy) { p.AttemptTimeout, p.TotalTimeout = time.Hour, time.Second }, ""},
		{"zeros", func(p *roundtripper.Policy) { *p = roundtripper.Policy{} }, ""},
		{"statuses at the edges", func(p *roundtripper.Policy) { p.Statuses = []int{100, 599} }, ""},
		{"nothing retried", func(p *roundtripper.Policy) { p.Statuses, p.Methods, p.Backoff = nil, nil, nil }, ""},
		{"a method of its own", func(p *roundtripper.Policy) { p.Methods = []string{"M-SEARCH", "get", "!#$%&'*+-.^_`|~09"} }, ""},
		{"IgnoreRetryAfter", func(p *roundtripper.Policy) { p.RetryAfter = roundtripper.IgnoreRetryAfter }, ""},
		{"header names in any case", func(p *roundtripper.Policy) { p.KeyHeader, p.RequestIDHeader, p.AttemptHeader = "k", "x-ID", "X_a.b" }, ""},

		{"AttemptTimeout", func(p *roundtripper.Policy) { p.AttemptTimeout = -1 }, "AttemptTimeout"},
		{"IdleTimeout", func(p *roundtripper.Policy) { p.IdleTimeout = -time.Hour }, "IdleTimeout"},
		{"TotalTimeout", func(p *roundtripper.Policy) { p.TotalTimeout = -1 }, "TotalTimeout"},
		{"MaxDelay", func(p *roundtripper.Policy) { p.MaxDelay = -1 }, "MaxDelay"},
		{"SlowAfter", func(p *roundtripper.Policy) { p.SlowAfter = -1 }, "SlowAfter"},
		{"MaxRetries", func(p *roundtripper.Policy) { p.MaxRetries = -1 }, "MaxRetries"},
		{"ReadJSON", func(p *roundtripper.Policy) { p.ReadJSON = -1 }, "ReadJSON"},
		{"ReplayBuffer", func(p *roundtripper.Policy) { p.ReplayBuffer = -1 }, "ReplayBuffer"},
		{"RetryAfter below", func(p *roundtripper.Policy) { p.RetryAfter = -1 }, "RetryAfter"},
		{"RetryAfter above", func(p *roundtripper.Policy) { p.RetryAfter = 3 }, "RetryAfter"},
		{"status 99", func(p *roundtripper.Policy) { p.Statuses = []int{503, 99} }, "Statuses"},
		{"status 600", func(p *roundtripper.Policy) { p.Statuses = []int{600} }, "Statuses"},
		{"status 0", func(p *roundtripper.Policy) { p.Statuses = []int{0} }, "Statuses"},
		{"status -503", func(p *roundtripper.Policy) { p.Statuses = []int{-503} }, "Statuses"},
		{"empty method", func(p *roundtripper.Policy) { p.Methods = []string{""} }, "Methods"},
		{"method with a blank", func(p *roundtripper.Policy) { p.Methods = []string{"GET", "GE T"} }, "Methods"},
		{"list for a method", func(p *roundtripper.Policy) { p.Methods = []string{"GET,PUT"} }, "Methods"},
		{"method not ASCII", func(p *roundtripper.Policy) { p.Methods = []string{"G\u00c9T"} }, "Methods"},
		{"KeyHeader", func(p *roundtripper.Policy) { p.KeyHeader = "Idempotency Key" }, "KeyHeader"},
		{"RequestIDHeader", func(p *roundtripper.Policy) { p.RequestIDHeader = "X-Request-Id:" }, "RequestIDHeader"},
		{"AttemptHeader", func(p *roundtripper.Policy) { p.AttemptHeader = "X\r\nY" }, "AttemptHeader"},
		{"AttemptHeader not ASCII", func(p *roundtripper.Policy) { p.AttemptHeader = "X-\u00c9" }, "AttemptHeader"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := roundtripper.Standard()
			tc.change(&p)
			err := p.Validate()
			if tc.field == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			invalid, ok := errors.AsType[*roundtripper.InvalidError](err)
			if !ok || invalid.Field != tc.field || invalid.Problem == "" || !strings.Contains(err.Error(), tc.field) {
				t.Fatalf("%#v, want an InvalidError of %s", err, tc.field)
			}

			// A call under it fails before anything is sent.
			base := twScript(twStep{status: 200})
			body := &twClosed{Reader: strings.NewReader("x")}
			req := twRequest("POST", "")
			req.Body = body
			resp, err := twDo(t, base, p, req)
			base.wantAttempts(t, 0)
			got, ok := errors.AsType[*roundtripper.InvalidError](err)
			if r := twReport(t, resp, err); !ok || *got != *invalid || r.Stop != roundtripper.ReasonInvalid || len(r.Attempts) != 0 {
				t.Errorf("%v, %+v", err, r)
			}
			if body.n != 1 {
				t.Errorf("body closed %d times", body.n)
			}
		})
	}
	for _, preset := range []roundtripper.Policy{roundtripper.Headless(), roundtripper.Transfer()} {
		if err := preset.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// Whatever number or duration a policy has, now or later, none may be negative.
func TestValidateEveryNumber(t *testing.T) {
	n := 0
	for i := range reflect.TypeFor[roundtripper.Policy]().NumField() {
		p := roundtripper.Standard()
		f := reflect.ValueOf(&p).Elem().Field(i)
		if !f.CanInt() {
			continue
		}
		n++
		f.SetInt(-1)
		name := reflect.TypeFor[roundtripper.Policy]().Field(i).Name
		if e, ok := errors.AsType[*roundtripper.InvalidError](p.Validate()); !ok || e.Field != name {
			t.Errorf("%s -1: %v", name, p.Validate())
		}
	}
	if n < 9 {
		t.Errorf("%d numbers in a Policy, want 9 at least", n)
	}
}

// A method and a header name are tokens of RFC 9110, section 5.6.2, byte by byte.
func TestValidateTokens(t *testing.T) {
	const token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for b := range 256 {
		name := "a" + string([]byte{byte(b)})
		want := strings.IndexByte(token, byte(b)) >= 0
		for field, p := range map[string]roundtripper.Policy{"Methods": {Methods: []string{name}}, "AttemptHeader": {AttemptHeader: name}} {
			if err := p.Validate(); (err == nil) != want {
				t.Errorf("%s %q: %v", field, name, err)
			}
		}
	}
}

// One header can't be two things.
func TestValidateHeadersDiffer(t *testing.T) {
	p := roundtripper.Standard()
	p.KeyHeader, p.RequestIDHeader = "X-Id", "x-id"
	if p.Validate() == nil {
		t.Error("one header for key and request ID")
	}
}

// The longest that a call can last, and whether anything bounds it.
func TestWorstCase(t *testing.T) {
	const never = time.Duration(math.MaxInt64)
	for _, tc := range []struct {
		name   string
		policy roundtripper.Policy
		change func(*roundtripper.Policy)
		want   time.Duration
		ok     bool
	}{
		{"Headless: 3 x 8 s + 2 x 5 s", roundtripper.Headless(), nil, 34 * time.Second, true},
		{"Standard: its total", roundtripper.Standard(), nil, 20 * time.Second, true},
		{"Transfer", roundtripper.Transfer(), nil, 0, false},
		{"the zero Policy", roundtripper.Policy{}, nil, 0, false},
		{"no retries", roundtripper.Headless(), func(p *roundtripper.Policy) { p.MaxRetries = 0 }, 8 * time.Second, true},
		{"no waits", roundtripper.Headless(), func(p *roundtripper.Policy) { p.MaxDelay = 0 }, 24 * time.Second, true},
		{"2 x 5 s + 2 s", roundtripper.Headless(), func(p *roundtripper.Policy) {
			p.AttemptTimeout, p.MaxRetries, p.MaxDelay = 5*time.Second, 1, 2*time.Second
		}, 12 * time.Second, true},
		{"a total above it", roundtripper.Headless(), func(p *roundtripper.Policy) { p.TotalTimeout = time.Minute }, 34 * time.Second, true},
		{"a total below it", roundtripper.Headless(), func(p *roundtripper.Policy) { p.TotalTimeout = time.Second }, time.Second, true},
		{"a total alone", roundtripper.Headless(), func(p *roundtripper.Policy) { p.AttemptTimeout, p.TotalTimeout = 0, time.Minute }, time.Minute, true},
		{"retries without end", roundtripper.Headless(), func(p *roundtripper.Policy) { p.MaxRetries = math.MaxInt }, never, true},
		{"waits without end", roundtripper.Headless(), func(p *roundtripper.Policy) { p.MaxDelay = never }, never, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.change != nil {
				tc.change(&tc.policy)
			}
			if d, ok := tc.policy.WorstCase(); ok != tc.ok || ok && d != tc.want {
				t.Errorf("%v %v, want %v %v", d, ok, tc.want, tc.ok)
			}
		})
	}
}

// Explain is for people: it has the facts of the policy in it.
func TestExplain(t *testing.T) {
	changed := roundtripper.Headless()
	changed.MaxRetries, changed.MaxDelay, changed.IdleTimeout, changed.TotalTimeout = 7, 1700*twTick, 11*time.Second, 77*time.Second
	many := roundtripper.Headless()
	many.MaxRetries = math.MaxInt
	invalid := roundtripper.Headless()
	invalid.MaxDelay = -1
	for name, tc := range map[string]struct {
		policy roundtripper.Policy
		want   []string
	}{
		"Headless":  {roundtripper.Headless(), []string{"34s", "8s", "100ms", "200ms", "5s", "429", "500", "502", "503", "504", "GET", "Retry-After", "retryable"}},
		"Standard":  {roundtripper.Standard(), []string{"20s", "8s", "0s to 500ms", "0s to 1s", "0s to 2s", "30s", "408", "429", "502", "503", "504", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "Idempotency-Key", "Retry-After"}},
		"Transfer":  {roundtripper.Transfer(), []string{"30s", "no limit", "Idempotency-Key", "0s to 500ms"}},
		"changed":   {changed, []string{"100ms", "200ms", "400ms", "800ms", "1.6s", "1.7s", "11s", "1m17s"}},
		"zero":      {roundtripper.Policy{}, []string{"nothing", "no limit"}},
		"very many": {many, []string{"100ms", fmt.Sprint(uint64(math.MaxInt) + 1)}},
		"invalid":   {invalid, []string{"MaxDelay"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.policy.Explain()
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("nothing of %q in\n%s", want, got)
				}
			}
			if again := tc.policy.Explain(); again != got {
				t.Errorf("twice, and not the same:\n%s\n%s", got, again)
			}
			for line := range strings.Lines(got) {
				if len(line) > 200 || strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
					t.Errorf("line %q", line)
				}
			}
		})
	}
	if strings.Contains(roundtripper.Headless().Explain(), "Idempotency-Key") || strings.Contains(roundtripper.Standard().Explain(), "retryable") {
		t.Error("a preset explains what it does not do")
	}
}

// Several mistakes are told at once, not one after the other.
func TestValidateTellsAll(t *testing.T) {
	p := roundtripper.Standard()
	p.MaxRetries, p.MaxDelay, p.Statuses, p.KeyHeader = -1, -time.Second, []int{503, 700, 42}, "a b"
	err := p.Validate()
	for _, want := range []string{"MaxRetries: -1", "MaxDelay: -1s", "Statuses: 700", "Statuses: 42", `KeyHeader: "a b"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not say %q", err, want)
		}
	}
}
