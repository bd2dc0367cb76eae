package roundtripper_test

// This file tests what a call reads of a body before the caller gets it:
// ReadJSON, ValidJSON, Accept and Envelope.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// A JSON body that breaks off or stalls is a failed attempt; one that is whole
// or too long to read ahead reaches the caller byte for byte.
func TestReadJSON(t *testing.T) {
	const limit = 16
	whole, longer := `{"a":"123456789`[:limit-1]+`}`, `{"a":"1234567890"}`
	ctype := func(v string) []string { return []string{"Content-Type", v} }
	for _, tc := range []struct {
		name     string
		step     twStep
		attempts int
		want     string // of the body that reaches the caller
		err      error  // that its reading ends with
	}{
		{"whole", twStep{status: 200, header: twJSON, body: whole}, 1, whole, nil},
		{"empty", twStep{status: 200, header: twJSON}, 1, "", nil},
		{"malformed but whole", twStep{status: 200, header: twJSON, body: `{"a"`}, 1, `{"a"`, nil},
		{"cut", twStep{status: 200, header: twJSON, body: `{"a"`, cut: io.ErrUnexpectedEOF}, 3, "", nil},
		{"cut at once", twStep{status: 200, header: twJSON, cut: io.ErrUnexpectedEOF}, 3, "", nil},
		{"cut after a value that looks whole", twStep{status: 200, header: twJSON, body: `[]`, cut: io.ErrUnexpectedEOF}, 3, "", nil},
		{"cut at the limit", twStep{status: 200, header: twJSON, body: whole, cut: io.ErrUnexpectedEOF}, 3, "", nil},
		{"stalls", twStep{status: 200, header: twJSON, body: `{"a"`, stall: true}, 3, "", nil},
		{"longer than the limit", twStep{status: 200, header: twJSON, body: longer}, 1, longer, nil},
		{"longer, and cut behind it", twStep{status: 200, header: twJSON, body: longer, cut: io.ErrUnexpectedEOF}, 1, longer, io.ErrUnexpectedEOF},
		{"+json", twStep{status: 201, header: ctype("application/problem+json; charset=utf-8"), body: `{`, cut: io.EOF}, 1, "{", nil},
		{"+json, cut", twStep{status: 201, header: ctype("application/ld+json;charset=utf-8"), body: `{`, cut: io.ErrUnexpectedEOF}, 3, "", nil},
		{"upper case, cut", twStep{status: 200, header: ctype("Application/JSON"), body: `{`, cut: io.ErrUnexpectedEOF}, 3, "", nil},
		{"another type, cut", twStep{status: 200, header: ctype("text/plain"), body: `{`, cut: io.ErrUnexpectedEOF}, 1, "{", io.ErrUnexpectedEOF},
		{"a type that only looks like it", twStep{status: 200, header: ctype("application/jsonl"), body: `{`, cut: io.ErrUnexpectedEOF}, 1, "{", io.ErrUnexpectedEOF},
		{"no type, cut", twStep{status: 200, body: `{`, cut: io.ErrUnexpectedEOF}, 1, "{", io.ErrUnexpectedEOF},
		{"an error status, cut", twStep{status: 404, header: twJSON, body: `{`, cut: io.ErrUnexpectedEOF}, 1, "{", io.ErrUnexpectedEOF},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p := twPlain()
			p.ReadJSON, p.AttemptTimeout = limit, time.Second
			base := twScript(tc.step)
			resp, err := twDo(t, base, p, twRequest("GET", ""))
			base.wantAttempts(t, tc.attempts)
			if tc.attempts > 1 {
				want := tc.step.cut
				reason := roundtripper.ReasonNetwork
				if tc.step.stall {
					want, reason = nil, roundtripper.ReasonAttemptTimeout
					base.wantNow(t, 3*time.Second)
				}
				if err == nil || want != nil && !errors.Is(err, want) {
					t.Fatalf("error %v", err)
				}
				base.wantClosed(t)
				for _, a := range twReport(t, resp, err).Attempts {
					if a.Verdict.Reason != reason || a.StatusCode != tc.step.status {
						t.Errorf("attempt %+v", a)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			if string(got) != tc.want || err != tc.err {
				t.Errorf("read %q, %v, want %q, %v", got, err, tc.want, tc.err)
			}
			resp.Body.Close()
			base.wantClosed(t)
		})
	}
	twRun(t, "an unsafe write is not repeated for it", func(t *testing.T) {
		base := twScript(twStep{status: 200, header: twJSON, body: `{`, cut: io.ErrUnexpectedEOF})
		resp, err := twDo(t, base, roundtripper.Standard(), twRequest("POST", "x"))
		base.wantAttempts(t, 1)
		if r := twReport(t, resp, err); !errors.Is(err, io.ErrUnexpectedEOF) || r.Stop != roundtripper.ReasonNotRepeatable {
			t.Errorf("%v, stop %q", err, r.Stop)
		}
	})
}

// A server that says how long the body is and sends less, over a connection.
func TestReadJSONShorterThanDeclared(t *testing.T) {
	n := 0
	twRun(t, "", func(t *testing.T) {
		base, stop := twPipeServer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "10")
			if n++; n == 1 {
				io.WriteString(w, `{"a":1}`)
				panic(http.ErrAbortHandler)
			}
			io.WriteString(w, `{"a":1234}`)
		})
		defer stop()
		resp, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := twRead(t, resp); got != `{"a":1234}` || n != 2 || resp.ContentLength != 10 {
			t.Errorf("body %q after %d requests", got, n)
		}
	})
}

// An answer to HEAD says how long the body would be and has none, whatever a
// base makes of it.
func TestReadJSONOfHEAD(t *testing.T) {
	for name, change := range map[string]func(*http.Response){
		"as net/http":          func(r *http.Response) { r.Body = http.NoBody },
		"with an empty body":   func(r *http.Response) { r.Body = io.NopCloser(strings.NewReader("")) },
		"without its request":  func(r *http.Response) { r.Body, r.Request = io.NopCloser(strings.NewReader("")), nil },
		"without a body field": func(r *http.Response) { r.Body = nil },
	} {
		attempts := 0
		base := twFunc(func(req *http.Request) (*http.Response, error) {
			attempts++
			resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: 10, Request: req}
			change(resp)
			return resp, nil
		})
		p := twAtOnce()
		p.Accept = roundtripper.ValidJSON
		if _, err := twDo(t, base, p, twRequest("HEAD", "")); err != nil || attempts != 1 {
			t.Errorf("%s: %v after %d attempts", name, err, attempts)
		}
	}
}

// ValidJSON refuses a 2xx of a JSON type that is not exactly one JSON value,
// and judges nothing else; the body reads as it did.
func TestValidJSON(t *testing.T) {
	const j = "application/json"
	for _, tc := range []struct {
		name     string
		status   int
		ctype    string
		body     string
		method   string
		encoding string
		ok       bool
	}{
		{"object", 200, j, `{"a":[1,2,{"b":null}]}`, "GET", "", true},
		{"array, number, string, null", 200, j, `[-1.5e3,"\u00e9",null]`, "GET", "", true},
		{"a bare value", 200, j, `true`, "GET", "", true},
		{"white space around", 200, j, " \t\r\n{} \n", "GET", "", true},
		{"with parameters", 201, "application/vnd.api+json; charset=utf-8", `{}`, "GET", "", true},

		{"empty", 200, j, "", "GET", "", false},
		{"white space only", 200, j, " \n", "GET", "", false},
		{"cut", 200, j, `{"a":`, "GET", "", false},
		{"two values", 200, j, `{}{}`, "GET", "", false},
		{"two lines", 200, j, "{}\n{}", "GET", "", false},
		{"garbage behind", 200, j, `{} x`, "GET", "", false},
		{"trailing comma", 200, j, `[1,]`, "GET", "", false},
		{"HTML", 200, j, `<html></html>`, "GET", "", false},
		{"NaN", 200, j, `NaN`, "GET", "", false},
		{"+json", 299, "application/hal+json", `{`, "GET", "", false},
		{"POST", 201, j, `{`, "POST", "", false},

		{"HEAD", 200, j, "", "HEAD", "", true},
		{"204", 204, j, "", "GET", "", true},
		{"205", 205, j, "", "GET", "", true},
		{"206", 206, j, `{"a":`, "GET", "", true},
		{"304", 304, j, "", "GET", "", true},
		{"404", 404, j, `{`, "GET", "", true},
		{"503", 503, j, `{`, "GET", "", true},
		{"gzip", 200, j, "\x1f\x8b", "GET", "gzip", true},
		{"another type", 200, "text/html", `{`, "GET", "", true},
		{"no type", 200, "", `{`, "GET", "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := http.Header{}
			if tc.ctype != "" {
				h.Set("Content-Type", tc.ctype)
			}
			if tc.encoding != "" {
				h.Set("Content-Encoding", tc.encoding)
			}
			body := &twClosed{Reader: strings.NewReader(tc.body)}
			resp := &http.Response{StatusCode: tc.status, Header: h, Body: body, ContentLength: -1, Request: twRequest(tc.method, "")}
			if err := roundtripper.ValidJSON(resp); (err == nil) != tc.ok {
				t.Errorf("%v, want ok: %v", err, tc.ok)
			}
			got, err := io.ReadAll(resp.Body)
			if string(got) != tc.body || err != nil {
				t.Errorf("the body reads %q, %v afterwards", got, err)
			}
			if resp.Body.Close(); body.n == 0 {
				t.Error("the body can't be closed")
			}
		})
	}
	t.Run("a body that breaks off is not malformed", func(t *testing.T) {
		broken := errors.New("broken")
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {j}}, ContentLength: -1,
			Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"a"`), twBroken{broken}))}
		if err := roundtripper.ValidJSON(resp); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(resp.Body); string(got) != `{"a"` || err != broken {
			t.Errorf("read %q, %v", got, err)
		}
	})
	t.Run("no body", func(t *testing.T) {
		roundtripper.ValidJSON(&http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {j}}})
	})
}

// Accept is asked for every 2xx and for nothing else; its no is final, and its
// error is found in ours.
func TestAccept(t *testing.T) {
	mine := errors.New("not what I asked for")
	for status, asked := range map[int]bool{200: true, 204: true, 299: true, 302: false, 404: false, 503: false} {
		twRun(t, fmt.Sprint(status), func(t *testing.T) {
			n := 0
			p := twPlain()
			p.Accept = func(resp *http.Response) error {
				if n++; resp.StatusCode != status {
					t.Errorf("asked of %d", resp.StatusCode)
				}
				return mine
			}
			base := twScript(twStep{status: status, body: "b"})
			resp, err := twDo(t, base, p, twRequest("GET", ""))
			if !asked {
				if n != 0 || err != nil {
					t.Errorf("asked %d times, %v", n, err)
				}
				return
			}
			base.wantAttempts(t, 1)
			base.wantClosed(t)
			if r := twReport(t, resp, err); n != 1 || !errors.Is(err, mine) || r.Stop != roundtripper.ReasonContract || r.Attempts[0].StatusCode != status {
				t.Errorf("asked %d times, %v, %+v", n, err, r)
			}
		})
	}
	twRun(t, "yes", func(t *testing.T) {
		p := twPlain()
		p.Accept = func(*http.Response) error { return nil }
		resp, err := twDo(t, twScript(twStep{status: 503}, twStep{status: 200, body: "b"}), p, twRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := twRead(t, resp); got != "b" {
			t.Errorf("body %q", got)
		}
	})
}

// An envelope with "retryable": false is terminal; anything else it may say, or
// fail to say, changes nothing, and the caller reads the whole of it.
func TestEnvelope(t *testing.T) {
	deep := strings.Repeat(`{"error":`, 10000) + "1" + strings.Repeat("}", 10000)
	for _, tc := range []struct {
		name  string
		ctype string
		body  string
		final bool
	}{
		{"false", "application/json", `{"retryable":false}`, true},
		{"false among others", "application/problem+json", `{"code": 1, "retryable" : false, "x": {}}`, true},
		{"false in error", "application/json", `{"error":{"message":"no","retryable":false}}`, true},
		{"true", "application/json", `{"retryable":true}`, false},
		{"nothing", "application/json", `{}`, false},
		{"null", "application/json", `{"retryable":null}`, false},
		{"a string", "application/json", `{"retryable":"false"}`, false},
		{"zero", "application/json", `{"retryable":0}`, false},
		{"elsewhere", "application/json", `{"data":{"retryable":false}}`, false},
		{"error is a string", "application/json", `{"error":"no"}`, false},
		{"an array", "application/json", `[{"retryable":false}]`, false},
		{"not JSON", "application/json", `"retryable": false`, false},
		{"empty", "application/json", ``, false},
		{"another type", "text/plain", `{"retryable":false}`, false},
		{"no type", "", `{"retryable":false}`, false},
		{"deep", "application/json", deep, false},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			step := twStep{status: 503, body: tc.body}
			if tc.ctype != "" {
				step.header = []string{"Content-Type", tc.ctype}
			}
			base := twScript(step)
			resp, err := twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
			if err != nil {
				t.Fatal(err)
			}
			want, stop := 3, roundtripper.ReasonRetriesSpent
			if tc.final {
				want, stop = 1, roundtripper.ReasonEnvelope
			}
			base.wantAttempts(t, want)
			if r := twReport(t, resp, err); r.Stop != stop {
				t.Errorf("stop %q, want %q", r.Stop, stop)
			}
			if got := twRead(t, resp); got != tc.body {
				t.Errorf("the caller reads %.100q", got)
			}
		})
	}
	twRun(t, "a body that never ends is no trap", func(t *testing.T) {
		base := twScript(twStep{status: 503, header: twJSON, body: `{"retr`, stall: true})
		twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
		base.wantAttempts(t, 3)
		if took := time.Since(base.start); took > 25*time.Second {
			t.Errorf("it took %v", took)
		}
	})
	twRun(t, "one that breaks off says nothing", func(t *testing.T) {
		base := twScript(twStep{status: 503, header: twJSON, body: `{"retryable":false`, cut: io.ErrUnexpectedEOF})
		twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
		base.wantAttempts(t, 3)
	})
	twRun(t, "nor does one that breaks off behind what it says", func(t *testing.T) {
		base := twScript(twStep{status: 503, header: twJSON, body: `{"retryable":false}`, cut: io.ErrUnexpectedEOF})
		twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
		base.wantAttempts(t, 3)
	})
	twRun(t, "nor one that is too long to be looked at", func(t *testing.T) {
		base := twScript(twStep{status: 503, header: twJSON, body: `{"retryable":false}` + strings.Repeat(" ", 64<<10)})
		twDo(t, base, roundtripper.Headless(), twRequest("GET", ""))
		base.wantAttempts(t, 3)
	})
	twRun(t, "off", func(t *testing.T) {
		p := roundtripper.Headless()
		p.Envelope = false
		base := twScript(twStep{status: 503, header: twJSON, body: `{"retryable":false}`})
		twDo(t, base, p, twRequest("GET", ""))
		base.wantAttempts(t, 3)
	})
}
