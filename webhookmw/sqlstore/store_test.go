package sqlstore_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	mrand "math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/sqlstore"
	"github.com/rebound-go/rebound/webhookmw/storetest"
)

func TestStore(t *testing.T) {
	db, table := shared(t)
	storetest.Run(t, func(t *testing.T) webhookmw.Store {
		return newStore(t, db, sqlstore.Config{Table: table, Timeout: 20 * time.Second})
	})
}

func TestNewRefuses(t *testing.T) {
	db := open(t, url())
	tests := []struct {
		name   string
		db     *sql.DB
		config sqlstore.Config
		want   string
	}{
		{"no database", nil, sqlstore.Config{}, "sqlstore: database: none"},
		{"upper case", db, sqlstore.Config{Table: "Deliveries"}, "Table"},
		{"statement", db, sqlstore.Config{Table: "a; DROP TABLE b"}, "Table"},
		{"quoted", db, sqlstore.Config{Table: `"a"`}, "Table"},
		{"two dots", db, sqlstore.Config{Table: "a.b.c"}, "Table"},
		{"negative", db, sqlstore.Config{Timeout: -1}, "Timeout: negative"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := sqlstore.New(test.db, test.config)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestSchemaOfItsOwn(t *testing.T) {
	db, schema := shared(t)
	_, err := db.Exec("CREATE SCHEMA " + schema)
	require.NoError(t, err)
	t.Cleanup(func() { db.Exec("DROP SCHEMA " + schema + " CASCADE") })
	s := newStore(t, db, sqlstore.Config{Table: schema + ".deliveries"})
	c := fleet.NewClaim()
	fleet.Claimed(t, s, c)
	require.NoError(t, s.Complete(t.Context(), c))
	require.Equal(t, 3, count(t, db, schema+".deliveries"))
	_, err = db.Exec(s.Schema())
	require.NoError(t, err, "what is there already is left alone")
	require.Equal(t, 3, count(t, db, schema+".deliveries"))
}

// A name may be a word of the language.
func TestNameThatIsAWord(t *testing.T) {
	db, schema := shared(t)
	_, err := db.Exec("CREATE SCHEMA " + schema)
	require.NoError(t, err)
	t.Cleanup(func() { db.Exec("DROP SCHEMA " + schema + " CASCADE") })
	s := newStore(t, db, sqlstore.Config{Table: schema + ".order"})
	c := fleet.NewClaim()
	fleet.Claimed(t, s, c)
	require.NoError(t, s.Complete(t.Context(), c))
	_, err = s.Expire(t.Context())
	require.NoError(t, err)
}

// Receivers that start at once create the table once.
func TestSchemaAtOnce(t *testing.T) {
	db, table := shared(t)
	s, err := sqlstore.New(db, sqlstore.Config{Table: table})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := db.Exec(s.Schema()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	fleet.Claimed(t, s, fleet.NewClaim())
}

func count(t testing.TB, db *sql.DB, table string) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func TestClaimRepeated(t *testing.T) {
	db, table := shared(t)
	fleet.Repeated(t, newStore(t, db, sqlstore.Config{Table: table}))
}

// A lease for ever is one like any other.
func TestLongestLease(t *testing.T) {
	db, table := shared(t)
	fleet.Forever(t, newStore(t, db, sqlstore.Config{Table: table}))
}

// Few deliveries, events and signatures, many owners, memories that are short: no two steps wait for each other in a
// circle, and none fails otherwise than it may.
func TestStepsThatMeet(t *testing.T) {
	db, table := shared(t)
	s := newStore(t, db, sqlstore.Config{Table: table, Timeout: patient, Transactional: true})
	var deliveries, events, signatures [3][32]byte
	for i := range deliveries {
		deliveries[i], events[i], signatures[i] = fleet.Random(), fleet.Random(), fleet.Random()
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for range 100 {
				c := fleet.NewClaim()
				c.Key, c.Event = deliveries[mrand.IntN(3)], events[mrand.IntN(3)]
				c.Signature, c.Fingerprint = signatures[mrand.IntN(3)], [32]byte{}
				c.Lease, c.Retain = time.Duration(mrand.IntN(3000))*time.Microsecond, time.Duration(mrand.IntN(3000))*time.Microsecond
				if err := through(s, c, mrand.IntN(2) == 0); err != nil && !errors.Is(err, webhookmw.ErrNotOwner) {
					t.Error(err)
				}
				if worker == 0 {
					if _, err := s.Expire(context.Background()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, db.Stats().InUse)
}

// through takes a claim from its beginning to its end, if it is granted.
func through(s *sqlstore.Store, c webhookmw.Claim, complete bool) error {
	ctx := context.Background()
	status, err := s.Claim(ctx, c)
	if err != nil || status.State != webhookmw.Claimed {
		return err
	}
	if ctx, err = s.Begin(ctx, c); err != nil {
		return err
	}
	if complete {
		return s.Complete(ctx, c)
	}
	return s.Release(ctx, c)
}

// Every connection of the pool is busy: a step waits for one no longer than it may take.
func TestPoolExhausted(t *testing.T) {
	t.Parallel()
	db, table := shared(t)
	s := newStore(t, db, sqlstore.Config{Table: table, Timeout: time.Second, Transactional: true})
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	c := fleet.NewClaim()
	_, err = s.Claim(t.Context(), c)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = s.Begin(t.Context(), c)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, s.Complete(t.Context(), c), context.DeadlineExceeded)
	require.ErrorIs(t, s.Release(t.Context(), c), context.DeadlineExceeded)
	require.NoError(t, conn.Close())
	fleet.Claimed(t, s, c)
}

// A row that has expired counts for nothing before it is deleted, and Expire deletes those and no others.
func TestExpire(t *testing.T) {
	db, table := shared(t)
	s := newStore(t, db, sqlstore.Config{Table: table})
	n, err := s.Expire(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)

	live := fleet.NewClaim()
	fleet.Claimed(t, s, live)
	require.NoError(t, s.Complete(t.Context(), live))
	old := fleet.NewClaim()
	old.Lease, old.Retain = time.Microsecond, time.Microsecond
	fleet.Claimed(t, s, old)
	require.NoError(t, s.Complete(t.Context(), old))
	_, err = db.Exec("INSERT INTO " + table + ` (id, expires)
		SELECT '\x65' || sha256(i::text::bytea), now() - interval '1 second' FROM generate_series(1, 2500) AS i`)
	require.NoError(t, err)
	require.Equal(t, 2506, count(t, db, table))

	old.Token = rand.Text()
	status, err := s.Claim(t.Context(), old)
	require.NoError(t, err)
	require.Equal(t, webhookmw.Status{State: webhookmw.Claimed}, status)
	n, err = s.Expire(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2503, n)
	live.Token = rand.Text()
	status, err = s.Claim(t.Context(), live)
	require.NoError(t, err)
	require.Equal(t, webhookmw.Completed, status.State)
}

func TestExpireEndsWithContext(t *testing.T) {
	db, table := shared(t)
	s := newStore(t, db, sqlstore.Config{Table: table})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Expire(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// A disk that is full, as the server reports it.
func TestFull(t *testing.T) {
	db, table := shared(t)
	s := newStore(t, db, sqlstore.Config{Table: table})
	_, err := db.Exec(`CREATE FUNCTION ` + table + `() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER full_disk BEFORE INSERT ON ` + table + ` EXECUTE FUNCTION ` + table + `()`)
	require.NoError(t, err)
	t.Cleanup(func() { db.Exec("DROP FUNCTION " + table + "() CASCADE") })
	_, err = s.Claim(t.Context(), fleet.NewClaim())
	require.ErrorIs(t, err, webhookmw.ErrFull)
	_, err = db.Exec("DROP TRIGGER full_disk ON " + table)
	require.NoError(t, err)
	fleet.Claimed(t, s, fleet.NewClaim())
}
