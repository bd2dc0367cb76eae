package webhookmw_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"github.com/rebound-go/rebound/webhookmw"
)

// ledger is a Store that commits: what a handler wrote and the note that its delivery is done come to be in one step. A
// slice stands for the database here. Package sqlstore keeps both in one that outlives the process.
type ledger struct {
	*webhookmw.Memory
	paid []string
}

type draft struct{ paid []string }

type draftKey struct{}

func (l *ledger) Begin(ctx context.Context, _ webhookmw.Claim) (context.Context, error) {
	return context.WithValue(ctx, draftKey{}, &draft{}), nil
}

func (l *ledger) Complete(ctx context.Context, c webhookmw.Claim) error {
	if err := l.Memory.Complete(ctx, c); err != nil {
		return err // the answer is 503, and the draft is forgotten
	}
	l.paid = append(l.paid, ctx.Value(draftKey{}).(*draft).paid...)
	return nil
}

// A handler that writes in its store's transaction can't do its work twice, nor half.
func ExampleCommitter() {
	store := &ledger{Memory: webhookmw.NewMemory(webhookmw.MemoryConfig{})}
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{exampleSecret}, Store: store})
	if err != nil {
		log.Fatal(err)
	}
	works := false
	h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		tx := r.Context().Value(draftKey{}).(*draft)
		tx.paid = append(tx.paid, d.EventID)
		if !works {
			http.Error(w, "the second half of the work failed", http.StatusInternalServerError)
		}
	}))
	for _, works = range []bool{false, true, true} {
		fmt.Println(deliver(h, "dlv_1", "evt_1").Code, store.paid)
	}
	// Output:
	// 500 []
	// 200 [evt_1]
	// 200 [evt_1]
}
