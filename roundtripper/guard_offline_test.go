package roundtripper_test

// This file tests what the offline gate does to calls: while there is no
// network they wait and are charged nothing, and when it returns they complete.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
)

// What net/http reports without a network. The first carries no errno.
var (
	errNoDNS   = &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "dial udp: network is unreachable", Name: "example.com", IsTemporary: true}}
	errNoRoute = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}
	errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
)

// gdLose takes the network away from g, without any call.
func gdLose(g *offline.Gate) {
	for !g.Offline() {
		pass, _ := g.TryEnter("lost.test")
		pass.Done(offline.NoPath)
	}
}

// gdNet is a base transport on a machine whose network comes and goes. It sees
// to it that no two attempts are under way while it knows that there is none.
type gdNet struct {
	gate  *offline.Gate
	takes time.Duration
	none  error

	mu     sync.Mutex
	up     bool
	sends  []time.Time
	probes int // under way while the gate is closed
	most   int
}

func (n *gdNet) set(up bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up = up
}

func (n *gdNet) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.sends)
}

func (n *gdNet) RoundTrip(req *http.Request) (*http.Response, error) {
	probe := n.gate.Offline()
	n.mu.Lock()
	n.sends = append(n.sends, time.Now())
	if probe {
		n.probes++
		n.most = max(n.most, n.probes)
	}
	n.mu.Unlock()
	time.Sleep(n.takes)
	n.mu.Lock()
	defer n.mu.Unlock()
	if probe {
		n.probes--
	}
	if !n.up {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, n.none
	}
	return answer(req, 200, take(req)), nil
}

// gdAway is a network that is away, behind all the guards.
func gdAway(c offline.Config) (*gdNet, roundtripper.Policy) {
	p := gdPolicy()
	p.Offline = offline.New(c)
	p.Breaker = breaker.PerHost(breaker.Config{Consecutive: 3})
	p.Budget = budget.New(budget.Config{Initial: 5})
	return &gdNet{gate: p.Offline, none: errNoDNS}, p
}

// gdCharged is which attempts of a call were charged.
func gdCharged(r *roundtripper.Report) (charged []int) {
	for _, a := range r.Attempts {
		if a.Charged {
			charged = append(charged, a.Number)
		}
	}
	return charged
}

// Three attempts that find no path close the gate; from the third on nothing is
// charged, no retry, no token, no failure of the breaker, however long the
// outage is. The call completes when the network returns.
func TestOfflineOneCall(t *testing.T) {
	for name, none := range map[string]error{"DNS": errNoDNS, "no route": errNoRoute} {
		twRun(t, name, func(t *testing.T) {
			var changes []bool
			base, p := gdAway(offline.Config{OnChange: func(is bool) { changes = append(changes, is) }})
			base.none = none
			p.MaxRetries, p.AttemptTimeout = 2, time.Second
			p.Backoff, p.Offline = nil, base.gate
			start := time.Now()
			var wg sync.WaitGroup
			var r *roundtripper.Report
			wg.Go(func() { r = gdEnd(t, roundtripper.New(base, p), gdGet(context.Background(), gdURL)) })
			synctest.Wait()
			if base.count() != 3 || !p.Offline.Offline() || p.Breaker.State(gdHost) != breaker.Closed {
				t.Fatalf("%d sends, offline %v, breaker %v", base.count(), p.Offline.Offline(), p.Breaker.State(gdHost))
			}
			time.Sleep(9*time.Minute + 20*time.Second)
			if s := gdStatusOf(t, p.Breaker); s.Consecutive != 2 || s.Known != 2 {
				t.Errorf("the breaker has counted %+v, want two failures", s)
			}
			base.set(true)
			wg.Wait()
			if r.Stop != roundtripper.ReasonOK || r.Elapsed != time.Since(start) || r.Elapsed > 9*time.Minute+50*time.Second {
				t.Errorf("stop %q after %v", r.Stop, r.Elapsed)
			}
			if got, want := gdCharged(r), []int{1, 2, len(r.Attempts)}; !slices.Equal(got, want) {
				t.Errorf("charged %v, want %v", got, want)
			}
			// One probe at a time, at 1, 2, 4, 8, 16 and then 30 s at the longest.
			if n := len(base.sends); n != len(r.Attempts) || n < 3+5+17 || n > 3+5+38 {
				t.Errorf("%d sends, %d in the report", n, len(r.Attempts))
			}
			step := time.Second
			for i := 3; i < len(base.sends); i++ {
				if gap := base.sends[i].Sub(base.sends[i-1]); gap < step/2 || gap > step {
					t.Errorf("probe %d came after %v, want %v to %v", i-2, gap, step/2, step)
				}
				step = min(2*step, 30*time.Second)
			}
			gdTokens(t, p.Budget, 5-2+.1) // the two retries that were charged, and a success
			if !slices.Equal(changes, []bool{true, false}) {
				t.Errorf("changes %v", changes)
			}
		})
	}
}

// Where no retry is left before the gate closes, the call has failed; the next
// one waits, whatever its policy says about retries.
func TestOfflineWithoutRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, p := gdAway(offline.Config{})
		p.MaxRetries = 0
		rt := roundtripper.New(base, p)
		for range 2 {
			wantEnd(t, gdEnd(t, rt, gdGet(context.Background(), gdURL)), 1, roundtripper.ReasonRetriesSpent)
		}
		time.AfterFunc(time.Hour, func() { base.set(true) })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		r := gdEnd(t, rt, gdGet(ctx, gdURL))
		if got, want := gdCharged(r), []int{len(r.Attempts)}; r.Stop != roundtripper.ReasonOK || !slices.Equal(got, want) {
			t.Errorf("stop %q, charged %v, want %v", r.Stop, got, want)
		}
	})
}

// A call that comes while the gate is closed waits before its first attempt:
// no attempt timer runs, nothing of its body is touched, and an observer is
// told.
func TestOfflineWaitIsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, p := gdAway(offline.Config{})
		p.AttemptTimeout, p.IdleTimeout, base.takes = time.Second, 100*twTick, 50*twTick
		gdLose(p.Offline)
		var events []string
		p.Observe = func(e roundtripper.Event) {
			text := string(e.State)
			if e.Attempt != nil {
				text += fmt.Sprint(e.Attempt.Number)
			}
			if e.Report == nil {
				t.Errorf("no report with %s", text)
			}
			if e.State != roundtripper.StateWaiting {
				events = append(events, text)
			}
		}
		start := time.Now()
		time.AfterFunc(1100*twTick, func() { base.set(true) }) // after the first probe
		body := newProbe("once")
		req := newRequest(t, "POST", gdURL, body) // neither repeatable nor replayable
		p.RetryUnsent = true
		resp, err := roundtripper.New(base, p).RoundTrip(req)
		if err != nil || drink(t, resp) != "once" {
			t.Fatalf("%v, %v", resp, err)
		}
		r := outcome(t, resp, err)
		body.check(t, "body")
		if got, want := gdCharged(r), []int{2}; !slices.Equal(got, want) {
			t.Errorf("charged %v, want %v", got, want)
		}
		want := "offline sending1 offline1 sending2 done2"
		if got := strings.Join(events, " "); got != want {
			t.Errorf("events %q, want %q", got, want)
		}
		if first := r.Attempts[0]; first.Elapsed != 50*twTick || first.Start.Sub(start) < 500*twTick || first.Sent {
			t.Errorf("the first attempt began after %v: %+v", first.Start.Sub(start), first)
		}
		if r.Elapsed != time.Since(start) {
			t.Errorf("elapsed %v, want %v", r.Elapsed, time.Since(start))
		}
	})
}

// The wait ends with the caller, with its deadline, with TotalTimeout, and else
// after MaxWait in all; the error says which, and what had gone wrong before.
func TestOfflineWaitEnds(t *testing.T) {
	cause := errors.New("closed the tab")
	for _, tc := range []struct {
		name    string
		maxWait time.Duration
		arrange func(*roundtripper.Policy, *http.Request) *http.Request
		want    roundtripper.Reason
		is      error
		after   time.Duration
	}{
		{"canceled", 0, func(_ *roundtripper.Policy, req *http.Request) *http.Request {
			ctx, cancel := context.WithCancelCause(req.Context())
			time.AfterFunc(90*time.Second, func() { cancel(cause) })
			return req.WithContext(ctx)
		}, roundtripper.ReasonCanceled, cause, 90 * time.Second},
		{"canceled the old way", 0, func(_ *roundtripper.Policy, req *http.Request) *http.Request {
			cancel := make(chan struct{})
			req.Cancel = cancel //lint:ignore SA1019 a caller who uses it must be heard
			time.AfterFunc(90*time.Second, func() { close(cancel) })
			return req
		}, roundtripper.ReasonCanceled, context.Canceled, 90 * time.Second},
		{"deadline", 0, func(_ *roundtripper.Policy, req *http.Request) *http.Request {
			ctx, cancel := context.WithTimeout(req.Context(), 20*time.Minute) // beyond MaxWait
			context.AfterFunc(ctx, cancel)
			return req.WithContext(ctx)
		}, roundtripper.ReasonDeadline, context.DeadlineExceeded, 20 * time.Minute},
		{"TotalTimeout", 0, func(p *roundtripper.Policy, req *http.Request) *http.Request {
			p.TotalTimeout = 20 * time.Minute
			return req
		}, roundtripper.ReasonDeadline, context.DeadlineExceeded, 20 * time.Minute},
		{"TotalTimeout before the deadline", 0, func(p *roundtripper.Policy, req *http.Request) *http.Request {
			p.TotalTimeout = time.Minute
			ctx, cancel := context.WithTimeout(req.Context(), time.Hour)
			context.AfterFunc(ctx, cancel)
			return req.WithContext(ctx)
		}, roundtripper.ReasonDeadline, context.DeadlineExceeded, time.Minute},
		{"MaxWait", 0, nil, roundtripper.ReasonOffline, offline.ErrOffline, 10 * time.Minute},
		{"MaxWait of 5 s", 5 * time.Second, nil, roundtripper.ReasonOffline, offline.ErrOffline, 5 * time.Second},
	} {
		for _, tried := range []bool{false, true} {
			twRun(t, fmt.Sprintf("%s/tried=%v", tc.name, tried), func(t *testing.T) {
				base, p := gdAway(offline.Config{MaxWait: tc.maxWait, Lease: 24 * time.Hour})
				p.Backoff = nil
				if !tried { // another one has the turn, and keeps it
					gdLose(p.Offline)
					time.Sleep(time.Second)
					if _, ok := p.Offline.TryEnter("example.com"); !ok {
						t.Fatal("no probe is due")
					}
				}
				req := gdGet(context.Background(), gdURL)
				if tc.arrange != nil {
					req = tc.arrange(&p, req)
				}
				start := time.Now()
				resp, err := roundtripper.New(base, p).RoundTrip(req)
				r := outcome(t, resp, err)
				if got := time.Since(start); r.Stop != tc.want || got != tc.after {
					t.Errorf("stop %q after %v, want %q after %v: %v", r.Stop, got, tc.want, tc.after, err)
				}
				if !errors.Is(err, tc.is) {
					t.Errorf("%v: want %v in it", err, tc.is)
				}
				if is := errors.Is(err, offline.ErrOffline); is != (tc.want == roundtripper.ReasonOffline) {
					t.Errorf("%v: ErrOffline: %v", err, is)
				}
				tokens, attempts := 5.0, 0
				if tried { // one for the second attempt; the third was not charged
					tokens, attempts = 4, base.count()
					if got := gdCharged(r); !slices.Equal(got, []int{1, 2}) || attempts < 5 {
						t.Errorf("charged %v of %d attempts", got, attempts)
					}
					if !errors.Is(err, errNoDNS) {
						t.Errorf("%v: want the last error in it", err)
					}
					gdState(t, p.Breaker, breaker.Closed)
				}
				wantEnd(t, r, attempts, tc.want)
				gdTokens(t, p.Budget, tokens)
			})
		}
	}
}

// MaxWait is for all the waits of a call together, and for nothing but waits:
// what is spent in attempts does not count.
func TestOfflineMaxWaitIsForWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, p := gdAway(offline.Config{MaxWait: 5 * time.Second})
		base.takes = 2 * time.Second
		gdLose(p.Offline)
		start := time.Now()
		r := gdEnd(t, roundtripper.New(base, p), gdGet(context.Background(), gdURL))
		spent := time.Duration(len(r.Attempts)) * base.takes
		if got := time.Since(start); r.Stop != roundtripper.ReasonOffline || got != spent+5*time.Second || spent == 0 {
			t.Errorf("stop %q after %v with %d attempts, want them and 5 s of waits", r.Stop, got, len(r.Attempts))
		}
	})
}

// Hosts on this machine are never held back, and prove nothing.
func TestOfflineLoopbackIsExempt(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "127.1.2.3:8080", "[::1]:8080", "localhost", "LocalHost:80"} {
		twRun(t, host, func(t *testing.T) {
			base, p := gdAway(offline.Config{})
			p.MaxRetries, p.Breaker = 0, nil
			base.none = errNoRoute
			rt, url := roundtripper.New(base, p), "http://"+host+"/"
			for range 5 {
				wantEnd(t, gdEnd(t, rt, gdGet(t.Context(), url)), 1, roundtripper.ReasonRetriesSpent)
			}
			if p.Offline.Offline() {
				t.Error("failures on this machine closed the gate")
			}
			gdLose(p.Offline)
			start := time.Now()
			if r := gdEnd(t, rt, gdGet(t.Context(), url)); !slices.Equal(gdCharged(r), []int{1}) {
				t.Errorf("%+v: want one attempt, charged", r)
			}
			base.set(true)
			wantEnd(t, gdEnd(t, rt, gdGet(t.Context(), url)), 1, roundtripper.ReasonOK)
			if time.Since(start) != 0 || !p.Offline.Offline() {
				t.Errorf("after %v offline is %v; want at once and true", time.Since(start), p.Offline.Offline())
			}
		})
	}
}

// What attempts prove: three in a row that find no path close the gate, and
// nothing else does, a timeout while dialling included. Whose clock ran out
// makes a difference.
func TestOfflineVerdicts(t *testing.T) {
	// dial is a base that begins to make a connection, tells its trace as
	// net/http does, and gets no further than so far.
	dial := func(far int) func(*http.Request, int) (*http.Response, error) {
		return func(req *http.Request, _ int) (*http.Response, error) {
			trace := httptrace.ContextClientTrace(req.Context())
			for i, step := range []func(){
				func() { trace.GetConn("example.com:80") },
				func() { trace.DNSStart(httptrace.DNSStartInfo{Host: "example.com"}) },
				func() { trace.ConnectStart("tcp", "192.0.2.1:80") },
				func() { trace.ConnectDone("tcp", "192.0.2.1:80", nil) },
				func() { trace.GotConn(httptrace.GotConnInfo{}) },
			} {
				if i < far {
					step()
				}
			}
			return gdHang(req, 0)
		}
	}
	dialTimeout := &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	for _, tc := range []struct {
		name string
		do   func(*http.Request, int) (*http.Response, error)
		want bool // it means that there is no path
	}{
		{"name server unreachable", gdError(errNoDNS), true},
		{"network unreachable", gdError(errNoRoute), true},
		{"dialler's timeout", gdError(dialTimeout), true},
		{"attempt timeout in name lookup", dial(2), true},
		{"attempt timeout in connect", dial(3), true},
		{"attempt timeout in a queue for connections", dial(1), false},
		{"attempt timeout in TLS handshake", dial(4), false},
		{"attempt timeout in wait for headers", dial(5), false},
		{"attempt timeout of an unknown base", gdHang, false},
		{"no such name", gdError(&net.DNSError{IsNotFound: true}), false},
		{"refused", gdError(errRefused), false},
		{"reset", gdError(errReset), false},
		{"EOF", gdError(io.EOF), false},
		{"504", gdStatus(504), false},
	} {
		for _, clock := range []string{"attempt", "idle", "total", "caller"} {
			twRun(t, tc.name+"/"+clock, func(t *testing.T) {
				_, p := gdAway(offline.Config{})
				p.MaxRetries, p.Breaker = 0, nil
				ctx := t.Context()
				switch clock {
				case "attempt":
					p.AttemptTimeout = time.Second
				case "idle":
					p.IdleTimeout = time.Second
				case "total":
					p.TotalTimeout = time.Second
				}
				rt := roundtripper.New(&gdBase{do: tc.do}, p)
				for range 3 {
					if p.Offline.Offline() {
						t.Fatal("too early")
					}
					ctx := ctx
					if clock == "caller" {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, time.Second)
						defer cancel()
					} else if tc.want {
						var cancel context.CancelFunc // the third is not charged, and would go on
						ctx, cancel = context.WithTimeout(ctx, 1100*twTick)
						defer cancel()
					}
					gdEnd(t, rt, gdGet(ctx, gdURL))
				}
				want := tc.want
				if clock == "total" || clock == "caller" {
					want = want && !strings.HasPrefix(tc.name, "attempt")
				}
				if got := p.Offline.Offline(); got != want {
					t.Errorf("offline is %v, want %v", got, want)
				}
			})
		}
	}
}

// The same with net/http's own transport, whose dialler finds nobody: it is
// the trace that tells a slow connection from a slow answer.
func TestOfflineAttemptTimeoutOfARealTransport(t *testing.T) {
	hang := make(chan struct{})
	srv, answering := serveLoopback(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer close(hang)
	address := srv.Listener.Addr().String()
	answering.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	silent := &http.Transport{DialContext: (&net.Dialer{Resolver: &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}}).DialContext}
	defer silent.CloseIdleConnections()
	for _, tc := range []struct {
		name string
		base *http.Transport
		want bool
	}{{"dialling", silent, true}, {"waiting for headers", answering, false}} {
		t.Run(tc.name, func(t *testing.T) {
			p := gdPolicy()
			p.AttemptTimeout, p.Backoff = 250*time.Millisecond, nil // the dial must begin in it, on a busy machine too
			p.Offline, p.MaxRetries = offline.New(offline.Config{MaxWait: 1}), 2
			r := gdEnd(t, roundtripper.New(tc.base, p), gdGet(t.Context(), gdURL))
			if len(r.Attempts) != 3 || r.Attempts[2].Charged == tc.want || p.Offline.Offline() != tc.want {
				t.Errorf("offline is %v, want %v: %+v", p.Offline.Offline(), tc.want, r)
			}
		})
	}
}

// A probe that teaches nothing hands its turn on at once, whatever became of it;
// one that stays silent loses it after its lease.
func TestOfflineProbeHandsOn(t *testing.T) {
	for _, tc := range []struct {
		name  string
		start func(p *roundtripper.Policy, base *gdBase, cancel func())
		lag   time.Duration // from its turn; if it is negative, from the start
	}{
		{"canceled", func(_ *roundtripper.Policy, base *gdBase, cancel func()) {
			base.set(func(req *http.Request, _ int) (*http.Response, error) {
				cancel()
				return gdHang(req, 0)
			})
		}, 0},
		{"canceled later", func(_ *roundtripper.Policy, _ *gdBase, cancel func()) { time.AfterFunc(2*time.Second, cancel) }, -2 * time.Second},
		{"TotalTimeout", func(p *roundtripper.Policy, _ *gdBase, _ func()) { p.TotalTimeout = 2 * time.Second }, -2 * time.Second},
		{"attempt timeout", func(p *roundtripper.Policy, _ *gdBase, _ func()) {
			p.AttemptTimeout, p.MaxRetries = 3*time.Second, 0
		}, 3 * time.Second},
		{"refused by a breaker", func(p *roundtripper.Policy, _ *gdBase, _ func()) {
			p.Breaker = breaker.PerHost(breaker.Config{})
			gdOpen(p.Breaker, nil)
		}, 0},
		{"Prepare fails", func(p *roundtripper.Policy, _ *gdBase, _ func()) {
			p.Prepare = func(*http.Request, int) error { return errors.New("no key") }
		}, 0},
		{"panics", func(_ *roundtripper.Policy, base *gdBase, _ func()) {
			base.set(func(*http.Request, int) (*http.Response, error) { panic("base") })
		}, 0},
		{"exits", func(_ *roundtripper.Policy, base *gdBase, _ func()) {
			base.set(func(*http.Request, int) (*http.Response, error) { runtime.Goexit(); return nil, nil })
		}, 0},
		{"hangs", func(*roundtripper.Policy, *gdBase, func()) {}, 10 * time.Second},
	} {
		twRun(t, tc.name, func(t *testing.T) {
			p := gdPolicy()
			p.Offline = offline.New(offline.Config{})
			gdLose(p.Offline)
			base, first := &gdBase{do: gdHang}, p
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tc.start(&first, base, cancel)
			var wg sync.WaitGroup
			start := time.Now()
			var next time.Duration
			wg.Go(func() { gdAside(roundtripper.New(base, first), gdGet(ctx, gdURL)) }) // first in the queue
			synctest.Wait()
			second := &gdBase{do: func(req *http.Request, _ int) (*http.Response, error) {
				next = time.Since(start)
				return answer(req, 200, ""), nil
			}}
			wg.Go(func() {
				gdEnd(t, roundtripper.New(second, p), gdGet(t.Context(), gdURL))
				cancel()
			})
			wg.Wait()
			if turn := next - tc.lag; tc.lag >= 0 && (turn < 500*twTick || turn > time.Second) || tc.lag < 0 && next != -tc.lag {
				t.Errorf("the next probe came after %v, want %v after the turn of the first", next, tc.lag)
			}
			if p.Offline.Offline() {
				t.Error("still offline")
			}
		})
	}
}

// Anything that comes from a peer opens the gate, a refusal too, and is charged
// as ever: the host is down, not the network.
func TestOfflineRefusalOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, p := gdAway(offline.Config{})
		p.MaxRetries, base.none = 0, errRefused
		gdLose(p.Offline)
		wantEnd(t, gdEnd(t, roundtripper.New(base, p), gdGet(t.Context(), gdURL)), 1, roundtripper.ReasonRetriesSpent)
		if s := gdStatusOf(t, p.Breaker); p.Offline.Offline() || s.Failures != 1 {
			t.Errorf("offline is %v, breaker %+v", p.Offline.Offline(), s)
		}
	})
}

// 50 calls that fail at the same instant: two are charged. Failures that began
// before an outage do not begin another one after it.
func TestOfflineStragglers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, p := gdAway(offline.Config{})
		base.takes = time.Second
		rt := roundtripper.New(base, p)
		var mu sync.Mutex
		var wg sync.WaitGroup
		charged := 0
		for range 50 {
			wg.Go(func() {
				r := gdEnd(t, rt, gdGet(context.Background(), gdURL))
				mu.Lock()
				defer mu.Unlock()
				charged += len(gdCharged(r))
			})
		}
		time.Sleep(time.Minute)
		base.set(true)
		wg.Wait()
		if charged != 50+2 || base.most != 1 {
			t.Errorf("%d charged, want 52; %d probes at once", charged, base.most)
		}
		slow := &gdBase{do: func(*http.Request, int) (*http.Response, error) {
			time.Sleep(5 * time.Second)
			return nil, errNoRoute
		}}
		p.MaxRetries = 0
		for range 5 {
			wg.Go(func() { gdEnd(t, roundtripper.New(slow, p), gdGet(context.Background(), gdURL)) })
		}
		synctest.Wait()
		gdLose(p.Offline)
		gdEnd(t, rt, gdGet(context.Background(), gdURL)) // the network is back
		wg.Wait()
		if p.Offline.Offline() {
			t.Error("failures from before the outage closed the gate")
		}
	})
}

// gdHint is what the system says about the network.
type gdHint struct {
	mu        sync.Mutex
	up, known bool
	changed   chan struct{}
}

func (h *gdHint) Online() (up, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.up, h.known
}

func (h *gdHint) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

func (h *gdHint) set(up bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up, h.known = up, true
	close(h.changed)
	h.changed = make(chan struct{})
}

// A hint makes the gate quicker: down closes it before anything is sent, and up
// sends a probe at once. It never does more: a wrong one blocks nothing, and
// none opens the gate.
func TestOfflineHint(t *testing.T) {
	twRun(t, "right", func(t *testing.T) {
		hint := &gdHint{changed: make(chan struct{})}
		base, p := gdAway(offline.Config{Hint: hint})
		hint.set(false)
		var wg sync.WaitGroup
		wg.Go(func() {
			r := gdEnd(t, roundtripper.New(base, p), gdGet(context.Background(), gdURL))
			if got, want := gdCharged(r), []int{len(r.Attempts)}; !slices.Equal(got, want) {
				t.Errorf("charged %v, want %v", got, want)
			}
		})
		synctest.Wait()
		if base.count() != 0 || !p.Offline.Offline() {
			t.Errorf("%d sends, offline is %v", base.count(), p.Offline.Offline())
		}
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		sends := base.count()
		hint.set(true) // too early: there is no path yet
		synctest.Wait()
		if base.count() != sends+1 || !p.Offline.Offline() {
			t.Errorf("%d sends, want %d; offline is %v", base.count(), sends+1, p.Offline.Offline())
		}
		base.set(true)
		start := time.Now()
		wg.Wait()
		if got := time.Since(start); got > 2*time.Second { // the schedule began again
			t.Errorf("left %v after the network returned, want 2 s at most", got)
		}
	})
	twRun(t, "wrong", func(t *testing.T) {
		hint := &gdHint{changed: make(chan struct{})}
		base, p := gdAway(offline.Config{Hint: hint})
		base.set(true)
		hint.set(false)
		rt := roundtripper.New(base, p)
		start := time.Now()
		wantEnd(t, gdEnd(t, rt, gdGet(t.Context(), gdURL)), 1, roundtripper.ReasonOK)
		if got := time.Since(start); got > time.Second {
			t.Errorf("the first call waited for %v, want a second at most", got)
		}
		start = time.Now()
		for range 10 { // proof outranks it until it changes
			wantEnd(t, gdEnd(t, rt, gdGet(t.Context(), gdURL)), 1, roundtripper.ReasonOK)
		}
		if got := time.Since(start); got != 0 {
			t.Errorf("the later ones waited for %v", got)
		}
	})
}
