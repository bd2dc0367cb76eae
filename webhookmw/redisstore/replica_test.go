//go:build unix

package redisstore_test

// A Redis with a replica: what a receiver does while another server takes over, and while a partition cuts a master off.

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// soon is how long servers may take to agree among themselves, on a machine that has other things to do.
const soon = time.Minute

// newPair is a master and its replica, in step.
func newPair(t *testing.T) (master, replica *server) {
	master = newServer(t, "--repl-diskless-sync-delay", "0")
	master.start(t)
	host, port, _ := net.SplitHostPort(master.addr)
	replica = newServer(t, "--replicaof", host+" "+port)
	replica.start(t)
	waitInfo(t, replica, "replication", "master_link_status:up")
	return master, replica
}

// waitInfo waits until a section of the server's INFO holds text.
func waitInfo(t *testing.T, s *server, section, text string) {
	t.Helper()
	client := newClient(t, s.addr)
	require.Eventually(t, func() bool {
		return strings.Contains(client.Info(context.Background(), section).Val(), text)
	}, soon, 20*time.Millisecond)
}

// replicated waits until the replica has what the master has.
func replicated(t *testing.T, master *server) {
	t.Helper()
	n, err := newClient(t, master.addr).Wait(t.Context(), 1, soon).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

// watched is the name by which the sentinel knows the pair.
const watched = "receivers"

// newSentinel is a sentinel that watches over the pair. It does nothing about a master that is gone until it is told to.
func newSentinel(t *testing.T, master *server) (address string, act func()) {
	s := newServer(t, "--sentinel")
	host, port, _ := net.SplitHostPort(master.addr)
	s.config = filepath.Join(s.dir, "sentinel.conf")
	require.NoError(t, os.WriteFile(s.config, []byte(strings.Join([]string{
		"sentinel monitor " + watched + " " + host + " " + port + " 1",
		"sentinel down-after-milliseconds " + watched + " 3600000",
		"sentinel failover-timeout " + watched + " 5000",
	}, "\n")+"\n"), 0o600))
	s.start(t)
	waitInfo(t, s, "sentinel", "slaves=1")
	return s.addr, func() {
		sentinel := redis.NewSentinelClient(&redis.Options{Addr: s.addr})
		defer sentinel.Close()
		require.NoError(t, sentinel.Set(t.Context(), watched, "down-after-milliseconds", "500").Err())
	}
}

// The master is killed, and a sentinel promotes the replica. Until then deliveries are put off; then the receiver goes on
// with what it knew.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	master, replica := newPair(t)
	sentinel, act := newSentinel(t, master)
	client := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: watched, SentinelAddrs: []string{sentinel}, ContextTimeoutEnabled: true,
	})
	defer client.Close()
	rec, runs := newReceiver(t, client, lease, nothing)
	eventually(t, rec, 1)
	require.EqualValues(t, 1, runs.Load())
	replicated(t, master)

	master.kill()
	for range 2 {
		unavailable(t, rec, 2)
	}
	act()
	require.Eventually(t, func() bool {
		resp := rec.Deliver(2)
		if resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
		return resp.StatusCode == http.StatusOK
	}, soon, 20*time.Millisecond)
	require.EqualValues(t, 2, runs.Load())
	waitInfo(t, replica, "replication", "role:master")

	for i := range 2 {
		require.Equal(t, http.StatusOK, rec.Deliver(1+i).StatusCode)
		require.Equal(t, webhookmw.ReasonDuplicate, rec.Last().Reason)
	}
	require.EqualValues(t, 2, runs.Load())
}

// A master that is cut off from its replica, which somebody may have promoted meanwhile, stops granting claims where it was
// told to, and goes on once they are together again.
func TestCutOffFromReplica(t *testing.T) {
	t.Parallel()
	master, replica := newPair(t)
	client := newClient(t, master.addr)
	require.NoError(t, client.ConfigSet(t.Context(), "min-replicas-max-lag", "2").Err())
	require.NoError(t, client.ConfigSet(t.Context(), "min-replicas-to-write", "1").Err())
	rec, runs := newReceiver(t, client, lease, nothing)
	eventually(t, rec, 0)
	resume := replica.hang(t)
	i := 0
	require.Eventually(t, func() bool {
		i++
		return rec.Deliver(i).StatusCode == http.StatusServiceUnavailable
	}, soon, 20*time.Millisecond)
	before := runs.Load()
	unavailable(t, rec, i)
	require.True(t, redis.HasErrorPrefix(rec.Last().Err, "NOREPLICAS"), "%v", rec.Last().Err)
	require.Equal(t, before, runs.Load())
	resume()
	eventually(t, rec, i)
	require.Equal(t, before+1, runs.Load())
}

// newClusterPair is a cluster of one master, which has every slot, and its replica.
func newClusterPair(t *testing.T) (master, replica *server) {
	master = newServer(t, "--cluster-enabled", "yes", "--repl-diskless-sync-delay", "0")
	master.start(t)
	replica = newServer(t, "--cluster-enabled", "yes")
	replica.start(t)
	first, second := newClient(t, master.addr), newClient(t, replica.addr)
	require.NoError(t, first.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	host, port, _ := net.SplitHostPort(master.addr)
	require.NoError(t, second.ClusterMeet(t.Context(), host, port).Err())
	id := first.ClusterMyID(t.Context()).Val()
	require.Eventually(t, func() bool {
		return second.ClusterReplicate(t.Context(), id).Err() == nil // once they have met
	}, soon, 20*time.Millisecond)
	waitInfo(t, replica, "replication", "master_link_status:up")
	return master, replica
}

// The master of a cluster's slot is killed, and its replica takes over. The client is never told, since nobody is left who
// would send it on to another node.
func TestClusterFailover(t *testing.T) {
	t.Parallel()
	master, replica := newClusterPair(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{master.addr}, ContextTimeoutEnabled: true, ClusterStateReloadInterval: time.Hour,
	})
	defer client.Close()
	rec, runs := newReceiver(t, client, lease, nothing)
	eventually(t, rec, 1)
	require.Eventually(t, func() bool { // The client knows the replica.
		known := false
		err := client.ForEachSlave(t.Context(), func(context.Context, *redis.Client) error { known = true; return nil })
		return err == nil && known
	}, soon, 20*time.Millisecond)
	replicated(t, master)

	master.kill()
	unavailable(t, rec, 2)
	require.NoError(t, newClient(t, replica.addr).Do(t.Context(), "CLUSTER", "FAILOVER", "TAKEOVER").Err())
	require.Eventually(t, func() bool { return rec.Deliver(2).StatusCode == http.StatusOK }, soon, 20*time.Millisecond)
	require.EqualValues(t, 2, runs.Load())
	for i := range 2 {
		require.Equal(t, http.StatusOK, rec.Deliver(1+i).StatusCode)
		require.Equal(t, webhookmw.ReasonDuplicate, rec.Last().Reason)
	}
	require.EqualValues(t, 2, runs.Load())
}
