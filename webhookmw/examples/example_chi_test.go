package examples_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/rebound-go/rebound/webhookmw"
)

// Webhooks in a route group of chi's, next to routes that are none. What reads no body may stand outside: request IDs,
// recovery, timeouts. What reads it stands inside.
func Example_chi() {
	logBodies := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			fmt.Printf("log: %s\n", body)
			d, _ := webhookmw.FromContext(r.Context())
			r.Body = io.NopCloser(strings.NewReader(string(d.Body)))
			next.ServeHTTP(w, r)
		})
	}
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer, middleware.Timeout(10*time.Second))
	r.Get("/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "well") })
	r.Group(func(r chi.Router) {
		r.Use(webhookmw.Verify(secret), logBodies)
		r.Post("/hooks/{shop}", func(w http.ResponseWriter, r *http.Request) {
			d, _ := webhookmw.FromContext(r.Context())
			fmt.Println("handler:", d.EventID) // of the path's shop nothing is signed
		})
	})

	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/health", nil))
	fmt.Println("client:", w.Code, w.Body)
	deliver(r, "/hooks/north", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)
	deliver(r, "/hooks/north", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)
	// Output:
	// client: 200 well
	// log: {"id":"evt_1","type":"order.paid"}
	// handler: evt_1
	// sender: /hooks/north 200 false
	// sender: /hooks/north 200 true
}

// Routes that share one middleware share its memory: a delivery that one of them took is a duplicate for the other.
// Receivers that are to see the same delivery each have a middleware of their own.
func Example_chiTwoReceivers() {
	says := func(text string) http.HandlerFunc {
		return func(http.ResponseWriter, *http.Request) { fmt.Println("handler:", text) }
	}
	shared := chi.NewRouter()
	shared.Use(webhookmw.Verify(secret))
	shared.Post("/stock", says("stock"))
	shared.Post("/mail", says("mail"))
	deliver(shared, "/stock", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)
	deliver(shared, "/mail", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)

	apart := chi.NewRouter()
	apart.With(webhookmw.Verify(secret)).Post("/stock", says("stock"))
	apart.With(webhookmw.Verify(secret)).Post("/mail", says("mail"))
	deliver(apart, "/stock", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)
	deliver(apart, "/mail", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)
	// Output:
	// handler: stock
	// sender: /stock 200 false
	// sender: /mail 200 true
	// handler: stock
	// sender: /stock 200 false
	// handler: mail
	// sender: /mail 200 false
}
