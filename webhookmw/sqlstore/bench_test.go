package sqlstore_test

import (
	"context"
	"database/sql"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/sqlstore"
)

// rememberer takes note of a delivery.
type rememberer struct {
	name string
	make func(b *testing.B, db *sql.DB, table string) func(context.Context, webhookmw.Claim) error
}

// insert is what a receiver does that only wants to know whether it saw a delivery before: no lease, no owner, no event,
// no signature, no expiry.
var rememberers = []rememberer{
	{"insert", func(b *testing.B, db *sql.DB, table string) func(context.Context, webhookmw.Claim) error {
		_, err := db.Exec("CREATE TABLE " + table + " (id bytea PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())")
		require.NoError(b, err)
		return func(ctx context.Context, c webhookmw.Claim) error {
			_, err := db.ExecContext(ctx, "INSERT INTO "+table+" (id) VALUES ($1) ON CONFLICT DO NOTHING", c.Key[:])
			return err
		}
	}},
	{"claim+complete", func(b *testing.B, db *sql.DB, table string) func(context.Context, webhookmw.Claim) error {
		return claimAndComplete(newStore(b, db, sqlstore.Config{Table: table, Timeout: time.Minute}))
	}},
	{"claim+begin+complete", func(b *testing.B, db *sql.DB, table string) func(context.Context, webhookmw.Claim) error {
		return claimAndComplete(newStore(b, db, sqlstore.Config{Table: table, Timeout: time.Minute, Transactional: true}))
	}},
}

func claimAndComplete(s *sqlstore.Store) func(context.Context, webhookmw.Claim) error {
	return func(ctx context.Context, c webhookmw.Claim) error {
		if _, err := s.Claim(ctx, c); err != nil {
			return err
		}
		begun, err := s.Begin(ctx, c)
		if err != nil {
			return err
		}
		if begun != nil {
			ctx = begun
		}
		return s.Complete(ctx, c)
	}
}

// BenchmarkRemember is one delivery after the other, from 8 goroutines a core.
func BenchmarkRemember(b *testing.B) {
	for _, r := range rememberers {
		b.Run("impl="+r.name, func(b *testing.B) {
			db, table := shared(b)
			remember := r.make(b, db, table)
			require.NoError(b, remember(b.Context(), fleet.NewClaim()))
			warm(b, db)
			fleet.Remember(b, remember)
		})
	}
}

// warm fills the pool with connections.
func warm(b *testing.B, db *sql.DB) {
	for range db.Stats().MaxOpenConnections {
		conn, err := db.Conn(b.Context())
		require.NoError(b, err)
		defer conn.Close()
	}
}

// BenchmarkBytes is what the table takes for a delivery that it remembers, indexes and dead rows included.
func BenchmarkBytes(b *testing.B) {
	for _, r := range rememberers[:2] {
		b.Run("impl="+r.name, func(b *testing.B) {
			const n = 20_000
			db, table := shared(b)
			remember := r.make(b, db, table)
			var before, after float64
			for b.Loop() {
				before = size(b, db, table)
				var wg sync.WaitGroup
				for range 20 {
					wg.Go(func() {
						for range n / 20 {
							if err := remember(b.Context(), fleet.NewClaim()); err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
				after = size(b, db, table)
			}
			b.ReportMetric((after-before)/n, "B/delivery")
		})
	}
}

func size(b *testing.B, db *sql.DB, table string) (n float64) {
	require.NoError(b, db.QueryRow("SELECT pg_total_relation_size('"+table+"')").Scan(&n))
	return n
}

// BenchmarkReceiver is whole deliveries, with and without a transaction that the handler writes in.
func BenchmarkReceiver(b *testing.B) {
	for name, transactional := range map[string]bool{"false": false, "true": true} {
		b.Run("transactional="+name, func(b *testing.B) {
			db, table := shared(b)
			store := newStore(b, db, sqlstore.Config{Table: table, Timeout: time.Minute, Transactional: transactional})
			newEffects(b, db, table)
			rec := fleet.NewReceiver(b, webhookmw.Config{Store: store}, func(w http.ResponseWriter, r *http.Request) {
				if transactional {
					effect(table, w, r)
				} else if _, err := db.ExecContext(r.Context(), "INSERT INTO "+table+"_effects VALUES ('evt')"); err != nil {
					w.WriteHeader(http.StatusInternalServerError)
				}
			})
			warm(b, db)
			var next atomic.Int64
			b.SetParallelism(8)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if resp := rec.Deliver(int(next.Add(1))); resp.StatusCode != http.StatusOK {
						b.Errorf("answered %d", resp.StatusCode)
					}
				}
			})
		})
	}
}
