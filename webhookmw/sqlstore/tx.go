package sqlstore

// Transactions that a handler's work and the end of its delivery share.

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// work is what one delivery's handler does in a transaction.
type work struct {
	tx     *sql.Tx
	cancel context.CancelFunc // ends the transaction's context, and whatever is waiting in it
}

type workKey struct{}

func workOf(ctx context.Context) *work {
	w, _ := ctx.Value(workKey{}).(*work)
	return w
}

// Tx returns the transaction of the delivery that a handler was called for. ctx is the request's context or one made from
// it. The handler writes in it and neither commits nor rolls it back: answering 2xx does the one, anything else the other.
// ok is false where there is none: in a handler for a duplicate, and in a Store that is not Transactional.
//
// Give the statements in it the request's context, which ends with the lease, so that a handler that hangs does not keep
// the transaction.
func Tx(ctx context.Context) (tx *sql.Tx, ok bool) {
	w := workOf(ctx)
	if w == nil {
		return nil, false
	}
	return w.tx, true
}

// Begin implements [webhookmw.Committer].
func (s *Store) Begin(ctx context.Context, _ webhookmw.Claim) (context.Context, error) {
	if !s.transactional {
		return nil, nil
	}
	// A transaction lives no longer than its context. This one must outlive the handler's, which ends before the commit, so
	// that it has no end of its own; the timer bounds what goes on in it where nothing else does.
	txCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	timer := time.AfterFunc(s.timeout, cancel)
	tx, err := s.db.BeginTx(txCtx, nil)
	if !timer.Stop() {
		err = context.DeadlineExceeded
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("sqlstore: begin: %w", err)
	}
	return context.WithValue(ctx, workKey{}, &work{tx: tx, cancel: cancel}), nil
}

// commit takes the last step of the work and commits it all.
func (w *work) commit(ctx context.Context, statement string, args []any) error {
	defer w.rollback(ctx)
	defer w.endWith(ctx)()
	if err := settle(ctx, w.tx, "complete", statement, args); err != nil {
		return err
	}
	if err := w.tx.Commit(); err != nil {
		return fmt.Errorf("sqlstore: commit: %w", err)
	}
	return nil
}

// rollback ends the transaction, if it has not ended yet.
func (w *work) rollback(ctx context.Context) {
	defer w.cancel()
	defer w.endWith(ctx)()
	w.tx.Rollback()
}

// endWith lets ctx end what goes on in the transaction, until stop is called: neither Commit nor Rollback takes a context.
func (w *work) endWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, w.cancel)
}
