package rehearse_test

// Tests of Send: the schedule, what is repeated, what each attempt carries, how a delivery ends.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/rehearse"
)

const ms = time.Millisecond

func TestPolicy(t *testing.T) {
	p := rehearse.Policy()
	require.NoError(t, p.Validate())
	worst, ok := p.WorstCase()
	assert.True(t, ok)
	assert.GreaterOrEqual(t, worst, 6075*ms)
	assert.LessOrEqual(t, worst, 6100*ms, "that of a bound which takes the longest wait for each")
	p.Statuses[0] = 200
	assert.Equal(t, 408, rehearse.Policy().Statuses[0], "each policy is the caller's own")
}

// Attempts leave at once, 25 ms after the first failure, 50 ms after the second, and never again.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := newReceiver(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30") // bends nothing
			w.WriteHeader(503)
		}))
		start := time.Now()
		result, err := newSender(t, serve(t, rec)).Send(t.Context(), event)
		require.NoError(t, err)
		assert.Equal(t, 75*ms, time.Since(start))
		time.Sleep(time.Hour)
		assert.Equal(t, []time.Duration{0, 25 * ms, 75 * ms}, rec.times())
		assert.Equal(t, rehearse.Rejected, result.State)
		require.Len(t, result.Attempts, 3)
		for i, a := range result.Attempts {
			assert.Equal(t, i+1, a.Number)
			assert.Equal(t, 503, a.StatusCode)
			assert.NoError(t, a.Err)
			assert.Equal(t, rec.times()[i], a.Start.Sub(start))
		}
	})
}

// A delivery is repeated after what may heal, and after nothing else.
func TestRetried(t *testing.T) {
	final := []int{300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 410, 413, 415, 422, 451}
	heal := []int{408, 409, 425, 429, 500, 501, 502, 503, 504, 507, 599}
	for _, status := range append(final, heal...) {
		synctest.Test(t, func(t *testing.T) {
			rec := newReceiver(answers(status, 200))
			result, err := newSender(t, serve(t, rec)).Send(t.Context(), event)
			require.NoError(t, err)
			want, state := []int{status, 200}, rehearse.Delivered
			if status < 408 || status > 409 && status < 425 || status == 451 {
				want, state = []int{status}, rehearse.Rejected
			}
			assert.Equal(t, want, statuses(result))
			assert.Equal(t, state, result.State, status)
			assert.Equal(t, status == 410, result.Gone)
		})
	}
}

// A redirect is a failure, and where it leads to is never asked.
func TestRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{"/elsewhere", "http://other.test/", "http://%zz/", ""} {
			synctest.Test(t, func(t *testing.T) {
				rec := newReceiver(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header()["Location"] = []string{location}
					w.WriteHeader(status)
				}))
				result, err := newSender(t, serve(t, rec)).Send(t.Context(), event)
				require.NoError(t, err)
				assert.Equal(t, rehearse.Rejected, result.State)
				assert.Equal(t, []int{status}, statuses(result))
				require.Len(t, rec.requests(), 1)
				assert.Equal(t, "/hook", rec.requests()[0].path)
			})
		}
	}
}

// Two seconds are for all of an attempt: the connection, the answer, its body.
func TestAttemptTimeout(t *testing.T) {
	stall := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if status != 0 {
				w.WriteHeader(status)
				io.WriteString(w, "the beginning of ")
				http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}
	}
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		took    time.Duration
		state   rehearse.State
		times   []time.Duration
		status  int
		failed  bool
	}{
		{"no answer", stall(0), 6075 * ms, rehearse.Unknown, []time.Duration{0, 2025 * ms, 4075 * ms}, 0, true},
		{"half an answer", stall(200), 6075 * ms, rehearse.Unknown, []time.Duration{0, 2025 * ms, 4075 * ms}, 200, true},
		// The status of a failure is all that there is to know. Nobody waits for what follows it.
		{"half a refusal", stall(422), 0, rehearse.Rejected, []time.Duration{0}, 422, false},
		{"half a failure", stall(500), 75 * ms, rehearse.Rejected, []time.Duration{0, 25 * ms, 75 * ms}, 500, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := newReceiver(tc.handler)
				start := time.Now()
				result, err := newSender(t, serve(t, rec)).Send(t.Context(), event)
				require.NoError(t, err)
				assert.Equal(t, tc.took, time.Since(start))
				assert.Equal(t, tc.state, result.State)
				assert.Equal(t, tc.times, rec.times())
				for _, a := range result.Attempts {
					assert.Equal(t, tc.status, a.StatusCode)
					assert.True(t, a.Sent)
					if tc.failed {
						assert.ErrorIs(t, a.Err, context.DeadlineExceeded)
						assert.Equal(t, 2*time.Second, a.Elapsed)
					} else {
						assert.NoError(t, a.Err)
					}
				}
			})
		})
	}
}

// A body that takes its time, but not two seconds, is an answer; and so is one that never ends, after a while.
func TestSlowAnswer(t *testing.T) {
	for name, write := range map[string]func(io.Writer){
		"slow": func(w io.Writer) {
			for range 19 {
				io.WriteString(w, "taken, ")
				time.Sleep(100 * ms)
			}
		},
		"endless": func(w io.Writer) {
			var err error
			for err == nil {
				_, err = w.Write(make([]byte, 4096))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := newReceiver(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { write(w) }))
				result, err := newSender(t, serve(t, rec)).Send(t.Context(), event)
				require.NoError(t, err)
				assert.Equal(t, rehearse.Delivered, result.State)
				assert.Len(t, rec.requests(), 1)
			})
		})
	}
}

// Every attempt is stamped and signed when it leaves, over the same bytes, and has all of the headers.
func TestFreshSignatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		rec := newVerified(t, func(w http.ResponseWriter, r *http.Request) {
			if n++; n < 3 {
				// Over a second later the next attempt leaves, with another timestamp.
				time.Sleep(1500 * ms)
				w.WriteHeader(500)
			}
		})
		given := []byte(body)
		s := newSender(t, serve(t, rec), func(c *rehearse.Config) {
			c.Observe = func(roundtripper.Event) { clear(given) } // a caller who uses its slice again
		})
		result, err := s.Send(t.Context(), rehearse.Event{Body: given})
		require.NoError(t, err)
		assert.Equal(t, rehearse.Delivered, result.State)
		assert.Equal(t, "evt_1", result.EventID)
		assert.NotContains(t, string(given), "evt_1")
		require.Len(t, rec.requests(), 3)
		seen := map[string]bool{}
		for i, r := range rec.requests() {
			assert.Equal(t, body, r.body)
			assert.Equal(t, result.DeliveryID, r.header.Get("Webhook-Delivery-Id"))
			assert.Equal(t, "application/json", r.header.Get("Content-Type"))
			assert.Equal(t, len(rec.requests()[0].header), len(r.header))
			assert.Empty(t, r.header["Idempotency-Key"])
			assert.False(t, seen[r.header.Get("Webhook-Signature")])
			seen[r.header.Get("Webhook-Signature")] = true
			want := time.Now().Add(-result.Attempts[2].Start.Sub(result.Attempts[i].Start)).Unix()
			assert.Equal(t, want, rec.runs()[i].Timestamp.Unix())
			assert.False(t, rec.runs()[i].SignatureReused)
		}
	})
}

// How a delivery ends, whatever the order of things.
func TestState(t *testing.T) {
	for _, tc := range []struct {
		steps []step
		want  rehearse.State
	}{
		{[]step{answer(200)}, rehearse.Delivered},
		{[]step{answer(299)}, rehearse.Delivered},
		{[]step{silence, answer(204)}, rehearse.Delivered},
		{[]step{reset, silence, answer(200)}, rehearse.Delivered},
		{[]step{refused}, rehearse.Rejected},
		{[]step{answer(500)}, rehearse.Rejected},
		{[]step{answer(503)}, rehearse.Rejected},
		{[]step{answer(409)}, rehearse.Rejected},
		{[]step{answer(101)}, rehearse.Rejected},
		{[]step{answer(504)}, rehearse.Unknown},
		{[]step{answer(502)}, rehearse.Unknown},
		{[]step{answer(504), refused}, rehearse.Unknown},
		{[]step{answer(502), answer(409)}, rehearse.Unknown},
		{[]step{answer(504), answer(503)}, rehearse.Unknown},
		{[]step{answer(504), answer(500)}, rehearse.Rejected},
		{[]step{answer(504), answer(422)}, rehearse.Rejected},
		{[]step{answer(500), answer(504)}, rehearse.Unknown},
		{[]step{answer(504), answer(200)}, rehearse.Delivered},
		{[]step{silence}, rehearse.Unknown},
		{[]step{reset}, rehearse.Unknown},
		{[]step{reset, refused}, rehearse.Unknown},
		{[]step{silence, answer(409)}, rehearse.Unknown},
		{[]step{silence, answer(503)}, rehearse.Unknown},
		{[]step{silence, answer(409), answer(503)}, rehearse.Unknown},
		{[]step{silence, answer(429)}, rehearse.Unknown},
		{[]step{silence, answer(502), refused}, rehearse.Unknown},
		{[]step{answer(500), answer(500), silence}, rehearse.Unknown},
		{[]step{silence, answer(500)}, rehearse.Rejected},
		{[]step{silence, answer(500), refused}, rehearse.Rejected},
		{[]step{silence, answer(422)}, rehearse.Rejected},
		{[]step{silence, answer(500), silence}, rehearse.Unknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			result, err := newSender(t, &script{steps: tc.steps}).Send(t.Context(), event)
			require.NoError(t, err)
			assert.Equal(t, tc.want, result.State, "%v", tc.steps)
			assert.Equal(t, result.State == rehearse.Delivered, isSuccess(result.Attempts[len(result.Attempts)-1].StatusCode))
		})
	}
}

func isSuccess(status int) bool { return status/100 == 2 }

// What the receiver says of the delivery counts when it takes it, and only then.
func TestAnswerHeaders(t *testing.T) {
	for _, tc := range []struct {
		status          int
		duplicate, seen string
		wantDup, want   bool
	}{
		{200, "true", "", true, true},
		{200, "", "true", false, true},
		{200, "false", "yes", false, false},
		{200, "", "", false, false},
		{422, "true", "true", false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			transport := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Webhook-Duplicate", tc.duplicate)
				w.Header().Set("Webhook-Event-Seen", tc.seen)
				w.WriteHeader(tc.status)
			}))
			result, err := newSender(t, transport).Send(t.Context(), event)
			require.NoError(t, err)
			assert.Equal(t, tc.wantDup, result.Duplicate)
			assert.Equal(t, tc.want, result.EventSeen)
		})
	}
}

// Who gives up gets his time back at once, and no verdict.
func TestGivingUp(t *testing.T) {
	errBored := errors.New("bored")
	for _, tc := range []struct {
		name  string
		steps []step
		after time.Duration
		times int
	}{
		{"before", []step{answer(200)}, 0, 0},
		{"in a wait", []step{answer(503)}, 10 * ms, 1},
		{"in the second wait", []step{answer(503)}, 50 * ms, 2},
		{"in an attempt", []step{silence}, time.Second, 1},
		{"in the second attempt", []step{silence}, 3 * time.Second, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if tc.after == 0 {
					cancel(errBored)
				} else {
					time.AfterFunc(tc.after, func() { cancel(errBored) })
				}
				base := &script{steps: tc.steps}
				start := time.Now()
				result, err := newSender(t, base).Send(ctx, event)
				assert.ErrorIs(t, err, errBored)
				assert.Empty(t, result.State)
				assert.Equal(t, "evt_1", result.EventID)
				assert.Len(t, result.Attempts, tc.times)
				assert.Equal(t, tc.after, time.Since(start))
				time.Sleep(time.Hour)
				assert.Equal(t, tc.times, base.count())
			})
		})
	}
}

// A deadline that leaves no time for the next attempt is no verdict either.
func TestDeadline(t *testing.T) {
	for _, steps := range [][]step{{answer(503)}, {refused}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*ms)
			defer cancel()
			result, err := newSender(t, &script{steps: steps}).Send(ctx, event)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Empty(t, result.State)
			assert.Len(t, result.Attempts, 1)
		})
	}
}

// The context of the caller can make it fewer attempts, but can't make them unsigned, nor add a key to them.
func TestCallersContext(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   func(context.Context) context.Context
		want int
	}{
		{"policy", func(ctx context.Context) context.Context {
			return roundtripper.WithPolicy(ctx, roundtripper.Standard())
		}, 3},
		{"invalid policy", func(ctx context.Context) context.Context {
			return roundtripper.WithPolicy(ctx, roundtripper.Policy{MaxRetries: -1})
		}, 3},
		{"key", func(ctx context.Context) context.Context { return roundtripper.WithKey(ctx, "k") }, 3},
		{"no retry", roundtripper.WithoutRetry, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := newVerified(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
				_, err := newSender(t, serve(t, rec)).Send(tc.in(t.Context()), event)
				require.NoError(t, err)
				assert.Len(t, rec.runs(), tc.want)
				for _, r := range rec.requests() {
					assert.Empty(t, r.header["Idempotency-Key"])
				}
			})
		})
	}
}

// An event is what its body says.
func TestBadEvents(t *testing.T) {
	for name, e := range map[string]rehearse.Event{
		"nothing":     {},
		"no JSON":     {Body: []byte("order=1")},
		"not UTF-8":   {Body: []byte("{\"id\":\"a\xff\",\"type\":\"t\"}")},
		"no ID":       {Body: []byte(`{"type":"t"}`)},
		"no type":     {Body: []byte(`{"id":"a"}`), ID: "a"},
		"two IDs":     {Body: []byte(`{"id":"a","id":"b","type":"t"}`)},
		"other ID":    {Body: []byte(body), ID: "evt_2"},
		"other type":  {Body: []byte(body), Type: "order.lost"},
		"two objects": {Body: []byte(body + body)},
	} {
		t.Run(name, func(t *testing.T) {
			base := &script{steps: []step{answer(200)}}
			result, err := newSender(t, base).Send(t.Context(), e)
			assert.ErrorIs(t, err, rehearse.ErrBadEvent)
			assert.Empty(t, result)
			assert.Zero(t, base.count(), "nothing is sent")
		})
	}
}

// The event is kept first, and its ID stands for its bytes from then on.
func TestSendKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &script{steps: []step{refused, refused, refused, answer(200)}}
		s := newSender(t, base)
		first, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		assert.Equal(t, rehearse.Rejected, first.State)

		other := rehearse.Event{Body: []byte(body + " ")}
		_, err = s.Send(t.Context(), other)
		conflict, ok := errors.AsType[*rehearse.ConflictError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, &rehearse.ConflictError{EventID: "evt_1"}, conflict)
		assert.Equal(t, 3, base.count(), "nothing is sent")

		again, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		assert.Equal(t, rehearse.Delivered, again.State)
		assert.NotEqual(t, first.DeliveryID, again.DeliveryID)
	})
}

// A store that fails, fails the delivery: what can't be kept can't be replayed.
func TestStoreFails(t *testing.T) {
	base := &script{steps: []step{answer(200)}}
	s := newSender(t, base, func(c *rehearse.Config) { c.Events = brokenStore{} })
	_, err := s.Send(t.Context(), event)
	assert.ErrorIs(t, err, errStore)
	_, err = s.Replay(t.Context(), "evt_1", "k")
	assert.ErrorIs(t, err, errStore)
	_, err = s.Replay(t.Context(), "evt_1", "")
	assert.ErrorIs(t, err, errStore)
	assert.Zero(t, base.count())
}

var errStore = errors.New("disk full")

type brokenStore struct{}

func (brokenStore) Put(context.Context, rehearse.Event) error { return errStore }
func (brokenStore) Get(context.Context, string) (rehearse.Event, error) {
	return rehearse.Event{}, errStore
}

func TestConfigErrors(t *testing.T) {
	for name, c := range map[string]rehearse.Config{
		"nothing":       {},
		"no URL":        {Secret: secret},
		"relative":      {URL: "/hook", Secret: secret},
		"scheme":        {URL: "ftp://user:topsecret@receiver.test/", Secret: secret},
		"no host":       {URL: "http://:80/", Secret: secret},
		"malformed":     {URL: "http://user:topsecret@receiver.test/%zz", Secret: secret},
		"no secret":     {URL: target},
		"short secret":  {URL: target, Secret: "topsecret"},
		"secret + LF":   {URL: target, Secret: secret + "topsecret\n"},
		"blank secret":  {URL: target, Secret: "                    "},
		"control space": {URL: target, Secret: "topsecret\x00topsecret"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := rehearse.New(c)
			assert.Error(t, err)
			assert.Nil(t, s)
			assert.NotContains(t, fmt.Sprint(err), "topsecret")
		})
	}
}

// A Sender may end up in a log, whole.
func TestPrintedSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t, &script{steps: []step{answer(200)}}, func(c *rehearse.Config) {
			c.URL, c.Secret = "http://user:topsecret@receiver.test/?token=topsecret", "topsecret, and long enough for it"
		})
		_, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		_, err = s.Replay(t.Context(), "evt_1", "k")
		require.NoError(t, err)
		synctest.Wait()
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			for _, what := range []any{s, *s, []any{s}, struct{ s rehearse.Sender }{*s}} {
				text := fmt.Sprintf(verb, what)
				assert.NotContains(t, text, "topsecret", verb)
				assert.NotContains(t, text, "746f70736563726574", verb)
			}
		}
	})
}

// A user name in the URL is sent as any http.Client sends it.
func TestBasicAuth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := newVerified(t, nil)
		s := newSender(t, serve(t, rec), func(c *rehearse.Config) { c.URL = "http://user:pass@receiver.test/hook" })
		result, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		assert.Equal(t, rehearse.Delivered, result.State)
		r := http.Request{Header: rec.requests()[0].header}
		name, password, ok := r.BasicAuth()
		assert.Equal(t, []any{"user", "pass", true}, []any{name, password, ok})
	})
}

// The receiver works for longer than the sender waits. Its work is done once, and the sender learns of it.
func TestSlowReceiver(t *testing.T) {
	for _, tc := range []struct {
		name  string
		work  time.Duration
		state rehearse.State
		codes []int
		times []time.Duration
		why   []webhookmw.Reason
	}{
		{"2.5 s", 2500 * ms, rehearse.Delivered, []int{0, 200}, []time.Duration{0, 2025 * ms},
			[]webhookmw.Reason{webhookmw.ReasonAccepted, webhookmw.ReasonDuplicate}},
		{"4 s", 4 * time.Second, rehearse.Delivered, []int{0, 409, 200}, []time.Duration{0, 2025 * ms, 3575 * ms},
			[]webhookmw.Reason{webhookmw.ReasonInFlight, webhookmw.ReasonAccepted, webhookmw.ReasonDuplicate}},
		{"10 s", 10 * time.Second, rehearse.Unknown, []int{0, 409, 409}, []time.Duration{0, 2025 * ms, 3575 * ms},
			[]webhookmw.Reason{webhookmw.ReasonInFlight, webhookmw.ReasonInFlight, webhookmw.ReasonAccepted}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := newVerified(t, func(w http.ResponseWriter, _ *http.Request) {
					time.Sleep(tc.work)
					w.WriteHeader(200) // who outlasts the sender has to say how it went
				})
				s := newSender(t, serve(t, rec))
				result, err := s.Send(t.Context(), event)
				require.NoError(t, err)
				assert.Equal(t, tc.state, result.State)
				assert.Equal(t, tc.state == rehearse.Delivered, result.Duplicate)
				assert.Equal(t, tc.codes, statuses(result))
				assert.Equal(t, tc.times, rec.times())
				time.Sleep(time.Minute)
				assert.Len(t, rec.runs(), 1, "the event was not doubled")
				assert.Equal(t, tc.why, rec.why())

				_, err = s.Replay(t.Context(), "evt_1", "")
				require.NoError(t, err)
				time.Sleep(time.Minute)
				require.Len(t, rec.runs(), 2, "a replay is another delivery")
				assert.True(t, rec.runs()[1].EventSeen)
			})
		})
	}
}
