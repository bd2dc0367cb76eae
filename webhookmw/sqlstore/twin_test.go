package sqlstore_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/sqlstore"
)

// A twin that asks while the owner is about to commit does not wait for it, and asking leaves no trace.
func TestTwinOnlyReads(t *testing.T) {
	db, table := shared(t)
	s := newStore(t, db, sqlstore.Config{Table: table, Timeout: 10 * time.Second})
	c := fleet.NewClaim()
	fleet.Claimed(t, s, c)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.Exec("SELECT FROM " + table + " FOR UPDATE")
	require.NoError(t, err)
	before := versions(t, db, table)
	twin := c
	twin.Token = "another"
	for range 3 {
		status, err := s.Claim(t.Context(), twin)
		require.NoError(t, err)
		require.Equal(t, webhookmw.Status{State: webhookmw.InFlight}, status)
	}
	require.Equal(t, before, versions(t, db, table))
}

// versions are the row versions of the table.
func versions(t *testing.T, db *sql.DB, table string) (all string) {
	require.NoError(t, db.QueryRow("SELECT string_agg(ctid::text || xmin::text, ' ' ORDER BY id) FROM "+table).Scan(&all))
	return all
}
