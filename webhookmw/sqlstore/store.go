package sqlstore

// The Store: its settings, and one statement per step.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// The defaults of Config.
const (
	defaultTable   = "webhook_deliveries"
	defaultTimeout = 2 * time.Second
)

// Config says where a Store keeps what it remembers, how long it waits for it, and whether handlers work in its
// transactions. A field that is zero has the default that stands beside it.
type Config struct {
	// Table is the table, with a schema before it or without: lower-case letters, digits and underscores. Stores with the
	// same Table share what they remember. "": "webhook_deliveries".
	Table string

	// Timeout is how long one step may take, waiting for a connection included. Then it fails. What a handler does in a
	// transaction is not bounded by it. 0: 2 seconds.
	Timeout time.Duration

	// Transactional gives each handler a transaction, which it finds with [Tx] and which is committed together with the
	// note that its delivery is done. The package documentation says what that costs.
	Transactional bool
}

// Store is a [webhookmw.Store] in PostgreSQL. It is safe for use by many goroutines at once. Make one with [New].
type Store struct {
	db            *sql.DB
	timeout       time.Duration
	transactional bool
	statements    statements
}

var _ webhookmw.Committer = (*Store)(nil)

var tableName = regexp.MustCompile(`^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,54}$`)

// New returns a Store on a database, which stays the caller's to close. It does not connect: a server that is down is
// found out by the first delivery, and again by each one until it is back. The table is the caller's to create, from
// [Store.Schema]. New fails where Table is no such name and where Timeout is negative.
func New(db *sql.DB, config Config) (*Store, error) {
	if config.Table == "" {
		config.Table = defaultTable
	}
	switch {
	case db == nil:
		return nil, errors.New("sqlstore: database: none")
	case !tableName.MatchString(config.Table):
		return nil, fmt.Errorf("sqlstore: Table: %q is no name in lower-case letters, digits and underscores", config.Table)
	case config.Timeout < 0:
		return nil, errors.New("sqlstore: Timeout: negative")
	}
	s := &Store{db: db, timeout: defaultTimeout, transactional: config.Transactional, statements: statementsFor(config.Table)}
	if config.Timeout > 0 {
		s.timeout = config.Timeout
	}
	return s, nil
}

// Schema returns the statements that create the table and its index where they are not there yet. Run them in one Exec, with
// the other changes to your schema or at the start of the program: several that start at once are in nobody's way.
func (s *Store) Schema() string { return s.statements.schema }

// Claim implements [webhookmw.Store]. A claim that comes twice with one Token is granted twice.
func (s *Store) Claim(ctx context.Context, c webhookmw.Claim) (webhookmw.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var status webhookmw.Status
	err := s.db.QueryRowContext(ctx, s.statements.claim,
		id('d', &c.Key), id('e', &c.Event), id('s', &c.Signature), c.Key[:], c.Fingerprint[:], c.Token,
		c.Lease.Microseconds(), microseconds(c.Retain),
	).Scan(&status.State, &status.EventSeen, &status.SignatureReused)
	switch {
	case isFull(err):
		return webhookmw.Status{}, fmt.Errorf("sqlstore: claim: %w: %w", webhookmw.ErrFull, err)
	case err != nil:
		return webhookmw.Status{}, fmt.Errorf("sqlstore: claim: %w", err)
	}
	if status.State == webhookmw.Completed {
		status.EventSeen = true // The two expire one after the other.
	}
	return status, nil
}

// Complete implements [webhookmw.Store]. Where the handler was given a transaction it is committed; if it can't be, or the
// delivery is no longer the owner's, it is rolled back, and the error says why.
func (s *Store) Complete(ctx context.Context, c webhookmw.Claim) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	args := []any{id('d', &c.Key), id('e', &c.Event), c.Token, microseconds(c.Retain)}
	if w := workOf(ctx); w != nil {
		return w.commit(ctx, s.statements.complete, args)
	}
	return settle(ctx, s.db, "complete", s.statements.complete, args)
}

// Release implements [webhookmw.Store]. Where the handler was given a transaction it is rolled back.
func (s *Store) Release(ctx context.Context, c webhookmw.Claim) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if w := workOf(ctx); w != nil {
		w.rollback(ctx)
	}
	return settle(ctx, s.db, "release", s.statements.release, []any{id('d', &c.Key), c.Token})
}

// executor is a database or a transaction.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func settle(ctx context.Context, on executor, step, statement string, args []any) error {
	result, err := on.ExecContext(ctx, statement, args...)
	if err != nil {
		return fmt.Errorf("sqlstore: %s: %w", step, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("sqlstore: %s: %w", step, err)
	}
	if n == 0 {
		return webhookmw.ErrNotOwner
	}
	return nil
}

// expireBatch is how many rows one statement deletes, so that none holds locks for long or makes replicas lag.
const expireBatch = 1000

// Expire deletes the rows that have expired, 1,000 with each statement, until none is left or the context ends, and
// returns how many it was. Rows that have expired count for nothing, but they stay until somebody calls Expire: once a
// minute is often enough. Several processes may call it at once; each statement passes over the rows that are locked.
func (s *Store) Expire(ctx context.Context) (n int64, err error) {
	for {
		result, err := s.db.ExecContext(ctx, s.statements.expire, expireBatch)
		if err != nil {
			return n, fmt.Errorf("sqlstore: expire: %w", err)
		}
		batch, err := result.RowsAffected()
		n += batch
		if err != nil || batch < expireBatch {
			return n, err
		}
	}
}

// isFull reports whether a server has no room on its disk, whichever driver tells.
func isFull(err error) bool {
	var e interface{ SQLState() string }
	return errors.As(err, &e) && e.SQLState() == "53100"
}

// id is the primary key of a row: what kind of thing it is, and its hash.
func id(kind byte, hash *[32]byte) []byte {
	return append([]byte{kind}, hash[:]...)
}

// microseconds rounds up, so that nothing is forgotten before its time.
func microseconds(d time.Duration) int64 {
	us := d.Microseconds()
	if d > time.Duration(us)*time.Microsecond {
		us++
	}
	return us
}
