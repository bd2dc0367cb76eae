package statuspage_test

// Calls: what is shown of them while they are in flight and afterwards.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
	"github.com/rebound-go/rebound/roundtripper/statuspage"
)

// failed is the last event of a call to target that failed at once.
func failed(target string) roundtripper.Event {
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	r := &roundtripper.Report{Stop: roundtripper.ReasonStatus, Attempts: []roundtripper.Attempt{{
		Number: 1, Request: &http.Request{URL: u}, StatusCode: 404, Sent: true, Charged: true,
		Verdict: roundtripper.Verdict{Reason: roundtripper.ReasonStatus},
	}}}
	return roundtripper.Event{State: roundtripper.StateFailed, Request: r.Attempts[0].Request, Attempt: &r.Attempts[0], Report: r}
}

// steps writes what a call did as one line.
func steps(c statuspage.Call) string {
	var all []string
	for _, s := range c.Steps {
		text := fmt.Sprintf("%s %v", s.Kind, s.Elapsed)
		if s.Kind == statuspage.StepAttempt {
			text = fmt.Sprintf("%d %v %d %s", s.Number, s.Elapsed, s.Status, s.Reason)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestCallThatHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		began := time.Now()
		base := &script{replies: []reply{
			{after: time.Second, status: 503},
			{after: 2 * time.Second, err: io.EOF},
			{after: 3 * time.Second, status: 200},
		}}
		p := steady(page)
		p.RequestIDHeader = "X-Request-Id"
		target := "https://user:hush@API.example.com:443/v1/things?token=hush#hush"
		req, err := http.NewRequestWithContext(t.Context(), "GET", target, nil)
		require.NoError(t, err)
		req.Header.Set("X-Request-Id", "req-7")
		req.Header.Set("Idempotency-Key", "key-hush")
		resp, err := roundtripper.New(base, p).RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close() // after the page has been asked: the call has ended without it
		time.Sleep(90 * time.Second)

		s := fetched(t, page)
		require.Len(t, s.Calls, 1)
		c := s.Calls[0]
		assert.Equal(t, "1 1s 503 status, wait 100ms, 2 2s 0 network, wait 200ms, 3 3s 200 ok", steps(c))
		assert.Equal(t, "GET", c.Method)
		assert.Equal(t, "https://api.example.com/v1/things", c.URL)
		assert.Equal(t, "req-7", c.RequestID)
		assert.Equal(t, roundtripper.StateDone, c.State)
		assert.Equal(t, roundtripper.ReasonOK, c.Stop)
		assert.Equal(t, 200, c.Status)
		assert.Equal(t, 3, c.Attempts)
		assert.Equal(t, 6300*time.Millisecond, c.Elapsed)
		assert.True(t, c.Start.Equal(began), c.Start)
		assert.Equal(t, "EOF", c.Steps[2].Error)
		assert.True(t, c.Steps[2].MayHeal)
		assert.Equal(t, 200*time.Millisecond, c.Steps[3].Planned)
		assert.Equal(t, statuspage.Totals{Done: 1, Retries: 2}, s.Totals)
		host := statuspage.Host{Name: "https://api.example.com", Calls: 1, Retries: 2, LastSeen: s.Hosts[0].LastSeen}
		assert.Equal(t, []statuspage.Host{host}, s.Hosts)

		body := html(t, page)
		assert.Contains(t, body, "1 min 36 s ago")
		assert.Contains(t, body, began.UTC().Format("15:04:05")+" UTC")
		assert.Contains(t, body, `datetime="`+began.UTC().Format(time.RFC3339Nano)+`"`)
		assert.NotContains(t, body, `<span class="note">ok</span>`)
		assert.Contains(t, body, "503 in 1.00 s")
		assert.Contains(t, body, "waited 100 ms")
		assert.Contains(t, body, ": <span class=\"error text\">EOF</span>")
		// The second attempt begins 1.1 s into the 6.3 s and takes 2 s.
		assert.Contains(t, body, `<rect class="heal" x="17.46%" width="31.75%"`)
		assert.NotContains(t, body, "hush")
		assert.NotContains(t, get(page, "/", "application/json").Body.String(), "hush")
	})
}

// A call that is under way shows where it is at each moment.
func TestCallInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		base := &script{replies: []reply{{after: time.Second, status: 503}, {after: time.Second, status: 200}}}
		p := steady(page)
		p.SlowAfter = 1500 * time.Millisecond
		go call(t.Context(), t, base, p, "GET", "https://api.example.com/")
		for _, want := range []struct {
			at    time.Duration
			state roundtripper.State
			slow  bool
			steps string
			html  string
		}{
			{500 * time.Millisecond, "sending", false, "1 500ms 0 ", "on its way for 500 ms"},
			{1050 * time.Millisecond, "waiting", false, "1 1s 503 status, wait 50ms", "waited 50.0 ms of 100 ms"},
			{1200 * time.Millisecond, "sending", false, "1 1s 503 status, wait 100ms, 2 100ms 0 ", "on its way for 100 ms"},
			{1600 * time.Millisecond, "sending", true, "1 1s 503 status, wait 100ms, 2 500ms 0 ", `<span class="note">slow</span>`},
			{2200 * time.Millisecond, "done", true, "1 1s 503 status, wait 100ms, 2 1s 200 ok", `<span class="note">slow</span>`},
		} {
			began := time.Now()
			if calls := page.Snapshot().Calls; len(calls) > 0 {
				began = calls[0].Start
			}
			time.Sleep(time.Until(began.Add(want.at)))
			synctest.Wait()
			s := page.Snapshot()
			require.Len(t, s.Calls, 1)
			assert.Equal(t, want.state, s.Calls[0].State, want.at)
			assert.Equal(t, want.state != "done", s.Calls[0].InFlight(), want.at)
			assert.Equal(t, want.slow, s.Calls[0].Slow, want.at)
			assert.Equal(t, want.steps, steps(s.Calls[0]))
			assert.Contains(t, html(t, page), want.html)
			if want.state != "done" {
				assert.Equal(t, want.at, s.Calls[0].Elapsed)
			}
		}
	})
}

// One of two calls at the same moment is slow, the other is not: its report is a copy, and it is known all the same.
func TestSlowIsTheRightOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		p := steady(page)
		go call(t.Context(), t, &script{replies: []reply{{after: 5 * time.Second, status: 200}}}, p, "GET", "https://a.example.com/")
		time.Sleep(time.Millisecond)
		p.SlowAfter = time.Second
		go call(t.Context(), t, &script{replies: []reply{{after: 5 * time.Second, status: 200}}}, p, "GET", "https://b.example.com/")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		slow := map[string]bool{}
		for _, c := range page.Snapshot().Calls {
			slow[c.URL] = c.Slow
		}
		assert.Equal(t, map[string]bool{"https://a.example.com/": false, "https://b.example.com/": true}, slow)
		time.Sleep(10 * time.Second)
	})
}

// A call that waits for the network before its first attempt is there.
func TestCallOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := offline.New(offline.Config{Failures: 1})
		page := statuspage.New(statuspage.Config{Offline: network})
		pass, ok := network.TryEnter("elsewhere.example.com")
		require.True(t, ok)
		pass.Done(offline.NoPath)
		p := steady(page)
		p.Offline, p.RequestIDHeader, p.SlowAfter = network, "X-Request-Id", 100*time.Millisecond
		go call(t.Context(), t, &script{replies: []reply{{after: time.Second, status: 200}}}, p, "GET", "https://api.example.com/")
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		s := page.Snapshot()
		require.Len(t, s.Calls, 1)
		assert.True(t, *s.Offline)
		assert.Equal(t, roundtripper.StateOffline, s.Calls[0].State)
		assert.Equal(t, "offline 400ms", steps(s.Calls[0]))
		assert.Equal(t, "https://api.example.com/", s.Calls[0].URL)
		assert.True(t, s.Calls[0].Slow)
		body := html(t, page)
		assert.Contains(t, body, "1 call waits")
		assert.Contains(t, body, `<line class="offline"`)

		time.Sleep(10 * time.Second)
		s = page.Snapshot()
		assert.False(t, *s.Offline)
		assert.Equal(t, "https://api.example.com/", s.Calls[0].URL)
		require.Len(t, s.Calls[0].Steps, 2)
		assert.Equal(t, statuspage.StepOffline, s.Calls[0].Steps[0].Kind)
		assert.Equal(t, s.Calls[0].Elapsed, s.Calls[0].Steps[0].Elapsed+time.Second)
	})
}

// An attempt that found no network says that it was not charged.
func TestUncharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		p := steady(page)
		p.Offline = offline.New(offline.Config{Failures: 1})
		none := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH}
		call(t.Context(), t, &script{replies: []reply{{err: none}, {status: 200}}}, p, "GET", "https://api.example.com/")
		c := page.Snapshot().Calls[0]
		require.Len(t, c.Steps, 3, steps(c))
		assert.True(t, c.Steps[0].Uncharged)
		assert.True(t, c.Steps[0].Unsent)
		assert.Equal(t, statuspage.StepOffline, c.Steps[1].Kind)
		assert.Contains(t, html(t, page), "not sent, not charged")
	})
}

// A host that asked for a pause is left alone by other calls, and that is shown.
func TestHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		p := steady(page)
		p.ShareRetryAfter, p.MaxRetries = true, 0
		base := &script{replies: []reply{{status: 429, header: http.Header{"Retry-After": {"2"}}}, {status: 200}}}
		transport := roundtripper.New(base, p)
		for range 2 {
			req, err := http.NewRequestWithContext(t.Context(), "GET", "https://api.example.com/", nil)
			require.NoError(t, err)
			resp, err := transport.RoundTrip(req)
			require.NoError(t, err)
			resp.Body.Close()
		}
		c := page.Snapshot().Calls[0]
		require.Len(t, c.Steps, 2, steps(c))
		assert.Equal(t, statuspage.StepHeld, c.Steps[0].Kind)
		assert.Equal(t, c.Steps[0].Planned, c.Steps[0].Elapsed)
		assert.Equal(t, "GET", c.Method)
		assert.Contains(t, html(t, page), "held back 2.")
	})
}

// A caller who gives up in the middle of a wait cuts it short.
func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		time.AfterFunc(40*time.Millisecond, cancel)
		call(ctx, t, &script{replies: []reply{{status: 503}}}, steady(page), "GET", "https://api.example.com/")
		c := page.Snapshot().Calls[0]
		assert.Equal(t, "1 0s 503 status, wait 40ms", steps(c))
		assert.Equal(t, roundtripper.ReasonCanceled, c.Stop)
		assert.Contains(t, html(t, page), "waited 40.0 ms of 100 ms")
	})
}

// A call whose base panics never tells its end. It is shown as in flight until it is collected, and then as abandoned; its
// request and its place are free.
func TestAbandoned(t *testing.T) {
	page := statuspage.New(statuspage.Config{Calls: 1})
	gone := make(chan struct{})
	func() {
		defer func() { recover() }()
		req, err := http.NewRequest("GET", "https://api.example.com/", nil)
		require.NoError(t, err)
		runtime.AddCleanup(req, func(struct{}) { close(gone) }, struct{}{})
		roundtripper.New(baseFunc(func(*http.Request) (*http.Response, error) { panic("base") }), steady(page)).RoundTrip(req)
	}()
	require.Equal(t, roundtripper.StateSending, page.Snapshot().Calls[0].State)
	for range 20 {
		runtime.GC()
		select {
		case <-gone:
		default:
			runtime.Gosched()
			continue
		}
		break
	}
	<-gone // the page does not keep the request
	runtime.GC()
	// Its place is free for the next one, though nobody has looked meanwhile.
	var s statuspage.Snapshot
	call(t.Context(), t, baseFunc(func(req *http.Request) (*http.Response, error) {
		s = page.Snapshot()
		return answer(req, 200, nil), nil
	}), steady(page), "GET", "https://next.example.com/")
	require.Len(t, s.Calls, 2)
	assert.Equal(t, "https://next.example.com/", s.Calls[0].URL)
	assert.True(t, s.Calls[0].InFlight())
	assert.Equal(t, statuspage.StateAbandoned, s.Calls[1].State)
	assert.Equal(t, statuspage.Totals{Abandoned: 1}, s.Totals)
	assert.Contains(t, html(t, page), "ended without a word")
}

// What was refused before anything was sent is shown with its reason.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := breaker.PerHost(breaker.Config{Consecutive: 1})
		page := statuspage.New(statuspage.Config{Breaker: hosts})
		p := steady(page)
		p.Breaker = hosts
		base := &script{replies: []reply{{status: 503}}}
		call(t.Context(), t, base, p, "GET", "https://api.example.com/")
		call(t.Context(), t, base, p, "GET", "https://api.example.com/")
		s := page.Snapshot()
		require.Len(t, s.Calls, 2)
		assert.Equal(t, roundtripper.ReasonBreakerOpen, s.Calls[0].Stop)
		assert.Empty(t, s.Calls[0].Steps)
		assert.Equal(t, "https://api.example.com/", s.Calls[0].URL)
		assert.Equal(t, roundtripper.ReasonBreakerOpen, s.Calls[1].Stop)
		assert.Equal(t, 503, s.Calls[1].Status)
		assert.Equal(t, "open", s.Hosts[0].Breaker.State)
	})
}

func TestFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		p := steady(page)
		p.MaxRetries = 0
		p.Fallback = func(req *http.Request, _ *roundtripper.Report, _ error) (*http.Response, error) {
			return answer(req, 200, nil), nil
		}
		call(t.Context(), t, &script{replies: []reply{{status: 500}}}, p, "GET", "https://api.example.com/")
		c := page.Snapshot().Calls[0]
		assert.True(t, c.Fallback)
		assert.Equal(t, 500, c.Status)
		assert.True(t, c.Trouble(), "its caller is served, its host is not well")
		assert.Contains(t, html(t, page), `<strong class="bad">500 Internal Server Error</strong> <span class="note">status</span> <span class="note">fallback served</span>`)
	})
}

// However many calls there are, a bounded number is kept; and those that went well drive out none that did not.
func TestCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{Calls: 3})
		for i := range 5 {
			page.ObserveCall(failed(fmt.Sprintf("https://api.example.com/bad/%d", i)))
		}
		p := steady(page)
		for i := range 50 {
			target := fmt.Sprintf("https://api.example.com/good/%d", i)
			call(t.Context(), t, &script{replies: []reply{{status: 200}}}, p, "GET", target)
		}
		var urls []string
		for _, c := range page.Snapshot().Calls {
			urls = append(urls, strings.TrimPrefix(c.URL, "https://api.example.com"))
		}
		assert.Equal(t, []string{"/good/49", "/good/48", "/good/47", "/bad/4", "/bad/3", "/bad/2"}, urls)
		assert.Equal(t, statuspage.Totals{Done: 50, Failed: 5}, page.Snapshot().Totals)
		body := get(page, "/?show=trouble", "").Body.String()
		assert.Contains(t, body, "/bad/4")
		assert.NotContains(t, body, "/good/")
	})
}

// Above the bound calls in flight are not shown, but counted and shown when they end, with the attempts that they have made.
func TestFlyingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{Calls: 2})
		began := time.Now()
		p := steady(page)
		for range 5 {
			base := &script{replies: []reply{{after: time.Second, status: 503}, {after: time.Second, status: 200}}}
			go call(t.Context(), t, base, p, "GET", "https://api.example.com/")
			synctest.Wait()
		}
		time.Sleep(500 * time.Millisecond)
		assert.Len(t, page.Snapshot().Calls, 2)
		time.Sleep(10 * time.Second)
		s := page.Snapshot()
		assert.Equal(t, statuspage.Totals{Done: 5, Retries: 5}, s.Totals)
		require.Len(t, s.Calls, 2)
		for _, c := range s.Calls {
			assert.Equal(t, "1 1s 503 status, wait 100ms, 2 1s 200 ok", steps(c))
			assert.Equal(t, 2100*time.Millisecond, c.Elapsed)
			assert.True(t, c.Start.Equal(began))
			assert.Equal(t, "https://api.example.com/", c.URL)
		}
		assert.EqualValues(t, 5, s.Hosts[0].Calls)
	})
}

// Those in flight stand in the order of their beginnings, the latest first; and one that never had a place and sent nothing
// began when it began.
func TestFlyingOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := offline.New(offline.Config{Failures: 1})
		page := statuspage.New(statuspage.Config{Calls: 8})
		p := steady(page)
		var want []string
		for i := range 8 {
			target := fmt.Sprintf("https://api.example.com/%d", 7-i)
			want = append([]string{target}, want...)
			go call(t.Context(), t, &script{replies: []reply{{after: 9 * time.Second, status: 200}}}, p, "GET", target)
			synctest.Wait()
		}
		var got []string
		for _, c := range page.Snapshot().Calls {
			got = append(got, c.URL)
		}
		assert.Equal(t, want, got)

		pass, ok := network.TryEnter("elsewhere.example.com")
		require.True(t, ok)
		pass.Done(offline.NoPath)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		p.Offline = network
		call(ctx, t, &script{replies: []reply{{status: 200}}}, p, "GET", "https://api.example.com/")
		last := page.Snapshot().Calls[8]
		assert.Equal(t, roundtripper.ReasonDeadline, last.Stop)
		assert.True(t, last.Start.Equal(began))
		assert.Equal(t, 300*time.Millisecond, last.Elapsed)
		time.Sleep(10 * time.Second)
	})
}

// A call that finds a place only later is shown with what it has done before, in the order of beginnings.
func TestLateArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{Calls: 2})
		began := time.Now()
		p := steady(page)
		for _, base := range []*script{
			{replies: []reply{{after: 10 * time.Second, status: 200}}},
			{replies: []reply{{after: 500 * time.Millisecond, status: 200}}},
			{replies: []reply{{after: time.Second, status: 503}, {after: time.Second, status: 503}, {after: time.Second, status: 200}}},
		} {
			go call(t.Context(), t, base, p, "GET", "https://api.example.com/")
			synctest.Wait()
		}
		time.Sleep(3 * time.Second)
		calls := page.Snapshot().Calls
		require.Len(t, calls, 3)
		assert.Equal(t, "1 1s 503 status, wait 100ms, 2 1s 503 status, wait 200ms, 3 700ms 0 ", steps(calls[0]))
		assert.True(t, calls[0].Start.Equal(began))
		assert.Equal(t, "1 3s 0 ", steps(calls[1]))
		assert.False(t, calls[2].InFlight())

		// Each has steps of its own.
		_ = append(calls[0].Steps, statuspage.Step{Kind: "other"})
		assert.Equal(t, "1 3s 0 ", steps(calls[1]))
		time.Sleep(20 * time.Second)
	})
}

// What an attempt took does not count the time that it took to judge it.
func TestAttemptElapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		p := steady(page)
		p.Decide = func(a *roundtripper.Attempt) roundtripper.Verdict {
			time.Sleep(time.Second)
			return a.Verdict
		}
		call(t.Context(), t, &script{replies: []reply{{after: time.Second, status: 404}}}, p, "GET", "https://api.example.com/")
		assert.Equal(t, "1 1s 404 status", steps(page.Snapshot().Calls[0]))
	})
}

// A call of many attempts has its first step and its last ones.
func TestStepsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := statuspage.New(statuspage.Config{})
		p := steady(page)
		p.MaxRetries, p.TotalTimeout = 40, 0
		call(t.Context(), t, &script{replies: []reply{{after: time.Second, status: 503}}}, p, "GET", "https://api.example.com/")
		c := page.Snapshot().Calls[0]
		assert.Equal(t, 41, c.Attempts)
		require.Len(t, c.Steps, 24)
		assert.Equal(t, 81-24, c.StepsLeftOut)
		assert.Equal(t, 1, c.Steps[0].Number)
		assert.Equal(t, 41, c.Steps[23].Number)
		assert.Contains(t, html(t, page), "57 steps left out")
	})
}

// Whatever a peer, a caller or a base transport may put into text comes out as text, short and without what is secret:
// package redact has the cases.
func TestHostileText(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, tc := range []struct{ in, want string }{
		{`<script>alert(1)</script>`, `&lt;script&gt;alert(1)&lt;/script&gt;`},
		{`"><svg onload=x>`, `&#34;&gt;&lt;svg onload=x&gt;`},
		{"a\x00b\u202ec\xffd\ne", "a\ufffdb\ufffdc\ufffdd e"},
		{long, long[:255] + "…"},
		{strings.Repeat("é", 200), strings.Repeat("é", 127) + "…"},
		{`Get "https://u:hush@h.example.com/p?q=hush#hush": EOF`, `Get &#34;https://h.example.com/p?…&#34;: EOF`},
	} {
		page := statuspage.New(statuspage.Config{})
		e := failed("https://api.example.com/")
		e.Attempt.Err, e.Attempt.StatusCode = errors.New(tc.in), 0
		sending := e
		sending.State = roundtripper.StateSending
		page.ObserveCall(sending)
		page.ObserveCall(e)
		assert.Contains(t, html(t, page), `<span class="error text">`+tc.want+`</span>`, tc.in)
		assert.NotContains(t, get(page, "/", "application/json").Body.String(), "hush", tc.in)
	}
}

func TestHostileRequest(t *testing.T) {
	type call = statuspage.Call
	at := func(method string, u url.URL) http.Request { return http.Request{Method: method, URL: &u} }
	for _, tc := range []struct {
		req  http.Request
		want call
	}{
		{http.Request{}, call{Method: "GET"}},
		{at("<b>", url.URL{Scheme: "https", Host: "h", Path: "/<i>"}), call{Method: "<b>", URL: "https://h/%3Ci%3E"}},
		{at("", url.URL{Scheme: "https", Host: "h<b>\u202e", Path: "/"}), call{Method: "GET", URL: "https://h<b>\ufffd/"}},
		{at(strings.Repeat("M", 300), url.URL{Scheme: "http", Host: "H:80", Path: "/"}),
			call{Method: strings.Repeat("M", 255) + "…", URL: "http://h/"}},
		{at("GET", url.URL{Scheme: "http", Host: "h:443", Path: "/" + strings.Repeat("p", 300)}),
			call{Method: "GET", URL: "http://h:443/" + strings.Repeat("p", 242) + "…"}},
		{at("GET", url.URL{Scheme: "https", Host: "[::1]:443", User: url.User("hush"), RawQuery: "hush", Fragment: "hush"}),
			call{Method: "GET", URL: "https://[::1]"}},
		{at("GET", url.URL{Scheme: "https", Host: "u:hush@h", Path: "/"}), call{Method: "GET", URL: "https://h/"}},
	} {
		page := statuspage.New(statuspage.Config{})
		e := failed("https://h/")
		e.Request = &tc.req
		e.Report.RequestID = "<u>" + strings.Repeat("i", 300)
		page.ObserveCall(e)
		c := page.Snapshot().Calls[0]
		assert.Equal(t, tc.want.Method, c.Method)
		assert.Equal(t, tc.want.URL, c.URL)
		assert.Equal(t, "<u>"+strings.Repeat("i", 252)+"…", c.RequestID)
		body := html(t, page)
		for _, raw := range []string{"<b>h", "<b>\ufffd", "<i>", "<u>", "hush"} {
			assert.NotContains(t, body, raw)
		}
	}
}

// Many calls, deliveries and readers at once: nothing is lost, and the race detector has nothing to say.
func TestManyAtOnce(t *testing.T) {
	hosts := breaker.PerHost(breaker.Config{})
	retries := budget.New(budget.Config{PerHost: true})
	network := offline.New(offline.Config{})
	page := statuspage.New(statuspage.Config{Breaker: hosts, Budget: retries, Offline: network, Calls: 10, Hosts: 4})
	p := steady(page)
	p.Backoff, p.Breaker, p.Budget, p.SlowAfter = nil, hosts, retries, time.Microsecond
	const workers, each = 8, 100
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range each {
				base := &script{replies: []reply{{status: 503}, {status: 200}}}
				call(t.Context(), t, base, p, "GET", fmt.Sprintf("https://h%d.example.com/", (w+i)%9))
				page.ObserveDelivery(accepted("evt", "dlv"))
				if i%20 == 0 {
					get(page, "/", "text/html")
					get(page, "/", "application/json")
				}
			}
		})
	}
	group.Wait()
	s := page.Snapshot()
	assert.EqualValues(t, workers*each, s.Totals.Done+s.Totals.Failed)
	assert.EqualValues(t, workers*each, s.Totals.Verified)
	assert.LessOrEqual(t, len(s.Hosts), 4)
	assert.LessOrEqual(t, len(s.Calls), 20)
}
