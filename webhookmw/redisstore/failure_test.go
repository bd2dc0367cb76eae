//go:build unix

package redisstore_test

// What a receiver does while its Redis is down, dies, hangs or forgets: 503 with Retry-After, nothing acknowledged that
// may be lost, and back to work without a restart of its own.

import (
	"context"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/redisstore"
)

const (
	timeout = time.Second      // of the store
	bound   = 30 * time.Second // for Claim and the Release that follows its failure; the client would take an hour
	lease   = 20 * time.Second // longer than any handler takes here
	brief   = 3 * time.Second  // a lease that is to run out
)

// patient is a client of the server that by itself waits for an hour, so that whatever ends sooner is the store's doing.
func patient(t *testing.T, addr string) *redis.Client {
	client := redis.NewClient(&redis.Options{
		Addr: addr, ContextTimeoutEnabled: true, PoolSize: 10,
		DialTimeout: time.Hour, ReadTimeout: time.Hour, WriteTimeout: time.Hour, PoolTimeout: time.Hour,
	})
	t.Cleanup(func() { client.Close() })
	return client
}

// newReceiver is a receiver on a client, and the count of its handler's runs.
func newReceiver(
	t *testing.T, client redis.UniversalClient, lease time.Duration, next http.HandlerFunc,
) (*fleet.Receiver, *atomic.Int64) {
	store := newStore(t, client, redisstore.Config{Timeout: timeout})
	runs := new(atomic.Int64)
	return fleet.NewReceiver(t, webhookmw.Config{Store: store, Lease: lease, Wait: time.Millisecond},
		func(w http.ResponseWriter, r *http.Request) {
			runs.Add(1)
			next(w, r)
		}), runs
}

func nothing(http.ResponseWriter, *http.Request) {}

// unavailable delivers the event and requires that it is put off in good time.
func unavailable(t *testing.T, rec *fleet.Receiver, i int) {
	t.Helper()
	start := time.Now()
	resp := rec.Deliver(i)
	require.Less(t, time.Since(start), bound)
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	require.Equal(t, "5", resp.Header.Get("Retry-After"))
	require.Equal(t, webhookmw.ReasonStore, rec.Last().Reason)
	require.Error(t, rec.Last().Err)
}

// eventually delivers the event until it is acknowledged.
func eventually(t *testing.T, rec *fleet.Receiver, i int) {
	t.Helper()
	require.Eventually(t, func() bool { return rec.Deliver(i).StatusCode == http.StatusOK }, 30*time.Second, 20*time.Millisecond)
}

// hang stops the server in its tracks; its connections stay open. The returned function lets it go on.
func (s *server) hang(t testing.TB) (resume func()) {
	process := s.cmd.Process
	require.NoError(t, process.Signal(syscall.SIGSTOP))
	return func() { process.Signal(syscall.SIGCONT) }
}

func TestDownAtStart(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	rec, runs := newReceiver(t, patient(t, s.addr), lease, nothing)
	for range 3 {
		unavailable(t, rec, 1)
	}
	require.Zero(t, runs.Load())
	s.start(t)
	eventually(t, rec, 1)
	require.EqualValues(t, 1, runs.Load())
	require.Equal(t, webhookmw.ReasonAccepted, rec.Last().Reason)
}

// The handler did its work, and the sender is told so. That it cannot be noted is for Observe; the next attempt runs.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.start(t)
	rec, runs := newReceiver(t, patient(t, s.addr), lease, func(_ http.ResponseWriter, r *http.Request) {
		if d, _ := webhookmw.FromContext(r.Context()); d.EventID == fleet.EventID(1) {
			s.kill()
		}
	})
	start := time.Now()
	require.Equal(t, http.StatusOK, rec.Deliver(1).StatusCode)
	require.Less(t, time.Since(start), bound)
	require.Equal(t, webhookmw.ReasonNotRecorded, rec.Last().Reason)
	require.Error(t, rec.Last().Err)
	unavailable(t, rec, 2)
	require.EqualValues(t, 1, runs.Load())
	s.start(t)
	eventually(t, rec, 2)
}

// A handler that fails while the store is away says so itself, and its delivery is not lost.
func TestKilledInTheMiddleAndFailed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.start(t)
	failed := false
	rec, runs := newReceiver(t, patient(t, s.addr), lease, func(w http.ResponseWriter, r *http.Request) {
		if !failed {
			failed = true
			s.kill()
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	require.Equal(t, http.StatusInternalServerError, rec.Deliver(1).StatusCode)
	require.Equal(t, webhookmw.ReasonFailed, rec.Last().Reason)
	require.Error(t, rec.Last().Err)
	s.start(t)
	eventually(t, rec, 1)
	require.EqualValues(t, 2, runs.Load())
}

func TestSlow(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.start(t)
	rec, runs := newReceiver(t, patient(t, s.addr), brief, nothing)
	require.Equal(t, http.StatusOK, rec.Deliver(0).StatusCode)
	resume := s.hang(t)
	for range 2 { // Seconds, all in all.
		unavailable(t, rec, 1)
	}
	require.EqualValues(t, 1, runs.Load())
	resume()
	// The claims that nobody waited for may have been taken after all. Their leases end.
	eventually(t, rec, 1)
	require.EqualValues(t, 2, runs.Load())
	require.Equal(t, http.StatusOK, rec.Deliver(0).StatusCode)
	require.Equal(t, webhookmw.ReasonDuplicate, rec.Last().Reason)
}

func TestSlowInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.start(t)
	var resume func()
	rec, runs := newReceiver(t, patient(t, s.addr), lease, func(http.ResponseWriter, *http.Request) { resume = s.hang(t) })
	start := time.Now()
	require.Equal(t, http.StatusOK, rec.Deliver(1).StatusCode)
	require.Less(t, time.Since(start), bound)
	require.Equal(t, webhookmw.ReasonNotRecorded, rec.Last().Reason)
	require.ErrorIs(t, rec.Last().Err, context.DeadlineExceeded)
	require.EqualValues(t, 1, runs.Load())
	resume()
}

// A replica that knows nothing of the delivery in work takes over. Its twin runs: twice is better than never. The first
// owner is told that what it did is not on record.
func TestFailoverThatForgets(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.start(t)
	var rec *fleet.Receiver
	var runs *atomic.Int64
	inner := make(chan webhookmw.Reason, 1)
	rec, runs = newReceiver(t, patient(t, s.addr), lease, func(http.ResponseWriter, *http.Request) {
		if runs.Load() > 1 {
			return
		}
		s.kill()
		s.start(t)
		eventually(t, rec, 1)
		inner <- rec.Last().Reason
	})
	require.Equal(t, http.StatusOK, rec.Deliver(1).StatusCode)
	require.Equal(t, webhookmw.ReasonAccepted, <-inner)
	require.Equal(t, webhookmw.ReasonNotRecorded, rec.Last().Reason)
	require.ErrorIs(t, rec.Last().Err, webhookmw.ErrNotOwner)
	require.EqualValues(t, 2, runs.Load())
	require.Equal(t, http.StatusOK, rec.Deliver(1).StatusCode)
	require.Equal(t, webhookmw.ReasonDuplicate, rec.Last().Reason)
}

// What was done before the failover is forgotten with it, and runs again; what comes after is remembered.
func TestFailoverForgetsWhatIsDone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.start(t)
	rec, runs := newReceiver(t, patient(t, s.addr), lease, nothing)
	require.Equal(t, http.StatusOK, rec.Deliver(1).StatusCode)
	s.kill()
	s.start(t)
	eventually(t, rec, 1)
	require.EqualValues(t, 2, runs.Load())
	require.Equal(t, http.StatusOK, rec.Deliver(1).StatusCode)
	require.EqualValues(t, 2, runs.Load())
}

// Every connection of the pool is busy: a step waits for one no longer than it may take.
func TestPoolExhausted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.start(t)
	client := patient(t, s.addr)
	rec, runs := newReceiver(t, client, lease, nothing)
	var busy []*redis.Conn
	for range client.Options().PoolSize {
		conn := client.Conn()
		require.NoError(t, conn.Ping(t.Context()).Err())
		busy = append(busy, conn)
	}
	unavailable(t, rec, 1)
	require.ErrorIs(t, rec.Last().Err, context.DeadlineExceeded)
	require.Zero(t, runs.Load())
	for _, conn := range busy {
		require.NoError(t, conn.Close())
	}
	eventually(t, rec, 1)
	require.EqualValues(t, 1, runs.Load())
}
