package roundtripper_test

// Examples: the common mistakes, what comes of each, and how it is done right.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// counting is a server that says hello and counts the connections made to it.
func counting() (server *httptest.Server, connections *atomic.Int32) {
	connections = new(atomic.Int32)
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "hello")
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	return server, connections
}

// A Transport for each request throws its connection away after it: what a
// handshake costs is paid every time, and the idle connections pile up.
func Example_mistakeNewForEachRequest() {
	get := func(client *http.Client, url string) {
		resp, err := client.Get(url)
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	api, connections := counting()
	defer api.Close()
	for range 3 {
		get(&http.Client{Transport: roundtripper.New(nil, roundtripper.Standard())}, api.URL)
	}
	fmt.Println("New for each request:", connections.Swap(0))

	client := &http.Client{Transport: roundtripper.New(nil, roundtripper.Standard())}
	for range 3 {
		get(client, api.URL)
	}
	fmt.Println("New once:", connections.Load())
	// Output:
	// New for each request: 3
	// New once: 1
}

// A response whose body is neither read to its end nor closed keeps its
// connection, and the next request needs another one.
func Example_mistakeBodyNotClosed() {
	api, connections := counting()
	defer api.Close()
	client := &http.Client{Transport: roundtripper.New(nil, roundtripper.Standard())}
	for range 3 {
		resp, err := client.Get(api.URL)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(resp.StatusCode, " ") // the status is all that is wanted
		defer resp.Body.Close()         // and this comes when the loop is over
	}
	fmt.Println("never closed:", connections.Swap(0))

	client = &http.Client{Transport: roundtripper.New(nil, roundtripper.Standard())}
	for range 3 {
		resp, err := client.Get(api.URL)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(resp.StatusCode, " ")
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	fmt.Println("read and closed:", connections.Load())
	// Output:
	// 200 200 200 never closed: 3
	// 200 200 200 read and closed: 1
}

// A body that can be read only once can't be sent again. http.NewRequest gives
// a GetBody to bytes.Reader, bytes.Buffer and strings.Reader; for others, such
// as a pipe or what comes in from elsewhere, there is ReplayBuffer.
func Example_mistakeBodyWithoutGetBody() {
	put := func(p roundtripper.Policy, body io.Reader) {
		client := &http.Client{Transport: roundtripper.New(answers(503, 200), p)}
		req, _ := http.NewRequest(http.MethodPut, "http://api.example.com/notes/1", body)
		resp, err := client.Do(req)
		if err != nil {
			log.Fatal(err)
		}
		defer resp.Body.Close()
		report, _ := roundtripper.ReportFrom(resp)
		fmt.Println(resp.StatusCode, "attempts:", len(report.Attempts), report.Stop)
	}
	once := func() io.Reader { return io.MultiReader(strings.NewReader("a note")) }
	put(now(), once())

	put(now(), bytes.NewReader([]byte("a note")))

	p := now()
	p.ReplayBuffer = 64 << 10
	put(p, once())
	// Output:
	// 503 attempts: 1 not-replayable
	// 200 attempts: 2 ok
	// 200 attempts: 2 ok
}

// http.Client.Timeout bounds the call with all its attempts: as long as one may
// take, it leaves no time for another. AttemptTimeout is what was meant, and
// TotalTimeout for the whole. With Client.Timeout it is also a matter of luck
// what comes back: its timer and the context's race, and where its own is first
// the error holds no [*roundtripper.Error], and so no report.
func Example_mistakeClientTimeout() {
	var requests atomic.Int32
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			<-r.Context().Done()
		}
	}))
	defer stuck.Close()
	get := func(client *http.Client) error {
		requests.Store(0)
		resp, err := client.Get(stuck.URL)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	p := roundtripper.Standard()
	err := get(&http.Client{Transport: roundtripper.New(nil, p), Timeout: 300 * time.Millisecond})
	fmt.Println("Client.Timeout, requests:", requests.Load(), "timeout:", errors.Is(err, context.DeadlineExceeded))

	p.AttemptTimeout = 300 * time.Millisecond
	err = get(&http.Client{Transport: roundtripper.New(nil, p)})
	fmt.Println("AttemptTimeout:", err)

	p.TotalTimeout = 50 * time.Millisecond
	err = get(&http.Client{Transport: roundtripper.New(nil, p)})
	failed, _ := errors.AsType[*roundtripper.Error](err)
	fmt.Println("TotalTimeout:", failed)
	// Output:
	// Client.Timeout, requests: 1 timeout: true
	// AttemptTimeout: <nil>
	// TotalTimeout: roundtripper: deadline after 1 attempt: total timeout of 50ms exceeded
}

// Retries multiply: a loop of three around a client of four attempts is twelve
// requests of one. One layer repeats; where it has to be the loop, the client
// is told to leave it alone. Transports that are stacked see to it by
// themselves.
func Example_mistakeRetryAroundRetry() {
	var requests int
	down := answers(503)
	base := roundTrip(func(req *http.Request) (*http.Response, error) {
		requests++
		return down.RoundTrip(req)
	})
	loop := func(ctx context.Context, client *http.Client) {
		requests = 0
		for range 3 {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://api.example.com/", nil)
			resp, err := client.Do(req)
			if err != nil {
				log.Fatal(err)
			}
			resp.Body.Close()
		}
	}
	client := &http.Client{Transport: roundtripper.New(base, now())}
	loop(context.Background(), client)
	fmt.Println("a loop around a client:", requests)
	loop(roundtripper.WithoutRetry(context.Background()), client)
	fmt.Println("the loop alone:", requests)

	requests = 0
	stacked := &http.Client{Transport: roundtripper.New(client.Transport, now())}
	resp, err := stacked.Get("http://api.example.com/")
	if err == nil {
		resp.Body.Close()
	}
	fmt.Println("one Transport on another:", requests)
	// Output:
	// a loop around a client: 12
	// the loop alone: 3
	// one Transport on another: 4
}

// A key for each attempt is no key: to the server each is something else that
// somebody wants. Make it when they want it, outside of whatever tries again.
func Example_mistakeKeyForEachAttempt() {
	charged := map[string]bool{}
	bank := roundTrip(func(req *http.Request) (*http.Response, error) {
		charged[req.Header.Get("Idempotency-Key")] = true
		return nil, io.ErrUnexpectedEOF // the money is taken, the answer lost
	})
	p := now()
	p.MaxRetries = 0 // tried again by hand
	client := &http.Client{Transport: roundtripper.New(bank, p)}
	pay := func(key string) {
		ctx := roundtripper.WithKey(context.Background(), key)
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://bank.example.com/", strings.NewReader("42"))
		client.Do(req)
	}
	for range 2 {
		pay(roundtripper.NewKey())
	}
	fmt.Println("a key for each attempt, charges:", len(charged))

	clear(charged)
	key := roundtripper.NewKey()
	for range 2 {
		pay(key)
	}
	fmt.Println("a key for the payment, charges:", len(charged))
	// Output:
	// a key for each attempt, charges: 2
	// a key for the payment, charges: 1
}
