package redisstore

// The Store: three scripts, the keys they are given, and the time they may take.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rebound-go/rebound/webhookmw"
)

// The defaults of Config.
const (
	defaultPrefix  = "rebound"
	defaultTimeout = time.Second
)

// Config says where a Store keeps what it remembers, and how long it waits for it. A field that is zero has the default
// that stands beside it.
type Config struct {
	// Prefix begins every key, in braces, so that all keys of one Store are in one slot of a cluster: "{rebound}d...".
	// Stores with the same Prefix share what they remember. It must not hold a brace. "": "rebound".
	Prefix string

	// Timeout is how long one step may take, with everything that the client does for it: waiting for a connection,
	// dialing, repeating. Then it fails. 0: 1 second.
	Timeout time.Duration
}

// Store is a [webhookmw.Store] in Redis. It is safe for use by many goroutines at once. Make one with [New].
type Store struct {
	client  redis.UniversalClient
	prefix  string
	timeout time.Duration
}

var _ webhookmw.Store = (*Store)(nil)

var errDeadlines = errors.New("redisstore: the client has ContextTimeoutEnabled off, so that no Timeout would hold")

// New returns a Store on a client, which stays the caller's to close. It does not connect: a server that is down is found
// out by the first delivery, and again by each one until it is back.
//
// The client must have been made with ContextTimeoutEnabled, since go-redis minds no deadline otherwise. New fails where
// it sees that it was not, where the Prefix holds a brace and where the Timeout is negative.
func New(client redis.UniversalClient, config Config) (*Store, error) {
	switch {
	case client == nil:
		return nil, errors.New("redisstore: client: none")
	case strings.ContainsAny(config.Prefix, "{}"):
		return nil, errors.New("redisstore: Prefix: holds a brace")
	case config.Timeout < 0:
		return nil, errors.New("redisstore: Timeout: negative")
	case !mindsDeadlines(client):
		return nil, errDeadlines
	}
	s := &Store{client: client, prefix: "{" + defaultPrefix + "}", timeout: defaultTimeout}
	if config.Prefix != "" {
		s.prefix = "{" + config.Prefix + "}"
	}
	if config.Timeout > 0 {
		s.timeout = config.Timeout
	}
	return s, nil
}

// mindsDeadlines reports whether a client minds the deadline of a context, as far as that can be seen from here.
func mindsDeadlines(client redis.UniversalClient) bool {
	switch c := client.(type) {
	case *redis.Client:
		return c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		return c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		return c.Options().ContextTimeoutEnabled
	}
	return true
}

// Claim implements [webhookmw.Store]. A claim that comes twice with one Token, as when the client repeats it because the
// connection broke, is granted twice.
func (s *Store) Claim(ctx context.Context, c webhookmw.Claim) (webhookmw.Status, error) {
	keys := []string{s.key('d', &c.Key), s.key('e', &c.Event), s.key('s', &c.Signature)}
	reply, err := s.run(ctx, claimScript, keys, string(c.Fingerprint[:]), c.Token, string(c.Key[:originSize]),
		c.Lease.Microseconds(), milliseconds(c.Lease)+milliseconds(c.Retain), milliseconds(c.Retain))
	if err != nil {
		return webhookmw.Status{}, fmt.Errorf("redisstore: claim: %w", err)
	}
	status := webhookmw.Status{
		State:           webhookmw.State(reply & replyState),
		EventSeen:       reply&replyEventSeen != 0,
		SignatureReused: reply&replySignatureReused != 0,
	}
	if status.State == webhookmw.Completed {
		status.EventSeen = true // The two expire one after the other.
	}
	return status, nil
}

// Complete implements [webhookmw.Store].
func (s *Store) Complete(ctx context.Context, c webhookmw.Claim) error {
	keys := []string{s.key('d', &c.Key), s.key('e', &c.Event)}
	return s.settle(ctx, "complete", completeScript, keys, c.Token, milliseconds(c.Retain))
}

// Release implements [webhookmw.Store].
func (s *Store) Release(ctx context.Context, c webhookmw.Claim) error {
	return s.settle(ctx, "release", releaseScript, []string{s.key('d', &c.Key)}, c.Token)
}

func (s *Store) settle(ctx context.Context, step string, script *redis.Script, keys []string, args ...any) error {
	reply, err := s.run(ctx, script, keys, args...)
	switch {
	case err != nil:
		return fmt.Errorf("redisstore: %s: %w", step, err)
	case reply == 0:
		return webhookmw.ErrNotOwner
	}
	return nil
}

// run takes a step: the script by its hash and, where the server does not know it, by its text. Where that fails in a
// cluster another node may have taken over, which the client would find out within ClusterStateReloadInterval, a minute as
// a rule. So it is told to look.
func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args ...any) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	reply, err := script.Run(ctx, s.client, keys, args...).Int()
	if redis.IsOOMError(err) {
		return 0, fmt.Errorf("%w: %w", webhookmw.ErrFull, err)
	}
	if cluster, ok := s.client.(interface{ ReloadState(context.Context) }); ok && err != nil {
		cluster.ReloadState(ctx) // in the background, and not more often than every 200 ms
	}
	return reply, err
}

// key is the name under which something is kept: what kind of thing it is, and its hash as it is.
func (s *Store) key(kind byte, hash *[32]byte) string {
	return s.prefix + string(kind) + string(hash[:])
}

// milliseconds rounds up, so that nothing is forgotten before its time, and never to nothing, which Redis refuses.
func milliseconds(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d > time.Duration(ms)*time.Millisecond {
		ms++
	}
	return max(ms, 1)
}
