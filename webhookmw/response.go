package webhookmw

// Watching what a handler answers, without getting in its way.

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// response notes the status that a handler answers with, and whether it took the connection. It can do what the
// ResponseWriter under it can: an [http.ResponseController] finds that through Unwrap, and handlers that look for
// http.Flusher, http.Hijacker, io.ReaderFrom and io.StringWriter find them. Where there is nothing under it to flush or
// to hijack, Hijack fails with http.ErrNotSupported and Flush does nothing; and so they do while the answer is withheld.
type response struct {
	http.ResponseWriter
	status   int // 0: nothing written
	hijacked bool
	withheld *withheld // the answer, where it waits for the store; nil: it goes out as it comes
}

// Unwrap is for http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *response) WriteHeader(status int) {
	r.note(status)
	if r.withheld == nil || !final(status) {
		r.ResponseWriter.WriteHeader(status)
	}
}

func (r *response) Write(p []byte) (int, error) {
	n, err := r.body().Write(p)
	r.wrote(n, err)
	return n, err
}

func (r *response) WriteString(s string) (int, error) {
	n, err := io.WriteString(r.body(), s)
	r.wrote(n, err)
	return n, err
}

// ReadFrom lets the ResponseWriter read for itself, as net/http's does to send files. A source that gave nothing has made
// it write nothing, whether it failed or not.
func (r *response) ReadFrom(src io.Reader) (int64, error) {
	n, err := io.Copy(r.body(), src)
	if n > 0 {
		r.note(http.StatusOK)
	}
	return n, err
}

func (r *response) Flush() { r.FlushError() }

func (r *response) FlushError() error {
	if r.withheld != nil {
		r.note(http.StatusOK)
		return nil
	}
	err := http.NewResponseController(r.ResponseWriter).Flush()
	if err == nil {
		r.note(http.StatusOK)
	}
	return err
}

func (r *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if r.withheld != nil {
		return nil, nil, http.ErrNotSupported
	}
	conn, buf, err := http.NewResponseController(r.ResponseWriter).Hijack()
	r.hijacked = r.hijacked || err == nil
	return conn, buf, err
}

// body is where the answer's body goes.
func (r *response) body() io.Writer {
	if r.withheld != nil {
		return &r.withheld.body
	}
	return r.ResponseWriter
}

// wrote notes what a write without a status means. One that failed with nothing written leaves the status open: a handler
// that sees it fail may still answer otherwise, and does so with effect.
func (r *response) wrote(n int, err error) {
	if err == nil || n > 0 {
		r.note(http.StatusOK)
	}
}

// final reports whether a status is the answer. The ones below 200 announce another one, except 101; beyond 999 there is
// none, and net/http panics.
func final(status int) bool {
	return status >= 200 && status <= 999 || status == http.StatusSwitchingProtocols
}

// note keeps the first status that is final.
func (r *response) note(status int) {
	if r.status == 0 && final(status) {
		r.status = status
		if r.withheld != nil {
			r.withheld.after = r.Header().Clone()
		}
	}
}

// unavailable answers 503, for a sender that is to come back.
func (r *response) unavailable() {
	r.Header().Set("Retry-After", seconds(retryStore))
	http.Error(r, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}

// took reports whether the handler took the delivery: it answered 2xx, or nothing, which net/http turns into 200.
func (r *response) took() bool { return r.status == 0 || r.status/100 == 2 }
