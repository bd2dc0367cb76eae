package sqlstore_test

// What a receiver does while its PostgreSQL is away, hangs or forgets: 503 with Retry-After, nothing acknowledged that may
// be lost, and back to work without a restart of its own.

import (
	"database/sql"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/sqlstore"
)

// The time that a store has for a step: enough for a machine that has other things to do, and where it is to run out,
// little.
const (
	patient   = 30 * time.Second
	impatient = 2 * time.Second
)

// bound is for two steps that run out of time. By itself the driver would wait for ever.
const bound = 30 * time.Second

// site is a receiver, and the database that it works in.
type site struct {
	*fleet.Receiver
	proxy *proxy  // in between
	db    *sql.DB // past the proxy
	table string
	runs  atomic.Int64
	next  http.HandlerFunc
}

// newSite makes one behind a proxy. Its handler is next, which is set before the first delivery; nil: an effect for each
// event.
func newSite(t *testing.T, transactional bool, timeout time.Duration) *site {
	s := &site{}
	s.db, s.table = shared(t)
	var through string
	s.proxy, through = newProxy(t)
	s.begin(t, open(t, through), transactional, timeout)
	return s
}

// begin makes the tables, and the receiver, which goes through db.
func (s *site) begin(t *testing.T, db *sql.DB, transactional bool, timeout time.Duration) {
	newStore(t, s.db, sqlstore.Config{Table: s.table})
	newEffects(t, s.db, s.table)
	store, err := sqlstore.New(db, sqlstore.Config{Table: s.table, Timeout: timeout, Transactional: transactional})
	require.NoError(t, err)
	config := webhookmw.Config{Store: store, Lease: 3 * time.Second, Wait: time.Millisecond}
	s.Receiver = fleet.NewReceiver(t, config, func(w http.ResponseWriter, r *http.Request) {
		s.runs.Add(1)
		if transactional {
			effect(s.table, w, r)
		}
		if s.next != nil {
			s.next(w, r)
		}
	})
}

// effects is how many rows the event has.
func (s *site) effects(t *testing.T, i int) (n int) {
	t.Helper()
	require.NoError(t, s.db.QueryRow("SELECT count(*) FROM "+s.table+"_effects WHERE event = $1", fleet.EventID(i)).Scan(&n))
	return n
}

// unavailable delivers the event and requires that it is put off in good time.
func (s *site) unavailable(t *testing.T, i int, want webhookmw.Reason) {
	t.Helper()
	start := time.Now()
	resp := s.Deliver(i)
	require.Less(t, time.Since(start), bound)
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	require.Equal(t, "5", resp.Header.Get("Retry-After"))
	require.Equal(t, want, s.Last().Reason)
	require.Equal(t, http.StatusServiceUnavailable, s.Last().Status)
	require.Error(t, s.Last().Err)
}

// eventually delivers the event until it is acknowledged.
func (s *site) eventually(t *testing.T, i int) {
	t.Helper()
	require.Eventually(t, func() bool { return s.Deliver(i).StatusCode == http.StatusOK }, 30*time.Second, 20*time.Millisecond)
}

func TestDownAtStart(t *testing.T) {
	t.Parallel()
	for name, transactional := range map[string]bool{"plain": false, "transactional": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, transactional, patient)
			s.proxy.cut()
			for range 3 {
				s.unavailable(t, 1, webhookmw.ReasonStore)
			}
			require.Zero(t, s.runs.Load())
			s.proxy.restore()
			s.eventually(t, 1)
			require.EqualValues(t, 1, s.runs.Load())
			require.Equal(t, webhookmw.ReasonAccepted, s.Last().Reason)
		})
	}
}

// Without a transaction the handler's answer stands, since its work does.
func TestCutInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, patient)
	s.next = func(http.ResponseWriter, *http.Request) { s.proxy.cut() }
	require.Equal(t, http.StatusOK, s.Deliver(1).StatusCode)
	require.Equal(t, webhookmw.ReasonNotRecorded, s.Last().Reason)
	require.Error(t, s.Last().Err)
	s.next = nil
	s.proxy.restore()
	s.eventually(t, 1) // Once the lease has run out.
	require.EqualValues(t, 2, s.runs.Load())
}

// With one the work is undone, and the sender is told to come back.
func TestCutInTheMiddleTransactional(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, patient)
	s.next = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Handler", "done")
		w.WriteHeader(http.StatusAccepted)
		w.Write([]byte("done"))
		s.proxy.cut()
	}
	s.unavailable(t, 1, webhookmw.ReasonNotRecorded)
	require.Zero(t, s.effects(t, 1))
	s.next = nil
	s.proxy.restore()
	s.eventually(t, 1)
	require.Equal(t, 1, s.effects(t, 1))
}

// The connection breaks around COMMIT, and nobody here can know on which side of it. The sender is told 503 either way,
// and comes again either way.
func TestCutAtCommit(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"lost": false, "committed": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, true, patient)
			require.Equal(t, http.StatusOK, s.Deliver(0).StatusCode) // Statements are prepared, connections open.
			s.proxy.cutNext("commit", after)
			s.unavailable(t, 1, webhookmw.ReasonNotRecorded)
			s.eventually(t, 1)
			require.Equal(t, 1, s.effects(t, 1))
			if after {
				require.Equal(t, webhookmw.ReasonDuplicate, s.Last().Reason)
				require.EqualValues(t, 2, s.runs.Load())
			} else {
				require.Equal(t, webhookmw.ReasonAccepted, s.Last().Reason)
				require.EqualValues(t, 3, s.runs.Load())
			}
		})
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, impatient)
	s.eventually(t, 0)
	s.proxy.hang()
	s.unavailable(t, 1, webhookmw.ReasonStore)
	require.Zero(t, s.effects(t, 1))
	s.proxy.resume()
	// The claims that nobody waited for may have been taken after all. Their leases end.
	s.eventually(t, 1)
	require.Equal(t, 1, s.effects(t, 1))
	s.eventually(t, 0)
	require.Equal(t, webhookmw.ReasonDuplicate, s.Last().Reason)
}

func TestSlowInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, impatient)
	s.next = func(http.ResponseWriter, *http.Request) { s.proxy.hang() }
	s.unavailable(t, 1, webhookmw.ReasonNotRecorded)
	s.next = nil
	s.proxy.resume()
	s.eventually(t, 1)
	require.Equal(t, 1, s.effects(t, 1))
}

// A replica that knows nothing of what was done takes over, and neither does it know of the effects: both are made again,
// together.
func TestFailoverThatForgets(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, patient)
	forget := func() {
		_, err := s.db.Exec("TRUNCATE " + s.table + ", " + s.table + "_effects")
		require.NoError(t, err)
	}
	require.Equal(t, http.StatusOK, s.Deliver(1).StatusCode)
	s.proxy.cut()
	forget()
	s.proxy.restore()
	s.eventually(t, 1)
	require.Equal(t, 1, s.effects(t, 1))

	// In the middle: what the owner did is gone with its claim, so it is not acknowledged.
	s.next = func(http.ResponseWriter, *http.Request) {
		s.proxy.cut()
		forget()
		s.proxy.restore()
	}
	s.unavailable(t, 2, webhookmw.ReasonNotRecorded)
	s.next = nil
	s.eventually(t, 2)
	require.Equal(t, 1, s.effects(t, 2))
}
