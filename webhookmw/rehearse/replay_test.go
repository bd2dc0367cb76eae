package rehearse_test

// Tests of Replay: what it sends, and which replays are one.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw/rehearse"
)

// A replay is the same event in another delivery, good an hour later too.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := newVerified(t, func(w http.ResponseWriter, r *http.Request) {})
		s := newSender(t, serve(t, rec))
		sent, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		replayed, err := s.Replay(t.Context(), "evt_1", "k")
		require.NoError(t, err)
		assert.Equal(t, rehearse.Delivered, replayed.State)
		assert.Equal(t, "evt_1", replayed.EventID)
		assert.False(t, replayed.Duplicate)
		assert.NotEqual(t, sent.DeliveryID, replayed.DeliveryID)

		require.Len(t, rec.runs(), 2)
		for i, d := range rec.runs() {
			assert.Equal(t, body, string(d.Body))
			assert.Equal(t, i == 1, d.EventSeen)
			assert.False(t, d.Duplicate)
			assert.Equal(t, time.Now().Add(time.Duration(i-1)*time.Hour).Unix(), d.Timestamp.Unix())
		}
	})
}

// One delivery for a key, another one for another key, and one each time without a key.
func TestReplayKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &script{steps: []step{answer(200)}}
		s := newSender(t, base)
		first, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		ids := map[string]bool{first.DeliveryID: true}
		for _, tc := range []struct {
			key  string
			want int // requests by then
		}{{"k", 2}, {"k", 2}, {"K", 3}, {"k2", 4}, {"k", 4}, {"", 5}, {"", 6}, {strings.Repeat("k", 255), 7}} {
			result, err := s.Replay(t.Context(), "evt_1", tc.key)
			require.NoError(t, err)
			assert.Equal(t, tc.want, base.count(), tc.key)
			ids[result.DeliveryID] = true
		}
		assert.Len(t, ids, 7)
	})
}

// A result is shared whatever it is, and nobody can change it for the others.
func TestReplaySharesFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &script{steps: []step{answer(200), answer(422)}}
		s := newSender(t, base)
		_, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		first, err := s.Replay(t.Context(), "evt_1", "k")
		require.NoError(t, err)
		assert.Equal(t, rehearse.Rejected, first.State)
		number := first.Attempts[0].Number
		first.Attempts[0].Number = 99
		again, err := s.Replay(t.Context(), "evt_1", "k")
		require.NoError(t, err)
		assert.Equal(t, 2, base.count())
		first.Attempts[0].Number = number
		assert.Equal(t, first, again)
	})
}

// The key of one event or one URL is none for another, during the delivery and after it.
func TestReplayConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, events := new(rehearse.Replays), rehearse.NewMemory(rehearse.MemoryConfig{})
		base := &script{steps: []step{answer(200), answer(200), silence}}
		share := func(c *rehearse.Config) { c.Replays, c.Events = shared, events }
		s := newSender(t, base, share)
		elsewhere := newSender(t, base, share, func(c *rehearse.Config) { c.URL = "http://user:topsecret@other.test/" })
		for n := range 2 {
			_, err := s.Send(t.Context(), eventNo(n))
			require.NoError(t, err)
		}
		conflicts := func() {
			n := base.count()
			for _, tc := range []struct {
				sender *rehearse.Sender
				event  string
			}{{s, "evt_1"}, {s, "evt_of_no_store"}, {elsewhere, "evt_0"}, {elsewhere, "evt_1"}} {
				_, err := tc.sender.Replay(t.Context(), tc.event, "k")
				conflict, ok := errors.AsType[*rehearse.ConflictError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, &rehearse.ConflictError{EventID: tc.event, Key: "k", Held: "evt_0"}, conflict)
				assert.NotContains(t, err.Error(), "topsecret")
			}
			assert.Equal(t, n, base.count(), "nothing is sent")
		}
		done := make(chan rehearse.Result)
		go func() {
			result, _ := s.Replay(t.Context(), "evt_0", "k")
			done <- result
		}()
		synctest.Wait()
		conflicts()
		assert.Equal(t, rehearse.Unknown, (<-done).State)
		conflicts()
		_, err := elsewhere.Replay(t.Context(), "evt_0", "another key")
		assert.NoError(t, err)
	})
}

func TestConflictError(t *testing.T) {
	for want, e := range map[string]rehearse.ConflictError{
		`rehearse: event "a" is known with other bytes`:                        {EventID: "a"},
		`rehearse: idempotency key "k" stands for event "b", not "a"`:          {EventID: "a", Key: "k", Held: "b"},
		`rehearse: idempotency key "k" stands for other bytes, or another URL`: {EventID: "a", Key: "k", Held: "a"},
	} {
		assert.EqualError(t, &e, want)
	}
}

// Senders that share their keys and not their events may know two events by one ID. The key stands for the bytes, too; and
// where a store has forgotten the event, for the result.
func TestReplayOtherBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := new(rehearse.Replays)
		base := &script{steps: []step{answer(200)}}
		share := func(c *rehearse.Config) { c.Replays = shared }
		a, b, c := newSender(t, base, share), newSender(t, base, share), newSender(t, base, share)
		_, err := a.Send(t.Context(), event)
		require.NoError(t, err)
		_, err = b.Send(t.Context(), rehearse.Event{Body: []byte(body + " ")})
		require.NoError(t, err)
		first, err := a.Replay(t.Context(), "evt_1", "k")
		require.NoError(t, err)
		_, err = b.Replay(t.Context(), "evt_1", "k")
		conflict, ok := errors.AsType[*rehearse.ConflictError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, &rehearse.ConflictError{EventID: "evt_1", Key: "k", Held: "evt_1"}, conflict)
		for _, s := range []*rehearse.Sender{a, c} {
			again, err := s.Replay(t.Context(), "evt_1", "k")
			require.NoError(t, err)
			assert.Equal(t, first, again)
		}
		assert.Equal(t, 3, base.count())
	})
}

// An error stands for nothing: once there is something to send, the key is free.
func TestReplayErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &script{steps: []step{answer(200)}}
		s := newSender(t, base)
		for _, key := range []string{"k", "", "k"} {
			result, err := s.Replay(t.Context(), "evt_1", key)
			assert.ErrorIs(t, err, rehearse.ErrNoEvent)
			assert.Equal(t, rehearse.Result{EventID: "evt_1"}, result)
		}
		_, err := s.Replay(t.Context(), "evt_1", strings.Repeat("k", 256))
		assert.ErrorContains(t, err, "255 bytes")
		assert.Zero(t, base.count())
		_, err = s.Send(t.Context(), event)
		require.NoError(t, err)
		result, err := s.Replay(t.Context(), "evt_1", "k")
		require.NoError(t, err)
		assert.Equal(t, rehearse.Delivered, result.State)
	})
}

// The delivery goes on when those who wait for it go away, also the one who began it, and who comes back gets it.
func TestReplayOutlivesItsCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := newVerified(t, func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) })
		s := newSender(t, serve(t, rec))
		_, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		start := time.Now()
		errBored := errors.New("bored")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*ms, func() { cancel(errBored) })
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				result, err := s.Replay(ctx, "evt_1", "k")
				assert.ErrorIs(t, err, errBored)
				assert.Equal(t, 10*ms, time.Since(start))
				assert.Empty(t, result.State)
			})
		}
		all.Wait()
		_, err = s.Replay(ctx, "evt_1", "k")
		assert.ErrorIs(t, err, errBored, "who has given up already gets nothing")
		result, err := s.Replay(t.Context(), "evt_1", "k")
		require.NoError(t, err)
		assert.Equal(t, rehearse.Delivered, result.State)
		assert.Equal(t, time.Second, time.Since(start))
		assert.Len(t, rec.runs(), 2)

		expired, stop := context.WithTimeout(t.Context(), 0)
		defer stop()
		_, err = s.Replay(expired, "evt_1", "k")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A thousand at once, under ten keys, are ten deliveries.
func TestThousandReplays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := newVerified(t, func(http.ResponseWriter, *http.Request) { time.Sleep(100 * ms) })
		s := newSender(t, serve(t, rec))
		_, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		var mu sync.Mutex
		var all sync.WaitGroup
		ids := map[string]string{} // of deliveries, by key
		for n := range 1000 {
			all.Go(func() {
				key := fmt.Sprint("key ", n%10)
				result, err := s.Replay(t.Context(), "evt_1", key)
				assert.NoError(t, err)
				assert.Equal(t, rehearse.Delivered, result.State)
				mu.Lock()
				defer mu.Unlock()
				if id, ok := ids[key]; ok {
					assert.Equal(t, id, result.DeliveryID)
				}
				ids[key] = result.DeliveryID
			})
		}
		all.Wait()
		assert.Len(t, ids, 10)
		assert.Len(t, rec.runs(), 1+10)
		assert.Len(t, rec.requests(), 1+10)
	})
}

// Results are remembered for a day.
func TestReplaysExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &script{steps: []step{answer(200)}}
		s := newSender(t, base)
		_, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		replay := func() string {
			result, err := s.Replay(t.Context(), "evt_1", "k")
			require.NoError(t, err)
			return result.DeliveryID
		}
		first := replay()
		time.Sleep(24*time.Hour - time.Nanosecond)
		assert.Equal(t, first, replay())
		time.Sleep(time.Nanosecond)
		second := replay()
		assert.NotEqual(t, first, second)
		time.Sleep(23 * time.Hour)
		assert.Equal(t, second, replay())
	})
}

// At most 10,000 results are remembered, the latest. One that is going on does not make room for them.
func TestReplaysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		base := roundTrip(func(req *http.Request) (*http.Response, error) {
			if req.Header.Get("X-Slow") != "" {
				<-gate
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
		})
		shared, events := new(rehearse.Replays), rehearse.NewMemory(rehearse.MemoryConfig{})
		share := func(c *rehearse.Config) { c.Replays, c.Events = shared, events }
		s := newSender(t, base, share)
		slow := newSender(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			req.Header.Set("X-Slow", "yes")
			return base(req)
		}), share)
		_, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		live := make(chan rehearse.Result)
		for range 2 {
			go func() {
				result, _ := slow.Replay(t.Context(), "evt_1", "live")
				live <- result
			}()
		}
		replay := func(n int) string {
			result, err := s.Replay(t.Context(), "evt_1", fmt.Sprint(n))
			require.NoError(t, err)
			return result.DeliveryID
		}
		ids := make([]string, 10_001)
		for n := range ids[:10_000] {
			ids[n] = replay(n)
		}
		assert.Equal(t, ids[0], replay(0))
		ids[10_000] = replay(10_000)
		assert.Equal(t, ids[1], replay(1))
		assert.NotEqual(t, ids[0], replay(0), "the oldest made room")
		synctest.Wait()
		close(gate)
		first, second := <-live, <-live
		assert.NotEmpty(t, first.DeliveryID)
		assert.Equal(t, first, second)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A transport that ends its goroutine leaves nobody waiting, and the key free.
func TestReplayTransportExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exits := false
		s := newSender(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			if exits {
				runtime.Goexit()
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
		}))
		_, err := s.Send(t.Context(), event)
		require.NoError(t, err)
		exits = true
		_, err = s.Replay(t.Context(), "evt_1", "k")
		assert.Error(t, err)
		exits = false
		result, err := s.Replay(t.Context(), "evt_1", "k")
		require.NoError(t, err)
		assert.Equal(t, rehearse.Delivered, result.State)
	})
}
