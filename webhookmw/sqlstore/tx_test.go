package sqlstore_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/sqlstore"
)

// What a handler did stays if it took the delivery, and goes otherwise.
func TestTx(t *testing.T) {
	tests := []struct {
		name    string
		next    http.HandlerFunc
		status  int
		reason  webhookmw.Reason
		effects int
	}{
		{"says nothing", nil, 200, webhookmw.ReasonAccepted, 1},
		{"takes it", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }, 202, webhookmw.ReasonAccepted, 1},
		{"fails", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 500, webhookmw.ReasonFailed, 0},
		{"refuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 404, webhookmw.ReasonFailed, 0},
		{"breaks the transaction and does not notice", func(_ http.ResponseWriter, r *http.Request) {
			tx, _ := sqlstore.Tx(r.Context())
			tx.ExecContext(r.Context(), "SELECT no_such_column")
		}, 503, webhookmw.ReasonNotRecorded, 0},
		{"rolls back itself", func(_ http.ResponseWriter, r *http.Request) {
			tx, _ := sqlstore.Tx(r.Context())
			tx.Rollback()
		}, 503, webhookmw.ReasonNotRecorded, 0},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, true, patient)
			s.next = test.next
			require.Equal(t, test.status, s.Deliver(i).StatusCode)
			require.Equal(t, test.reason, s.Last().Reason)
			require.Equal(t, test.effects, s.effects(t, i))
			if test.effects == 0 { // It comes again, at once.
				s.next = nil
				require.Equal(t, 200, s.Deliver(i).StatusCode)
				require.Equal(t, webhookmw.ReasonAccepted, s.Last().Reason)
				require.Equal(t, 1, s.effects(t, i))
			}
			require.Equal(t, 200, s.Deliver(i).StatusCode)
			require.Equal(t, webhookmw.ReasonDuplicate, s.Last().Reason)
			require.Equal(t, 1, s.effects(t, i))
		})
	}
}

func TestTxAfterPanic(t *testing.T) {
	s := newSite(t, true, patient)
	s.next = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { s.Deliver(1) })
	require.Equal(t, webhookmw.ReasonPanicked, s.Last().Reason)
	require.Zero(t, s.effects(t, 1))
	s.next = nil
	require.Equal(t, 200, s.Deliver(1).StatusCode)
	require.Equal(t, 1, s.effects(t, 1))
}

// The answer is the handler's own, once it is committed.
func TestTxAnswer(t *testing.T) {
	s := newSite(t, true, patient)
	s.next = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Handler", "done")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "taken ")
		require.NoError(t, http.NewResponseController(w).Flush())
		io.WriteString(w, "down")
		require.Zero(t, s.effects(t, 1), "not committed yet")
	}
	resp := s.Deliver(1)
	body, _ := io.ReadAll(resp.Body)
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	require.Equal(t, "taken down", string(body))
	require.Equal(t, "done", resp.Header.Get("X-Handler"))
	require.Equal(t, 1, s.effects(t, 1))
}

// An owner whose lease ran out, and whose delivery somebody else has done meanwhile, takes back its own work.
func TestTxTakenOver(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, patient)
	s.next = func(w http.ResponseWriter, r *http.Request) {
		s.next = nil
		<-r.Context().Done()
		s.eventually(t, 1)
		require.Equal(t, 1, s.effects(t, 1))
		w.WriteHeader(http.StatusOK) // Silence would mean that the handler had given up.
	}
	require.Equal(t, http.StatusServiceUnavailable, s.Deliver(1).StatusCode)
	require.Equal(t, webhookmw.ReasonNotRecorded, s.Last().Reason)
	require.ErrorIs(t, s.Last().Err, webhookmw.ErrNotOwner)
	require.EqualValues(t, 2, s.runs.Load())
	require.Equal(t, 1, s.effects(t, 1))
}

// An owner that hangs holds what it has written beyond its lease. Its successor waits for that, in vain, and comes again;
// nothing is done twice.
func TestTxHeldBeyondLease(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, patient)
	_, err := s.db.Exec("CREATE UNIQUE INDEX ON " + s.table + "_effects (event)")
	require.NoError(t, err)
	var second *http.Response
	s.next = func(w http.ResponseWriter, r *http.Request) {
		s.next = nil
		<-r.Context().Done()
		require.Eventually(t, func() bool { // The lease ends on the server's clock.
			second = s.Deliver(1)
			return second.StatusCode != http.StatusConflict
		}, patient, 20*time.Millisecond)
		w.WriteHeader(http.StatusOK)
	}
	require.Equal(t, http.StatusServiceUnavailable, s.Deliver(1).StatusCode)
	require.ErrorIs(t, s.Last().Err, webhookmw.ErrNotOwner)
	require.Equal(t, http.StatusInternalServerError, second.StatusCode)
	require.Zero(t, s.effects(t, 1))
	s.eventually(t, 1)
	require.Equal(t, 1, s.effects(t, 1))
	require.EqualValues(t, 3, s.runs.Load())
}

// The handler of the example books an event once, however many deliveries of it there are at once, and each of them twice.
func TestEventOnce(t *testing.T) {
	db, schema := shared(t)
	_, err := db.Exec("CREATE SCHEMA " + schema)
	require.NoError(t, err)
	t.Cleanup(func() { db.Exec("DROP SCHEMA " + schema + " CASCADE") })
	u, err := neturl.Parse(url())
	require.NoError(t, err)
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	inSchema := open(t, u.String())
	store := newStore(t, inSchema, sqlstore.Config{Transactional: true, Timeout: patient})
	_, err = inSchema.Exec(`CREATE TABLE payments (event text PRIMARY KEY, amount bigint NOT NULL);
		CREATE TABLE orders (id text PRIMARY KEY, paid bigint NOT NULL);
		INSERT INTO orders VALUES ('ord_1', 0)`)
	require.NoError(t, err)

	secret := "rehearsal-secret-0123456789abcdef"
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Store: store, Wait: patient})
	require.NoError(t, err)
	receiver := v.Handler(http.HandlerFunc(orderPaid))
	body := `{"id":"evt_1","type":"order.paid","order":"ord_1","amount":42}`
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
			webhookmw.Sign(r.Header, secret, fmt.Sprint("dlv_", i/2), time.Now(), []byte(body))
			w := httptest.NewRecorder()
			receiver.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				t.Errorf("answered %d", w.Code)
			}
		})
	}
	wg.Wait()
	var paid int
	require.NoError(t, inSchema.QueryRow("SELECT paid FROM orders").Scan(&paid))
	require.Equal(t, 42, paid)
	require.Equal(t, 1, count(t, inSchema, "payments"))
}

// There is none where there is nothing to commit.
func TestNoTx(t *testing.T) {
	_, ok := sqlstore.Tx(context.Background())
	require.False(t, ok)

	plain := newSite(t, false, patient)
	plain.next = func(_ http.ResponseWriter, r *http.Request) {
		_, ok := sqlstore.Tx(r.Context())
		require.False(t, ok)
	}
	require.Equal(t, 200, plain.Deliver(1).StatusCode)
	require.EqualValues(t, 1, plain.runs.Load())

	// The handler of a duplicate has no claim.
	db, table := shared(t)
	store := newStore(t, db, sqlstore.Config{Table: table, Timeout: patient, Transactional: true})
	var got []bool
	rec := fleet.NewReceiver(t, webhookmw.Config{Store: store, RunDuplicates: true}, func(_ http.ResponseWriter, r *http.Request) {
		_, ok := sqlstore.Tx(r.Context())
		got = append(got, ok)
	})
	require.Equal(t, 200, rec.Deliver(1).StatusCode)
	require.Equal(t, 200, rec.Deliver(1).StatusCode)
	require.Equal(t, []bool{true, false}, got)
}

// Transactions end with their deliveries, and give their connections back.
func TestTxEnds(t *testing.T) {
	db, table := shared(t)
	store := newStore(t, db, sqlstore.Config{Table: table, Transactional: true, Timeout: patient})
	status := 0
	rec := fleet.NewReceiver(t, webhookmw.Config{Store: store}, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) })
	for i := range 40 {
		status = 200 + 300*(i%2)
		require.Equal(t, status, rec.Deliver(i).StatusCode)
	}
	require.Zero(t, db.Stats().InUse)
	require.LessOrEqual(t, db.Stats().OpenConnections, 3, "connections are used again")
}
