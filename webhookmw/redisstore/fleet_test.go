package redisstore_test

import (
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/redisstore"
)

const prefixVar = "REBOUND_FLEET_PREFIX"

func TestMain(m *testing.M) {
	fleet.Serve(receiver)
	os.Exit(m.Run())
}

// receiver is one of the three processes. Its handler counts the event under a key beside the store's, and takes a moment
// before and after, for the kills to fall into.
func receiver() (webhookmw.Store, http.Handler) {
	client := connect()
	prefix := os.Getenv(prefixVar)
	s, err := redisstore.New(client, redisstore.Config{Prefix: prefix, Timeout: 5 * time.Second})
	if err != nil {
		panic(err)
	}
	return s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		time.Sleep(rand.N(3 * time.Millisecond))
		if err := client.HIncrBy(r.Context(), "{"+prefix+"}effects", d.EventID, 1).Err(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
		time.Sleep(rand.N(3 * time.Millisecond))
	})
}

// Every event is handled, whatever happens to the receivers.
func TestFleet(t *testing.T) {
	client, prefix := shared(t)
	n := fleet.Deliveries(t)
	counts := fleet.Run(t, n, prefixVar+"="+prefix)
	t.Log(counts)
	effects, err := client.HGetAll(t.Context(), "{"+prefix+"}effects").Result()
	require.NoError(t, err)
	twice := 0
	for i := range n {
		times, err := strconv.Atoi(effects[fleet.EventID(i)])
		require.NoError(t, err, "event %d was acknowledged and not handled", i)
		if times > 1 {
			twice++
		}
	}
	require.Len(t, effects, n)
	require.Equal(t, 2*n, counts.Taken+counts.Duplicates)
	require.Positive(t, counts.Kills)
	t.Logf("%d events handled at least once, %d of them more than once", len(effects), twice)
}
