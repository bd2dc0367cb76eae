package webhookmw

// The middleware: which way a request goes, and how a refusal is answered.

import (
	"net/http"
	"strconv"
	"time"
)

// What a refusal asks the sender to wait.
const (
	retryInFlight = time.Second
	retryStore    = 5 * time.Second
)

// Handler returns a handler that calls next for each delivery that verifies and is not a duplicate. next finds the
// [Delivery] with [FromContext], and reads the exact bytes from r.Body. The package documentation says what each status
// tells the sender, and what next owes.
func (v *Verifier) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		checked, rejection := v.check(r, start)
		if rejection != nil {
			v.refuse(w, r, start, nil, rejection)
			return
		}
		var claim Claim
		v.claim(&claim, checked.delivery)
		c := &call{v: v, request: r, delivery: checked.delivery}
		c.response.ResponseWriter = w
		status, rejection := c.take(&claim, checked.idSigned)
		switch {
		case rejection != nil:
			v.refuse(w, r, start, c.delivery, rejection)
		case status.State == Claimed:
			c.handle(next, &claim, start)
		default:
			c.repeat(next, start)
		}
	})
}

// refuse answers with a rejection. Where the body was not read the connection closes with the answer, rather than read
// what nobody wants; in HTTP/2 there is no need, and it would take other streams' connection from them.
func (v *Verifier) refuse(w http.ResponseWriter, r *http.Request, start time.Time, d *Delivery, e *Rejection) {
	h := w.Header()
	switch e.Status {
	case http.StatusMethodNotAllowed:
		h.Set("Allow", http.MethodPost)
	case http.StatusUnsupportedMediaType:
		h.Set("Accept-Encoding", "identity")
	case http.StatusConflict:
		h.Set("Retry-After", seconds(retryInFlight))
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", seconds(retryStore))
	}
	if e.unread && r.ContentLength != 0 && r.ProtoMajor < 2 {
		h.Set("Connection", "close")
	}
	http.Error(w, e.text(), e.Status)
	v.observe(Event{Request: r, Delivery: d, Reason: e.Reason, Status: e.Status, Err: e.Err}, start)
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

func (v *Verifier) observe(e Event, start time.Time) {
	if v.config.Observe != nil {
		e.Elapsed = time.Since(start)
		v.config.Observe(e)
	}
}
