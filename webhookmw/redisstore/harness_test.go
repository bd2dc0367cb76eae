package redisstore_test

// What the tests share: the machine's Redis, and servers of their own that can be stopped and killed.

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/redisstore"
)

// address is where the Redis of the tests listens. Several, with commas between them, are nodes of a cluster or, where
// REBOUND_REDIS_MASTER names a master, its sentinels.
func address() string {
	if addr := os.Getenv("REBOUND_REDIS_ADDR"); addr != "" {
		return addr
	}
	return "127.0.0.1:6379"
}

// connect returns a client of the Redis of the tests.
func connect() redis.UniversalClient {
	return redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: strings.Split(address(), ","), MasterName: os.Getenv("REBOUND_REDIS_MASTER"), ContextTimeoutEnabled: true,
	})
}

// missing skips the test, and fails it where everything has to be there.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func newClient(t testing.TB, addr string) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
	t.Cleanup(func() { client.Close() })
	return client
}

// shared is a client of the Redis of the tests and a prefix of the caller's own, which is emptied at the end.
func shared(t testing.TB) (redis.UniversalClient, string) {
	t.Helper()
	client := connect()
	t.Cleanup(func() { client.Close() })
	if err := client.Ping(context.Background()).Err(); err != nil {
		missing(t, "no Redis at %s (REBOUND_REDIS_ADDR): %v", address(), err)
	}
	prefix := "rebound-test-" + rand.Text()
	t.Cleanup(func() {
		for _, key := range stored(t, client, prefix) {
			client.Unlink(context.Background(), key)
		}
	})
	return client, prefix
}

// stored returns the keys under the prefix. In a cluster they are all in one node.
func stored(t testing.TB, client redis.UniversalClient, prefix string) (keys []string) {
	t.Helper()
	var scanner redis.Cmdable = client
	if cluster, ok := client.(*redis.ClusterClient); ok {
		node, err := cluster.MasterForKey(context.Background(), "{"+prefix+"}")
		require.NoError(t, err)
		scanner = node
	}
	found := scanner.Scan(context.Background(), 0, "{"+prefix+"}*", 1000).Iterator()
	for found.Next(context.Background()) {
		keys = append(keys, found.Val())
	}
	require.NoError(t, found.Err())
	return keys
}

func newStore(t testing.TB, client redis.UniversalClient, config redisstore.Config) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(client, config)
	require.NoError(t, err)
	return s
}

// server is a redis-server of a test's own.
type server struct {
	addr   string
	args   []string
	dir    string
	config string // a file, where options won't do
	cmd    *exec.Cmd
}

// newServer reserves an address for a server, and does not start it.
func newServer(t testing.TB, args ...string) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		missing(t, "no redis-server on this machine: %v", err)
	}
	s := &server{addr: fleet.FreeAddress(t), args: args, dir: t.TempDir()}
	t.Cleanup(s.kill)
	return s
}

// start starts the server, empty, and waits for it.
func (s *server) start(t testing.TB) {
	t.Helper()
	_, port, _ := net.SplitHostPort(s.addr)
	args := append([]string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", s.dir}, s.args...)
	if s.config != "" {
		args = append([]string{s.config}, args...)
	}
	s.cmd = exec.Command("redis-server", args...)
	require.NoError(t, s.cmd.Start())
	client := redis.NewClient(&redis.Options{Addr: s.addr})
	defer client.Close()
	require.Eventually(t, func() bool { return client.Ping(context.Background()).Err() == nil }, 20*time.Second, 10*time.Millisecond)
}

// kill ends the server without a chance to say or save anything.
func (s *server) kill() {
	if s.cmd != nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.cmd = nil
	}
}
