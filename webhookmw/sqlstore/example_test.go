package sqlstore_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/sqlstore"
)

// The whole of a receiver. Its handler, orderPaid, stands in the example of Tx.
func Example() {
	db, err := sql.Open("pgx", "postgres://app@db/orders")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(50) // As many handlers can be at work at once, less those that the claims need.
	store, err := sqlstore.New(db, sqlstore.Config{Transactional: true})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec(store.Schema()); err != nil {
		log.Fatal(err)
	}
	go func() {
		for range time.Tick(time.Minute) {
			if _, err := store.Expire(context.Background()); err != nil {
				log.Print(err)
			}
		}
	}()
	receiver, err := webhookmw.New(webhookmw.Config{Secrets: []string{"whsec-0123456789abcdef"}, Store: store})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("POST /hooks/orders", receiver.Handler(http.HandlerFunc(orderPaid)))
	log.Print(http.ListenAndServe(":8080", nil))
}

// orderPaid is a handler whose work is committed together with the note that its delivery is done.
func orderPaid(w http.ResponseWriter, r *http.Request) {
	tx, ok := sqlstore.Tx(r.Context())
	if !ok { // The Store is not Transactional, or something around it hides that it is.
		http.Error(w, "no transaction", http.StatusInternalServerError)
		return
	}
	delivery, _ := webhookmw.FromContext(r.Context())
	if err := book(r.Context(), tx, delivery); err != nil {
		log.Printf("event %s: %v", delivery.EventID, err)
		http.Error(w, "not now", http.StatusInternalServerError) // Rolls back; the sender comes again.
	}
}

// book books a payment. A replay is another delivery of the same event, and its handler runs; payments.event is unique, so
// that the event counts once all the same.
func book(ctx context.Context, tx *sql.Tx, delivery *webhookmw.Delivery) error {
	var paid struct {
		Order  string `json:"order"`
		Amount int64  `json:"amount"`
	}
	if err := json.Unmarshal(delivery.Body, &paid); err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, "INSERT INTO payments (event, amount) VALUES ($1, $2) ON CONFLICT (event) DO NOTHING",
		delivery.EventID, paid.Amount)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE orders SET paid = paid + $2 WHERE id = $1", paid.Order, paid.Amount)
	return err
}

// A handler that writes in the transaction of its delivery asks whether there is one: a Store that is not Transactional
// has none, and neither has a duplicate that Config.RunDuplicates lets through.
func ExampleTx() {
	w := httptest.NewRecorder()
	orderPaid(w, httptest.NewRequest(http.MethodPost, "/hooks/orders", nil))
	fmt.Print(w.Code, " ", w.Body)
	// Output: 500 no transaction
}
