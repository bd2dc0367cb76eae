package redisstore_test

import (
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/redisstore"
)

func Example() {
	client := redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs:                 []string{"redis-1:6379", "redis-2:6379", "redis-3:6379"},
		ContextTimeoutEnabled: true,
		// What the client waits for a server that is gone, when it looks for the one that took over.
		DialTimeout: time.Second, DialerRetries: 1, ReadTimeout: time.Second, WriteTimeout: time.Second,
	})
	defer client.Close()
	store, err := redisstore.New(client, redisstore.Config{Prefix: "orders"})
	if err != nil {
		log.Fatal(err)
	}
	receiver, err := webhookmw.New(webhookmw.Config{
		Secrets: []string{"whsec-0123456789abcdef"},
		Store:   store,
		Scope:   "orders",
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("POST /hooks/orders", receiver.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Whichever machine gets the delivery, one handler runs.
	})))
}

// A client as it comes minds no deadline: a Redis that hangs would hang every delivery with it.
func ExampleNew_deadlines() {
	client := redis.NewClient(&redis.Options{Addr: "redis:6379"})
	defer client.Close()
	_, err := redisstore.New(client, redisstore.Config{})
	fmt.Println(err)
	// Output: redisstore: the client has ContextTimeoutEnabled off, so that no Timeout would hold
}
