package sqlstore_test

// What the tests share: a table of their own in the machine's PostgreSQL, and servers of their own that can be stopped
// and killed.

import (
	"crypto/rand"
	"database/sql"
	"os"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw/sqlstore"
)

// url is where the PostgreSQL of the tests listens.
func url() string {
	if url := os.Getenv("REBOUND_POSTGRES_URL"); url != "" {
		return url
	}
	return "postgres://postgres@127.0.0.1:5432/test"
}

// missing skips the test, and fails it where everything has to be there.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	db.SetMaxOpenConns(20)
	db.SetMaxIdleConns(20)
	t.Cleanup(func() { db.Close() })
	return db
}

// shared is the database of the tests, and the name of a table that is dropped at the end.
func shared(t testing.TB) (*sql.DB, string) {
	t.Helper()
	db := open(t, url())
	if err := db.Ping(); err != nil {
		missing(t, "no PostgreSQL at REBOUND_POSTGRES_URL, or at its default: %v", err)
	}
	return db, newTable(t, db)
}

func newTable(t testing.TB, db *sql.DB) string {
	table := "webhook_fleet_" + strings.ToLower(rand.Text())
	t.Cleanup(func() { db.Exec("DROP TABLE IF EXISTS " + table) })
	return table
}

// newStore makes a store and its table.
func newStore(t testing.TB, db *sql.DB, config sqlstore.Config) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.New(db, config)
	require.NoError(t, err)
	_, err = db.Exec(s.Schema())
	require.NoError(t, err)
	return s
}
