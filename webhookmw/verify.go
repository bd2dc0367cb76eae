package webhookmw

// The two ways to make the middleware: Verify in one line, New with a Config.

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
)

// Verify returns a middleware that lets through only deliveries that are signed with secret or a previous one, fresh,
// whole, well-formed and new: [New] with everything at its default, so in the [Signed] scheme, with [StrictEvent] and a
// [Memory] of its own. All handlers that one middleware wraps share that memory.
//
// It panics if a secret is unusable: empty, blank, shorter than 16 bytes, with white space at an end or a control
// character in it. A receiver whose secret did not arrive must not start.
func Verify(secret string, previous ...string) func(http.Handler) http.Handler {
	v, err := New(Config{Secrets: append([]string{secret}, previous...)})
	if err != nil {
		panic(err)
	}
	return v.Handler
}

// Verifier verifies deliveries. It is made by [New]; the zero Verifier is of no use. It is safe for use by many goroutines
// at once.
type Verifier struct {
	config     Config // every default applied, the secrets taken out
	rules      *rules
	keys       [][]byte
	workspaces sync.Pool
	scope      [32]byte // the hash of config.Scope
	process    string   // begins the token of each claim of this Verifier
	claims     atomic.Uint64
	waiters    atomic.Int64
}

// New returns a Verifier, or an error that says which field of the Config is unusable and why. The error quotes no
// secret.
func New(config Config) (*Verifier, error) {
	v := &Verifier{config: config, rules: config.Scheme.get(), process: rand.Text()}
	if err := v.config.complete(v.rules); err != nil {
		return nil, err
	}
	for i, secret := range config.Secrets {
		key, err := v.rules.key(secret)
		if err != nil {
			return nil, fmt.Errorf("webhookmw: Secrets[%d]: %w", i, err)
		}
		v.keys = append(v.keys, key)
	}
	v.config.Secrets = nil
	v.scope = sha256.Sum256([]byte(config.Scope))
	v.workspaces.New = func() any { return newWorkspace(v.keys) }
	return v, nil
}
