package redisstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/redisstore"
	"github.com/rebound-go/rebound/webhookmw/storetest"
)

func TestStore(t *testing.T) {
	client, prefix := shared(t)
	storetest.Run(t, func(t *testing.T) webhookmw.Store {
		return newStore(t, client, redisstore.Config{Prefix: prefix, Timeout: 20 * time.Second})
	})
}

// A cluster refuses a script whose keys are in two slots.
func TestStoreOnCluster(t *testing.T) {
	s := newServer(t, "--cluster-enabled", "yes")
	s.start(t)
	require.NoError(t, newClient(t, s.addr).ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{s.addr}, ContextTimeoutEnabled: true})
	defer client.Close()
	require.Eventually(t, func() bool {
		info, err := client.ClusterInfo(t.Context()).Result()
		return err == nil && strings.Contains(info, "cluster_state:ok")
	}, 20*time.Second, 20*time.Millisecond)
	storetest.Run(t, func(t *testing.T) webhookmw.Store {
		return newStore(t, client, redisstore.Config{Timeout: 20 * time.Second})
	})
}

func TestNewRefuses(t *testing.T) {
	good := newClient(t, "127.0.0.1:1")
	deaf := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer deaf.Close()
	deafCluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer deafCluster.Close()
	deafRing := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	defer deafRing.Close()
	tests := []struct {
		name   string
		client redis.UniversalClient
		config redisstore.Config
		want   string
	}{
		{"no client", nil, redisstore.Config{}, "redisstore: client: none"},
		{"brace", good, redisstore.Config{Prefix: "a{b"}, "redisstore: Prefix: holds a brace"},
		{"other brace", good, redisstore.Config{Prefix: "a}b"}, "redisstore: Prefix: holds a brace"},
		{"negative", good, redisstore.Config{Timeout: -1}, "redisstore: Timeout: negative"},
		{"no deadlines", deaf, redisstore.Config{}, "ContextTimeoutEnabled"},
		{"no deadlines, cluster", deafCluster, redisstore.Config{}, "ContextTimeoutEnabled"},
		{"no deadlines, ring", deafRing, redisstore.Config{}, "ContextTimeoutEnabled"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := redisstore.New(test.client, test.config)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// A client repeats what it got no answer to: the same claim again is the same owner's.
func TestClaimRepeated(t *testing.T) {
	client, prefix := shared(t)
	fleet.Repeated(t, newStore(t, client, redisstore.Config{Prefix: prefix}))
}

// Nothing stays for ever, and nothing goes before its time.
func TestKeysExpire(t *testing.T) {
	client, prefix := shared(t)
	s := newStore(t, client, redisstore.Config{Prefix: prefix})
	done, working, released := fleet.NewClaim(), fleet.NewClaim(), fleet.NewClaim()
	for _, c := range []webhookmw.Claim{done, working, released} {
		fleet.Claimed(t, s, c)
	}
	require.NoError(t, s.Complete(t.Context(), done))
	require.NoError(t, s.Release(t.Context(), released))
	want := map[string]time.Duration{
		"d" + string(done.Key[:]): time.Hour, "e" + string(done.Event[:]): time.Hour, "s" + string(done.Signature[:]): time.Hour,
		"d" + string(working.Key[:]): time.Hour + time.Minute, "s" + string(working.Signature[:]): time.Hour,
		"s" + string(released.Signature[:]): time.Hour,
	}
	keys := stored(t, client, prefix)
	require.Len(t, keys, len(want))
	for _, key := range keys {
		ttl, err := client.PTTL(t.Context(), key).Result()
		require.NoError(t, err)
		require.InDelta(t, want[strings.TrimPrefix(key, "{"+prefix+"}")], ttl, float64(time.Minute/2), "%q", key)
	}
}

// A lease for ever is one like any other.
func TestLongestLease(t *testing.T) {
	client, prefix := shared(t)
	fleet.Forever(t, newStore(t, client, redisstore.Config{Prefix: prefix}))
}

// What cannot be remembered is refused, what was claimed can still be settled, and what is known is still told.
func TestFull(t *testing.T) {
	server := newServer(t, "--maxmemory-policy", "noeviction")
	server.start(t)
	client := newClient(t, server.addr)
	s := newStore(t, client, redisstore.Config{})
	done, released, working := fleet.NewClaim(), fleet.NewClaim(), fleet.NewClaim()
	for _, c := range []webhookmw.Claim{done, released, working} {
		fleet.Claimed(t, s, c)
	}
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())

	refused := fleet.NewClaim()
	_, err := s.Claim(t.Context(), refused)
	require.ErrorIs(t, err, webhookmw.ErrFull)
	require.EqualValues(t, 6, client.DBSize(t.Context()).Val(), "a claim that is refused leaves nothing")
	require.NoError(t, s.Complete(t.Context(), done))
	require.NoError(t, s.Release(t.Context(), released))
	for want, c := range map[webhookmw.State]webhookmw.Claim{webhookmw.Completed: done, webhookmw.InFlight: working} {
		c.Token, c.Signature = rand.Text(), fleet.Random() // Another attempt, for whose signature there is no room.
		status, err := s.Claim(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, want, status.State)
	}

	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	fleet.Claimed(t, s, refused)
}

// The context that a step is given ends it too.
func TestContext(t *testing.T) {
	client, prefix := shared(t)
	s := newStore(t, client, redisstore.Config{Prefix: prefix})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Claim(ctx, fleet.NewClaim())
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, errors.Is(err, webhookmw.ErrFull))
}
