package main

// This file holds the request: what is sent, in a form that can be sent again.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/rebound-go/rebound/roundtripper"
)

// request makes the request to u. Its error names the flag to blame.
func (o *options) request(ctx context.Context, u *url.URL, stdin io.Reader) (*http.Request, error) {
	if o.key != "" {
		ctx = roundtripper.WithKey(ctx, o.key)
	}
	req, err := http.NewRequestWithContext(ctx, o.method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = o.header.Clone()
	if _, ok := req.Header["User-Agent"]; !ok {
		req.Header.Set("User-Agent", "retryget")
	}
	// net/http takes the host from the request and not from its header.
	req.Host = req.Header.Get("Host")
	req.Header.Del("Host")
	if err := o.addBody(req, stdin); err != nil {
		return nil, fmt.Errorf("-d: %w", err)
	}
	return req, nil
}

// addBody gives req the body that -d asks for.
func (o *options) addBody(req *http.Request, stdin io.Reader) error {
	name, isFile := strings.CutPrefix(o.data, "@")
	switch {
	case !o.hasData:
		return nil
	case o.data == "-", o.data == "@-":
		data, err := readInput(req.Context(), stdin, inputBytes)
		setBody(req, data)
		return err
	case !isFile:
		setBody(req, []byte(o.data))
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		data, err := readInput(req.Context(), f, inputBytes)
		setBody(req, data)
		return err
	}
	return setFile(req, name, info.Size())
}

// setBody makes data the body of req.
func setBody(req *http.Request, data []byte) {
	if len(data) == 0 {
		req.Body = http.NoBody
		return
	}
	req.ContentLength = int64(len(data))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	req.Body, _ = req.GetBody()
}

// setFile makes the file of that name the body of req: each attempt opens it
// again, so that its size does not matter.
func setFile(req *http.Request, name string, size int64) (err error) {
	if size == 0 {
		req.Body = http.NoBody
		return nil
	}
	req.ContentLength = size
	req.GetBody = func() (io.ReadCloser, error) { return os.Open(name) }
	req.Body, err = req.GetBody()
	return err
}

// inputBytes is the most that is kept of an input which can be read only once.
const inputBytes = 64 << 20

// readInput reads r to its end, or until ctx ends: a terminal may never end. It
// is an error if there are more than limit bytes.
func readInput(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, limit+1))
		read <- result{data, err}
	}()
	select {
	case got := <-read:
		if int64(len(got.data)) > limit {
			return nil, fmt.Errorf("more than %d MiB of input; put it into a file", limit>>20)
		}
		return got.data, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
