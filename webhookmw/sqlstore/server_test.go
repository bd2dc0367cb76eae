//go:build unix

package sqlstore_test

// A PostgreSQL of a test's own, which crashes and comes back.

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
)

// server is such a PostgreSQL.
type server struct {
	bin, dir string
	addr     string
	owner    *syscall.Credential // whom it runs as; nil: as whom the test does
	cmd      *exec.Cmd
}

// newServer initializes a server, and does not start it.
func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{addr: fleet.FreeAddress(t)}
	if initdb, err := exec.LookPath("initdb"); err == nil {
		s.bin = filepath.Dir(initdb)
	} else if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 { // Where Debian has it.
		s.bin = filepath.Dir(slices.Max(found))
	} else {
		missing(t, "no initdb on this machine: %v", err)
	}
	var err error
	s.dir, err = os.MkdirTemp("", "rebound-postgres-") // Not the test's, into which only its own user can look.
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	if os.Geteuid() == 0 { // As root it does not run.
		s.owner = someoneElse(t)
		require.NoError(t, os.Chown(s.dir, int(s.owner.Uid), int(s.owner.Gid)))
	}
	initdb := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync")
	out, err := initdb.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(s.crash)
	return s
}

// someoneElse is the user postgres.
func someoneElse(t *testing.T) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		missing(t, "PostgreSQL does not run as root: %v", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	require.NoError(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) url() string { return "postgres://postgres@" + s.addr + "/postgres" }

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	return cmd
}

// start starts the server and waits for it.
func (s *server) start(t *testing.T) {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.addr)
	s.cmd = s.command("postgres", "-D", s.data(), "-h", host, "-p", port, "-k", s.dir)
	require.NoError(t, s.cmd.Start())
	db := open(t, s.url())
	require.Eventually(t, func() bool { return db.Ping() == nil }, time.Minute, 20*time.Millisecond)
}

// crash ends the server by an immediate shutdown: nothing is finished and nothing saved, and the next start recovers from
// the log. Killing the first process alone would leave the others at work for a moment.
func (s *server) crash() {
	if s.cmd != nil {
		s.cmd.Process.Signal(syscall.SIGQUIT)
		s.cmd.Wait()
		s.cmd = nil
	}
}

// What was acknowledged is there after a crash, together with the note that it is done; what was not is not, and is made
// once.
func TestServerCrashes(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.start(t)
	s := &site{db: open(t, server.url()), table: "webhook_deliveries"}
	s.begin(t, open(t, server.url()), true, patient)
	require.Equal(t, http.StatusOK, s.Deliver(0).StatusCode)

	s.next = func(http.ResponseWriter, *http.Request) { server.crash() }
	s.unavailable(t, 1, webhookmw.ReasonNotRecorded)
	s.next = nil
	for range 2 {
		s.unavailable(t, 2, webhookmw.ReasonStore)
	}
	require.EqualValues(t, 2, s.runs.Load())

	server.start(t)
	s.db = open(t, server.url()) // Connections of before tell how they ended.
	require.Zero(t, s.effects(t, 1))
	for i := range 3 {
		s.eventually(t, i)
		require.Equal(t, 1, s.effects(t, i))
	}
	require.EqualValues(t, 4, s.runs.Load(), "the first is a duplicate")
}
