package examples_test

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/rebound-go/rebound/webhookmw"
)

// A handler of net/http's on a route of echo's.
func Example_echo() {
	e := echo.New()
	e.POST("/hooks/orders", echo.WrapHandler(webhookmw.Verify(secret)(http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) {
			d, _ := webhookmw.FromContext(r.Context())
			fmt.Println("handler:", d.EventID)
		},
	))))
	deliver(e, "/hooks/orders", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)
	deliver(e, "/hooks/orders", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)
	// Output:
	// handler: evt_1
	// sender: /hooks/orders 200 false
	// sender: /hooks/orders 200 true
}

// The common mistake: a handler of echo's returns its error, which becomes an answer only after the middleware is done.
// To the middleware it returned without a word, so it has taken the delivery: the sender is told 500, and its next attempt
// is a duplicate. Context.Error makes it an answer at once.
func Example_echoReturnedError() {
	for _, atOnce := range []bool{false, true} {
		work := errors.New("no database")
		e := echo.New()
		e.POST("/hooks/orders", func(c echo.Context) error {
			if work == nil {
				fmt.Println("handler: took it")
				return nil
			}
			if atOnce {
				c.Error(work)
				return nil
			}
			return work
		}, echo.WrapMiddleware(webhookmw.Verify(secret)))
		deliver(e, "/hooks/orders", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)
		work = nil
		deliver(e, "/hooks/orders", "dlv_1", `{"id":"evt_1","type":"order.paid"}`)
	}
	// Output:
	// sender: /hooks/orders 500 false
	// sender: /hooks/orders 200 true
	// sender: /hooks/orders 500 false
	// handler: took it
	// sender: /hooks/orders 200 false
}
