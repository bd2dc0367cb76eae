package webhookmw_test

// Examples: the common mistakes, what comes of each, and how it is done right.

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/webhooktest"
)

// Something before the middleware reads the body, and what is left is not what was signed. Inside it is fine.
func Example_mistakeBodyReadBefore() {
	logBodies := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // and never given back
			_ = body
			next.ServeHTTP(w, r)
		})
	}
	v, err := webhookmw.New(webhookmw.Config{
		Secrets: []string{exampleSecret},
		Observe: func(e webhookmw.Event) { fmt.Println(e.Status, e.Reason, e.Err) },
	})
	if err != nil {
		log.Fatal(err)
	}
	orders := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	r := func() *http.Request {
		return webhooktest.NewRequest("/", exampleSecret, []byte(`{"id":"evt_1","type":"order.paid"}`))
	}
	logBodies(v.Handler(orders)).ServeHTTP(httptest.NewRecorder(), r())
	v.Handler(logBodies(orders)).ServeHTTP(httptest.NewRecorder(), r())
	// Output:
	// 400 body-consumed body was read before this middleware saw it; put webhookmw before whatever reads it
	// 200 accepted <nil>
}

// A handler that returns without a word has taken the delivery. One that logs its error and returns has lost it: the
// sender's next attempt is a duplicate.
func Example_mistakeSilentFailure() {
	for _, says := range []bool{false, true} {
		works := errors.New("no database")
		h := webhookmw.Verify(exampleSecret)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if works != nil {
				fmt.Println("log:", works)
				if says {
					http.Error(w, "not now", http.StatusInternalServerError)
				}
				return
			}
			fmt.Println("took it")
		}))
		fmt.Println(deliver(h, "dlv_1", "evt_1").Code)
		works = nil
		w := deliver(h, "dlv_1", "evt_1")
		fmt.Printf("%d %q\n", w.Code, w.Header().Get("Webhook-Duplicate"))
	}
	// Output:
	// log: no database
	// 200
	// 200 "true"
	// log: no database
	// 500
	// took it
	// 200 ""
}

// A middleware that is made anew for each request remembers nothing, and its handler runs for every duplicate.
func Example_mistakeVerifyForEachRequest() {
	orders := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fmt.Println("ran") })
	forgetful := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		webhookmw.Verify(exampleSecret)(orders).ServeHTTP(w, r)
	})
	fmt.Println("made for each request:")
	deliver(forgetful, "dlv_1", "evt_1")
	deliver(forgetful, "dlv_1", "evt_1")

	fmt.Println("made once:")
	once := webhookmw.Verify(exampleSecret)(orders)
	deliver(once, "dlv_1", "evt_1")
	deliver(once, "dlv_1", "evt_1")
	// Output:
	// made for each request:
	// ran
	// ran
	// made once:
	// ran
}
