package webhookmw_test

// Examples: what comes more than once.

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rebound-go/rebound/webhookmw"
)

// deliver makes an attempt at the delivery of an event that has the given ID.
func deliver(h http.Handler, deliveryID, eventID string) *httptest.ResponseRecorder {
	body := `{"id":"` + eventID + `","type":"order.paid"}`
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	webhookmw.Sign(r.Header, exampleSecret, deliveryID, time.Now(), []byte(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A handler that could not do its work says so, and the sender's next attempt runs.
func Example_handlerFails() {
	databaseUp := false
	h := webhookmw.Verify(exampleSecret)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !databaseUp {
			http.Error(w, "not now", http.StatusInternalServerError)
			return
		}
		d, _ := webhookmw.FromContext(r.Context())
		fmt.Println("took", d.EventID)
	}))
	fmt.Println(deliver(h, "dlv_1", "evt_1").Code)
	databaseUp = true
	fmt.Println(deliver(h, "dlv_1", "evt_1").Code)
	// Output:
	// 500
	// took evt_1
	// 200
}

// A replay, asked for by hand, say, is another delivery of the same event. It runs, since somebody may have wanted that,
// and finds EventSeen.
func ExampleDelivery_eventSeen() {
	h := webhookmw.Verify(exampleSecret)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		if d.EventSeen {
			fmt.Println(d.DeliveryID, "tells of", d.EventID, "again: no second mail")
			return
		}
		fmt.Println(d.DeliveryID, "tells of", d.EventID)
	}))
	deliver(h, "dlv_1", "evt_1")
	deliver(h, "dlv_1", "evt_1") // a duplicate: the handler does not see it
	deliver(h, "dlv_2", "evt_1")
	// Output:
	// dlv_1 tells of evt_1
	// dlv_2 tells of evt_1 again: no second mail
}

// A sender that reads the answer wants the same one again. With RunDuplicates the handler sees duplicates too, and gives
// it.
func ExampleConfig_runDuplicates() {
	receipts := map[string]string{} // in the database
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{exampleSecret}, RunDuplicates: true})
	if err != nil {
		log.Fatal(err)
	}
	h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		if !d.Duplicate {
			receipts[d.EventID] = fmt.Sprint("receipt ", len(receipts)+1)
		}
		fmt.Fprint(w, receipts[d.EventID])
	}))
	for _, event := range []string{"evt_1", "evt_2", "evt_1"} {
		w := deliver(h, "dlv_of_"+event, event)
		fmt.Printf("%d %s %q\n", w.Code, w.Body, w.Header().Get("Webhook-Duplicate"))
	}
	// Output:
	// 200 receipt 1 ""
	// 200 receipt 2 ""
	// 200 receipt 1 "true"
}
