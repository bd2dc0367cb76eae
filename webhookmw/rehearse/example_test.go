package rehearse_test

// Examples: both halves together, replays, and the common mistake.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/rehearse"
)

// inProcess is a base transport that calls a handler, so that the examples need no network.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, req)
	return w.Result(), nil
}

// Both halves together: the receiver fails at first, is sent the event again, and takes it once.
func Example() {
	const secret = "long enough, and a secret"
	works := false
	receiver := webhookmw.Verify(secret)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		delivery, _ := webhookmw.FromContext(r.Context())
		if !works {
			works = true
			fmt.Println("receiver: failed to take", delivery.EventID)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Println("receiver: took", delivery.EventID, delivery.Type)
	}))

	sender, err := rehearse.New(rehearse.Config{
		URL:       "http://receiver.example/hook",
		Secret:    secret,
		Transport: inProcess{receiver},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	event := rehearse.Event{Body: []byte(`{"id":"evt_1","type":"order.paid"}`)}
	result, err := sender.Send(context.Background(), event)
	fmt.Println("sender:", result.State, "after", len(result.Attempts), "attempts,", err)
	// Output:
	// receiver: failed to take evt_1
	// receiver: took evt_1 order.paid
	// sender: delivered after 2 attempts, <nil>
}

// A replay under one key is one delivery, however often it is asked for.
func ExampleSender_Replay() {
	const secret = "long enough, and a secret"
	receiver := webhookmw.Verify(secret)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		delivery, _ := webhookmw.FromContext(r.Context())
		fmt.Println("took", delivery.EventID, "- seen before:", delivery.EventSeen)
	}))
	sender, _ := rehearse.New(rehearse.Config{URL: "http://receiver.example/", Secret: secret, Transport: inProcess{receiver}})
	ctx := context.Background()
	sender.Send(ctx, rehearse.Event{Body: []byte(`{"id":"evt_1","type":"order.paid"}`)})
	sender.Send(ctx, rehearse.Event{Body: []byte(`{"id":"evt_2","type":"order.paid"}`)})

	first, _ := sender.Replay(ctx, "evt_1", "ticket 4711")
	second, _ := sender.Replay(ctx, "evt_1", "ticket 4711")
	fmt.Println("one delivery:", first.DeliveryID == second.DeliveryID)

	_, err := sender.Replay(ctx, "evt_2", "ticket 4711")
	conflict, _ := errors.AsType[*rehearse.ConflictError](err)
	fmt.Println("the key is taken by", conflict.Held)
	// Output:
	// took evt_1 - seen before: false
	// took evt_2 - seen before: false
	// took evt_1 - seen before: true
	// one delivery: true
	// the key is taken by evt_1
}

// An event can be replayed by another process, tomorrow.
func ExampleNewDir() {
	const secret = "long enough, and a secret"
	path, _ := os.MkdirTemp("", "events")
	defer os.RemoveAll(path)
	down := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })

	events, _ := rehearse.NewDir(path)
	today, _ := rehearse.New(rehearse.Config{
		URL: "http://receiver.example/", Secret: secret, Events: events, Transport: inProcess{down},
	})
	result, _ := today.Send(context.Background(), rehearse.Event{Body: []byte(`{"id":"evt_1","type":"order.paid"}`)})
	fmt.Println(result.State)

	events, _ = rehearse.NewDir(path)
	up := webhookmw.Verify(secret)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	tomorrow, _ := rehearse.New(rehearse.Config{
		URL: "http://receiver.example/", Secret: secret, Events: events, Transport: inProcess{up},
	})
	result, _ = tomorrow.Replay(context.Background(), "evt_1", "")
	fmt.Println(result.State)
	// Output:
	// failed
	// delivered
}

// The common mistake: to take the error for the verdict. A delivery that failed is no error.
func ExampleSender_Send() {
	const secret = "long enough, and a secret"
	refuses := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	sender, _ := rehearse.New(rehearse.Config{URL: "http://receiver.example/", Secret: secret, Transport: inProcess{refuses}})

	result, err := sender.Send(context.Background(), rehearse.Event{Body: []byte(`{"id":"evt_1","type":"order.paid"}`)})
	fmt.Println("error:", err)
	fmt.Println("state:", result.State)
	fmt.Println("send there again:", !result.Gone)
	// Output:
	// error: <nil>
	// state: failed
	// send there again: false
}

func ExamplePolicy() {
	p := rehearse.Policy()
	fmt.Println("attempts:", 1+p.MaxRetries, "of", p.AttemptTimeout)
	for retry := range p.MaxRetries {
		fmt.Println("wait:", p.Backoff(retry, 0))
	}
	// Output:
	// attempts: 3 of 2s
	// wait: 25ms
	// wait: 50ms
}

// Memory keeps the latest events only.
func ExampleNewMemory() {
	events := rehearse.NewMemory(rehearse.MemoryConfig{MaxEvents: 1})
	ctx := context.Background()
	events.Put(ctx, rehearse.Event{ID: "evt_1", Body: []byte(`{"id":"evt_1","type":"t"}`)})
	events.Put(ctx, rehearse.Event{ID: "evt_2", Body: []byte(`{"id":"evt_2","type":"t"}`)})
	_, err := events.Get(ctx, "evt_1")
	fmt.Println(errors.Is(err, rehearse.ErrNoEvent))
	// Output: true
}

// Observe shows a delivery as it happens.
func ExampleConfig_observe() {
	const secret = "long enough, and a secret"
	statuses := []int{503, 409, 200}
	receiver := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(statuses[0])
		statuses = statuses[1:]
	})
	sender, _ := rehearse.New(rehearse.Config{
		URL: "http://receiver.example/", Secret: secret, Transport: inProcess{receiver},
		Observe: func(e roundtripper.Event) {
			switch e.State {
			case roundtripper.StateWaiting:
				fmt.Println("attempt", e.Attempt.Number, "got", e.Attempt.StatusCode, "- next in", e.Attempt.Wait)
			case roundtripper.StateDone:
				fmt.Println("attempt", e.Attempt.Number, "got", e.Attempt.StatusCode)
			}
		},
	})
	sender.Send(context.Background(), rehearse.Event{Body: []byte(`{"id":"evt_1","type":"order.paid"}`)})
	// Output:
	// attempt 1 got 503 - next in 25ms
	// attempt 2 got 409 - next in 50ms
	// attempt 3 got 200
}
