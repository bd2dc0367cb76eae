package sqlstore_test

import (
	"database/sql"
	"math/rand/v2"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/sqlstore"
)

const tableVar = "REBOUND_FLEET_TABLE"

func TestMain(m *testing.M) {
	fleet.Serve(receiver)
	os.Exit(m.Run())
}

// receiver is one of the three processes. Its handler takes a moment before and after its work, for the kills to fall
// into.
func receiver() (webhookmw.Store, http.Handler) {
	db, err := sql.Open("pgx", url())
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(15)
	db.SetMaxIdleConns(15)
	table := os.Getenv(tableVar)
	s, err := sqlstore.New(db, sqlstore.Config{Table: table, Timeout: 5 * time.Second, Transactional: true})
	if err != nil {
		panic(err)
	}
	return s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(rand.N(3 * time.Millisecond))
		effect(table, w, r)
		time.Sleep(rand.N(3 * time.Millisecond))
	})
}

// effect is a handler that adds a row for its event to a table that would take it any number of times.
func effect(table string, w http.ResponseWriter, r *http.Request) {
	d, _ := webhookmw.FromContext(r.Context())
	tx, ok := sqlstore.Tx(r.Context())
	if !ok {
		http.Error(w, "no transaction", http.StatusInternalServerError)
		return
	}
	if _, err := tx.ExecContext(r.Context(), "INSERT INTO "+table+"_effects VALUES ($1)", d.EventID); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func newEffects(t testing.TB, db *sql.DB, table string) {
	t.Helper()
	_, err := db.Exec("CREATE TABLE " + table + "_effects (event text NOT NULL)")
	require.NoError(t, err)
	t.Cleanup(func() { db.Exec("DROP TABLE IF EXISTS " + table + "_effects") })
}

// Every event takes effect exactly once, whatever happens to the receivers.
func TestFleet(t *testing.T) {
	db, table := shared(t)
	newStore(t, db, sqlstore.Config{Table: table})
	newEffects(t, db, table)
	n := fleet.Deliveries(t)
	counts := fleet.Run(t, n, tableVar+"="+table)
	t.Log(counts)
	require.Equal(t, 2*n, counts.Taken+counts.Duplicates)
	require.Positive(t, counts.Kills)
	require.Equal(t, n, count(t, db, "(SELECT DISTINCT event FROM "+table+"_effects) AS effects"))
	require.Equal(t, n, count(t, db, table+"_effects"), "events that took effect more than once")
	t.Logf("%d events took effect exactly once", n)
}
