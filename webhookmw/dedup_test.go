package webhookmw_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// What is handled, and what is known of it afterwards.

// answers makes a handler that answers with these statuses in turn; 0 writes nothing.
func answers(statuses ...int) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if status := statuses[0]; status != 0 {
			w.WriteHeader(status)
		}
		if len(statuses) > 1 {
			statuses = statuses[1:]
		}
	}
}

func TestOnlyWhatTheHandlerTookIsDone(t *testing.T) {
	tests := []struct {
		first  int
		done   bool
		reason webhookmw.Reason
	}{
		{0, true, webhookmw.ReasonAccepted},
		{200, true, webhookmw.ReasonAccepted},
		{202, true, webhookmw.ReasonAccepted},
		{204, true, webhookmw.ReasonAccepted},
		{299, true, webhookmw.ReasonAccepted},
		{302, false, webhookmw.ReasonFailed},
		{304, false, webhookmw.ReasonFailed},
		{400, false, webhookmw.ReasonFailed},
		{429, false, webhookmw.ReasonFailed},
		{500, false, webhookmw.ReasonFailed},
		{503, false, webhookmw.ReasonFailed},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.first), func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{}, answers(test.first, 200))
			first := rec.send(signed("dlv_1", plain))
			require.Equal(t, max(test.first, 200), first.Code)
			require.Equal(t, test.reason, rec.last().Reason)
			require.Equal(t, max(test.first, 200), rec.last().Status)
			second := rec.send(signed("dlv_1", plain))
			require.Equal(t, 200, second.Code)
			if test.done {
				require.Equal(t, 1, rec.ran())
				require.Equal(t, "true", second.Header().Get("Webhook-Duplicate"))
				require.Equal(t, webhookmw.ReasonDuplicate, rec.last().Reason)
				require.True(t, rec.last().Delivery.Duplicate)
				require.True(t, rec.last().Delivery.EventSeen)
			} else {
				require.Equal(t, 2, rec.ran())
				require.Empty(t, second.Header().Get("Webhook-Duplicate"))
				require.False(t, rec.runs[1].Duplicate)
				require.False(t, rec.runs[1].EventSeen)
			}
			require.Empty(t, first.Header().Get("Webhook-Event-Seen"))
			third := rec.send(signed("dlv_2", plain))
			require.Equal(t, "true", third.Header().Get("Webhook-Event-Seen"), "the event was taken, in another delivery")
			require.Empty(t, third.Header().Get("Webhook-Duplicate"))
		})
	}
}

func TestTwinOfADeliveryInWork(t *testing.T) {
	tests := []struct {
		name   string
		works  time.Duration // the first
		first  int           // and what it answers
		twin   int
		after  time.Duration // when the twin is answered; it comes after 100 ms
		ran    int
		reason webhookmw.Reason
	}{
		{"ends well in time", 400 * time.Millisecond, 200, 200, 415 * time.Millisecond, 1, webhookmw.ReasonDuplicate},
		{"fails in time", 400 * time.Millisecond, 500, 200, 415 * time.Millisecond, 2, webhookmw.ReasonAccepted},
		{"ends just before the wait", 1590 * time.Millisecond, 200, 200, 1600 * time.Millisecond, 1, webhookmw.ReasonDuplicate},
		{"takes too long", 3 * time.Second, 200, 409, 1600 * time.Millisecond, 1, webhookmw.ReasonInFlight},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			at(t, epoch, func(t *testing.T) {
				statuses := answers(test.first, 200)
				rec := newReceiver(t, webhookmw.Config{}, nil)
				rec.next = func(w http.ResponseWriter, r *http.Request) {
					if rec.ran() == 1 {
						time.Sleep(test.works)
					}
					statuses(w, r)
				}
				var wg sync.WaitGroup
				wg.Go(func() { require.Equal(t, test.first, rec.send(signedAt(epoch, "dlv_1", plain)).Code) })
				time.Sleep(100 * time.Millisecond)
				w := rec.send(signedAt(epoch, "dlv_1", plain))
				require.Equal(t, test.twin, w.Code)
				require.Equal(t, test.after, time.Since(epoch))
				require.Contains(t, rec.reasons(), test.reason)
				if test.twin == 409 {
					require.Equal(t, "1", w.Header().Get("Retry-After"))
				}
				wg.Wait()
				require.Equal(t, test.ran, rec.ran())
			})
		})
	}
}

func TestManyTwins(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Second) })
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { require.Equal(t, 200, rec.send(signedAt(epoch, "dlv_1", plain)).Code) })
		}
		wg.Wait()
		require.Equal(t, 1, rec.ran())
	})
}

func TestWaitersAreBounded(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{MaxWaiters: 3}, func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Second) })
		var mu sync.Mutex
		codes := map[int]int{}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				start := time.Now()
				w := rec.send(signedAt(epoch, "dlv_1", plain))
				mu.Lock()
				defer mu.Unlock()
				codes[w.Code]++
				if w.Code == 409 {
					require.Zero(t, time.Since(start))
				}
			})
		}
		wg.Wait()
		require.Equal(t, map[int]int{200: 4, 409: 6}, codes)

		// The places are given back.
		wg.Go(func() { rec.send(signed("dlv_2", plain)) })
		synctest.Wait()
		for range 3 {
			wg.Go(func() { require.Equal(t, 200, rec.send(signed("dlv_2", plain)).Code) })
		}
		wg.Wait()
	})
}

// A twin that hangs up while it waits goes at once, and the first one is not disturbed.
func TestWaitingTwinHangsUp(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Second) })
		var wg sync.WaitGroup
		wg.Go(func() { require.Equal(t, 200, rec.send(signedAt(epoch, "dlv_1", plain)).Code) })
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		time.AfterFunc(100*time.Millisecond, func() { cancel(gone) })
		rec.send(signedAt(epoch, "dlv_1", plain).WithContext(ctx))
		require.Equal(t, 100*time.Millisecond, time.Since(epoch))
		require.ErrorIs(t, rec.last().Err, gone)
		wg.Wait()
		require.Equal(t, 1, rec.ran())
	})
}

// A receiver that died with a delivery in work: its claim stands until the lease is over, and then the next one runs.
func TestLeaseOfADeadReceiver(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		store := webhookmw.NewMemory(webhookmw.MemoryConfig{})
		dead := newReceiver(t, webhookmw.Config{Store: dying{store}}, nil)
		require.Equal(t, 200, dead.send(signedAt(epoch, "dlv_1", plain)).Code)
		require.Equal(t, webhookmw.ReasonNotRecorded, dead.last().Reason)

		rec := newReceiver(t, webhookmw.Config{Store: store, Wait: time.Nanosecond}, nil)
		time.Sleep(30*time.Second - time.Millisecond)
		require.Equal(t, 409, rec.send(signedAt(epoch, "dlv_1", plain)).Code)
		time.Sleep(time.Millisecond)
		require.Equal(t, 200, rec.send(signedAt(epoch, "dlv_1", plain)).Code)
		require.Equal(t, 1, rec.ran())
	})
}

// dying is a store that loses its receiver before the end of a claim reaches it.
type dying struct{ webhookmw.Store }

var errDied = errors.New("died")

func (dying) Complete(context.Context, webhookmw.Claim) error { return errDied }
func (dying) Release(context.Context, webhookmw.Claim) error  { return errDied }

func TestHandlerContextEndsWithTheLease(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{Lease: 10 * time.Second}, func(w http.ResponseWriter, r *http.Request) {
			ctx := r.Context()
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			require.Equal(t, epoch.Add(10*time.Second), deadline)
			require.NoError(t, ctx.Err())
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			<-child.Done()
			require.Equal(t, 10*time.Second, time.Since(epoch))
			require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
			require.ErrorContains(t, context.Cause(child), "lease")
			require.ErrorIs(t, context.Cause(child), context.DeadlineExceeded)
			timeout, ok := errors.AsType[interface {
				error
				Timeout() bool
			}](context.Cause(ctx))
			require.True(t, ok && timeout.Timeout())
			d, ok := webhookmw.FromContext(child)
			require.True(t, ok)
			require.Equal(t, "evt_1", d.EventID)
			w.WriteHeader(200)
		})
		// Late, but nobody took over: the handler did its work, and that counts.
		require.Equal(t, 200, rec.send(signedAt(epoch, "dlv_1", plain)).Code)
		require.Equal(t, webhookmw.ReasonAccepted, rec.last().Reason)
		require.Equal(t, "true", rec.send(signedAt(epoch, "dlv_1", plain)).Header().Get("Webhook-Duplicate"))
	})
}

func TestHandlerContextWithoutWaiting(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		var kept context.Context
		type key struct{}
		rec := newReceiver(t, webhookmw.Config{Lease: time.Second}, func(w http.ResponseWriter, r *http.Request) {
			kept = r.Context()
			require.Equal(t, "value", kept.Value(key{}))
			require.NoError(t, kept.Err())
			time.Sleep(time.Second - 1)
			require.NoError(t, kept.Err())
			time.Sleep(time.Nanosecond)
			require.ErrorIs(t, kept.Err(), context.DeadlineExceeded)
		})
		r := signedAt(epoch, "dlv_1", plain)
		rec.send(r.WithContext(context.WithValue(r.Context(), key{}, "value")))
		require.Error(t, kept.Err())

		rec.next = func(w http.ResponseWriter, r *http.Request) { kept = r.Context() }
		rec.send(signedAt(epoch, "dlv_2", plain))
		require.ErrorIs(t, kept.Err(), context.Canceled, "also before anybody has asked for Done")
		<-kept.Done() // at once: no timer outlives the handler
		require.Equal(t, time.Second, time.Since(epoch))
		require.ErrorIs(t, kept.Err(), context.Canceled)
	})
}

// The caller's own deadline, where it comes first, is the handler's.
func TestHandlerContextKeepsAnEarlierDeadline(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) {
			deadline, ok := r.Context().Deadline()
			require.True(t, ok)
			require.Equal(t, epoch.Add(time.Second), deadline)
			<-r.Context().Done()
		})
		rec.send(signedAt(epoch, "dlv_1", plain).WithContext(ctx))
		require.Equal(t, time.Second, time.Since(epoch))
	})
}

// The lease ran out, another attempt took over and finished: the late one can't say anything any more.
func TestLateOwnerThatWasOvertaken(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{Lease: time.Second}, nil)
		rec.next = func(w http.ResponseWriter, r *http.Request) {
			if rec.ran() == 1 {
				time.Sleep(3 * time.Second) // deaf to its context
				w.WriteHeader(500)
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() { rec.send(signedAt(epoch, "dlv_1", plain)) })
		time.Sleep(2 * time.Second)
		require.Equal(t, 200, rec.send(signedAt(epoch, "dlv_1", plain)).Code)
		wg.Wait()
		require.Equal(t, 2, rec.ran())
		require.ErrorIs(t, rec.last().Err, webhookmw.ErrNotOwner)
		require.Equal(t, "true", rec.send(signedAt(epoch, "dlv_1", plain)).Header().Get("Webhook-Duplicate"))
	})
}

func TestStoreDown(t *testing.T) {
	down := errors.New("store is down")
	store := &flaky{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	rec := newReceiver(t, webhookmw.Config{Store: store}, answers(200))

	store.claim = down
	w := rec.send(signed("dlv_1", plain))
	require.Equal(t, 503, w.Code)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	require.NotContains(t, w.Body.String(), down.Error())
	require.Zero(t, rec.ran())
	require.Equal(t, webhookmw.ReasonStore, rec.last().Reason)
	require.ErrorIs(t, rec.last().Err, down)

	store.claim, store.complete = nil, down
	w = rec.send(signed("dlv_1", plain))
	require.Equal(t, 200, w.Code, "the answer is the handler's")
	require.Equal(t, 1, rec.ran())
	require.Equal(t, webhookmw.ReasonNotRecorded, rec.last().Reason)
	require.ErrorIs(t, rec.last().Err, down)

	store.complete, store.release = nil, down
	rec.next = answers(500)
	require.Equal(t, 500, rec.send(signed("dlv_2", plain)).Code)
	require.Equal(t, webhookmw.ReasonFailed, rec.last().Reason)
	require.ErrorIs(t, rec.last().Err, down)
}

// A claim whose answer was lost may have been taken: it is given back, so that the next attempt need not wait for the
// lease.
func TestStoreLosesTheAnswer(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		store := &forgetful{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{}), lose: true}
		rec := newReceiver(t, webhookmw.Config{Store: store}, nil)
		require.Equal(t, 503, rec.send(signed("dlv_1", plain)).Code)
		store.lose = false
		require.Equal(t, 200, rec.send(signed("dlv_1", plain)).Code)
		require.Zero(t, time.Since(epoch))
	})
}

type forgetful struct {
	*webhookmw.Memory
	lose bool
}

func (f *forgetful) Claim(ctx context.Context, c webhookmw.Claim) (webhookmw.Status, error) {
	status, err := f.Memory.Claim(ctx, c)
	if f.lose {
		return webhookmw.Status{}, errors.New("connection reset")
	}
	return status, err
}

func TestStoreFull(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		store := webhookmw.NewMemory(webhookmw.MemoryConfig{MaxEntries: 2})
		rec := newReceiver(t, webhookmw.Config{Store: store, Retention: time.Hour}, nil)
		require.Equal(t, 200, rec.send(signed("dlv_1", plain)).Code)
		time.Sleep(time.Minute)
		require.Equal(t, 200, rec.send(signed("dlv_2", plain)).Code)
		w := rec.send(signed("dlv_3", plain))
		require.Equal(t, 503, w.Code)
		require.NotEmpty(t, w.Header().Get("Retry-After"))
		require.Equal(t, webhookmw.ReasonStoreFull, rec.last().Reason)
		for _, id := range []string{"dlv_1", "dlv_2"} {
			require.Equal(t, "true", rec.send(signed(id, plain)).Header().Get("Webhook-Duplicate"), "nothing is forgotten")
		}
		time.Sleep(59 * time.Minute)
		require.Equal(t, 200, rec.send(signed("dlv_3", plain)).Code, "the first has expired")
		require.Equal(t, 503, rec.send(signed("dlv_4", plain)).Code)
	})
}

func TestEventSeen(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, nil)
	rec.send(signed("dlv_1", plain))
	w := rec.send(signed("dlv_2", plain)) // replayed by the sender: a new delivery of a known event
	require.Equal(t, 200, w.Code)
	require.Empty(t, w.Header().Get("Webhook-Duplicate"))
	require.Equal(t, 2, rec.ran())
	require.False(t, rec.runs[0].EventSeen)
	require.True(t, rec.runs[1].EventSeen)
	require.False(t, rec.runs[1].Duplicate)
	require.False(t, rec.runs[1].SignatureReused, "v2 says who signed for dlv_2")

	// Different events, the rest equal.
	rec.send(signed("dlv_3", `{"id":"evt_3","type":"t"}`))
	rec.send(signed("dlv_3", `{"id":"evt_4","type":"t"}`))
	require.Equal(t, 4, rec.ran())
	require.False(t, rec.runs[3].EventSeen)
}

func TestSignatureReused(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		replayed := func(first *http.Request) (*webhookmw.Delivery, *receiver) {
			rec := newReceiver(t, webhookmw.Config{}, answers(500, 200))
			rec.send(first)
			time.Sleep(time.Second)
			again := v1Only(signedAt(epoch, "dlv_1", plain)) // recorded on the way, and sent under another ID
			again.Header.Set("Webhook-Delivery-Id", "dlv_forged")
			require.Equal(t, 200, rec.send(again).Code)
			return rec.runs[1], rec
		}
		d, rec := replayed(v1Only(signedAt(epoch, "dlv_1", plain)))
		require.True(t, d.SignatureReused, "also where the first one was released")
		require.False(t, rec.runs[0].SignatureReused)
		rec.send(v1Only(signedAt(epoch, "dlv_1", plain)))
		require.False(t, rec.runs[2].SignatureReused, "the delivery that it first came with")
		d, _ = replayed(signedAt(epoch, "dlv_1", plain))
		require.True(t, d.SignatureReused, "also where v2 was cut off")
		d, _ = replayed(v1Only(signedAt(epoch.Add(-1e9), "dlv_1", plain)))
		require.False(t, d.SignatureReused, "signed at another time")

		stolen := signedAt(epoch, "dlv_1", plain)
		stolen.Header.Set("Webhook-Delivery-Id", "dlv_forged")
		require.Equal(t, 401, rec.send(stolen).Code, "with v2 it does not verify")
	})
}

func TestSameDeliveryOtherBody(t *testing.T) {
	const other = `{"id":"evt_1","type":"order.paid","amount":9999}`
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{}, func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Second) })
		var wg sync.WaitGroup
		wg.Go(func() { rec.send(signed("dlv_1", plain)) })
		synctest.Wait()
		start := time.Now()
		require.Equal(t, 422, rec.send(signed("dlv_1", other)).Code, "while it is in work")
		require.Zero(t, time.Since(start), "at once")
		wg.Wait()
		require.Equal(t, 422, rec.send(signed("dlv_1", other)).Code, "when it is done")
		require.Equal(t, webhookmw.ReasonMismatch, rec.last().Reason)
		require.Equal(t, 1, rec.ran())
	})
}

// Nothing is recorded, looked up or waited for on the word of a request that is not signed.
func TestUnsignedRequestsReachNoStore(t *testing.T) {
	store := &counting{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	rec := newReceiver(t, webhookmw.Config{Store: store}, nil)
	rec.send(signed("dlv_1", plain))
	r := signed("dlv_1", plain)
	r.Header.Set("Webhook-Signature", r.Header.Get("Webhook-Signature")[:14]+mac("another-secret-0123456789", "x"))
	require.Equal(t, 401, rec.send(r).Code)
	require.EqualValues(t, 1, store.claims.Load())
}

func TestScope(t *testing.T) {
	store := webhookmw.NewMemory(webhookmw.MemoryConfig{})
	a := newReceiver(t, webhookmw.Config{Store: store, Scope: "a"}, nil)
	b := newReceiver(t, webhookmw.Config{Store: store, Scope: "b"}, nil)
	for _, rec := range []*receiver{a, b, a, b} {
		require.Equal(t, 200, rec.send(v1Only(signed("dlv_1", plain))).Code)
	}
	require.Equal(t, 1, a.ran())
	require.Equal(t, 1, b.ran())
	require.False(t, b.runs[0].EventSeen)
	require.False(t, b.runs[0].SignatureReused)

	// What one part ends with is not what the next begins with.
	c := newReceiver(t, webhookmw.Config{Store: store, Scope: "c"}, nil)
	c.send(signed("ab", `{"id":"c","type":"t"}`))
	c.send(signed("a", `{"id":"bc","type":"t"}`))
	require.Equal(t, 2, c.ran())
}

func TestRunDuplicates(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{RunDuplicates: true}, answers(200, 500, 200))
	for range 3 {
		rec.send(signed("dlv_1", plain))
	}
	require.Equal(t, 3, rec.ran())
	require.False(t, rec.runs[0].Duplicate)
	require.True(t, rec.runs[1].Duplicate)
	require.True(t, rec.runs[1].EventSeen)
	require.True(t, rec.runs[2].Duplicate, "a duplicate that fails does not undo what is done")
	require.Equal(t, []webhookmw.Reason{"accepted", "duplicate", "duplicate"}, rec.reasons())
	require.Equal(t, 500, rec.events[1].Status)

	rec.next = func(w http.ResponseWriter, r *http.Request) {
		_, ok := r.Context().Deadline()
		require.False(t, ok)
		require.NoError(t, r.Context().Err())
		panic(http.ErrAbortHandler)
	}
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { rec.send(signed("dlv_1", plain)) })
	require.Equal(t, webhookmw.ReasonPanicked, rec.last().Reason)
}

func TestFromContextWithoutOne(t *testing.T) {
	d, ok := webhookmw.FromContext(httptest.NewRequest("POST", "/", nil).Context())
	require.False(t, ok)
	require.Nil(t, d)
}
