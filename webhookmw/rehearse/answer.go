package rehearse

// One attempt on the wire: one request, and its whole answer.

import (
	"fmt"
	"io"
	"net/http"
)

// answerBytes is as much of an answer as is waited for.
const answerBytes = 64 << 10

// wire is the base transport as an attempt uses it: it sends one request, and has all of a 2xx before it calls that an
// answer. A receiver may answer 200 and then break down: it takes the delivery back, and whoever had believed the
// status line would have lost the event. Of any other answer the status is all that counts: what follows it is not
// waited for, so that it can't bend the schedule, and a connection that a 101 hands over is closed.
type wire struct{ base http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	// Without a GetBody net/http can't send it again on its own when a kept-alive connection turns out to be dead:
	// attempts are counted here, and each one is signed anew.
	once := req.WithContext(req.Context())
	once.GetBody = nil
	resp, err := w.base.RoundTrip(once)
	if err != nil || resp == nil || resp.Body == nil {
		return resp, err
	}
	if isSuccess(resp.StatusCode) {
		_, err = io.CopyN(io.Discard, resp.Body, answerBytes)
	}
	resp.Body.Close()
	if err != nil && err != io.EOF {
		return nil, &cutOffError{resp.StatusCode, err}
	}
	resp.Body = http.NoBody
	return resp, nil
}

// cutOffError is an answer that broke off, or stalled until the attempt was over.
type cutOffError struct {
	status int
	err    error
}

func (e *cutOffError) Error() string {
	return fmt.Sprintf("the answer, %d, broke off: %v", e.status, e.err)
}

func (e *cutOffError) Unwrap() error { return e.err }
