package offline_test

// The gate with real sockets, in a network namespace that has no network until
// the test gives it one. Nothing leaves it.

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

const (
	insideNamespace = "REBOUND_TEST_NAMESPACE"
	noLink          = "no kind of link can be made here"
)

func TestRealSockets(t *testing.T) {
	if os.Getenv(insideNamespace) != "" {
		noNetwork(t)
		return
	}
	self, err := os.Executable()
	require.NoError(t, err)
	if _, err := exec.LookPath("ip"); err != nil {
		const missing = "there is no ip command to bring up a link with"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestRealSockets$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), insideNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 { // root of a user namespace of its own
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skipf("no network namespace to be had: %v", err)
	}
	t.Logf("%s", out)
	require.NoError(t, err) // A step that failed is no reason to skip, whatever could not be made after it.
	if strings.Contains(string(out), noLink) {
		t.Skip(noLink)
	}
	assert.Contains(t, string(out), "--- PASS: TestRealSockets/opens", "it ran to the end")
}

// ip runs the ip command.
func ip(t *testing.T, args string) error {
	out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput()
	t.Logf("ip %s: %v %s", args, err, out)
	return err
}

// noNetwork runs inside. The subtests build on one another.
func noNetwork(t *testing.T) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(url string) error {
		resp, err := client.Get(url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}

	t.Run("no path", func(t *testing.T) {
		for _, url := range []string{"http://api.example.com/", "http://192.0.2.1/", "http://[2001:db8::1]/"} {
			err := get(url)
			t.Log(err)
			if errors.Is(err, syscall.EAFNOSUPPORT) {
				continue // a kernel without IPv6
			}
			assert.Error(t, err)
			assert.Equal(t, offline.NoPath, offline.Classify(err), "%v", err)
		}
		dialer := net.Dialer{Resolver: &net.Resolver{PreferGo: true}}
		for _, address := range []string{"api.example.com:80", "192.0.2.1:80", "[2001:db8::1]:80"} {
			_, err := dialer.DialContext(t.Context(), "tcp", address)
			if errors.Is(err, syscall.EAFNOSUPPORT) {
				continue
			}
			assert.Error(t, err)
			assert.Equal(t, offline.NoPath, offline.Classify(err), "%v", err)
		}
	})

	t.Run("given up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var dialer net.Dialer
		for _, address := range []string{"api.example.com:80", "192.0.2.1:80"} {
			_, err := dialer.DialContext(ctx, "tcp", address)
			assert.Error(t, err)
			assert.Equal(t, offline.Unknown, offline.Classify(err), "%v", err)
		}
	})

	t.Run("refused", func(t *testing.T) {
		require.NoError(t, ip(t, "link set lo up"))
		err := get("http://127.0.0.1:9/")
		assert.Error(t, err)
		assert.Equal(t, offline.Reached, offline.Classify(err), "%v", err)
	})

	t.Run("interfaces", func(t *testing.T) {
		up, known := offline.Interfaces().Online()
		assert.False(t, up)
		assert.True(t, known)
	})

	t.Run("opens", func(t *testing.T) { opens(t, get) })
}

// opens makes calls while there is no link, brings it up, and sees them arrive.
func opens(t *testing.T, get func(url string) error) {
	for _, kind := range []string{"veth peer name rebound1", "dummy"} {
		if ip(t, "link add rebound0 type "+kind) == nil {
			break
		}
	}
	if _, err := net.InterfaceByName("rebound0"); err != nil {
		t.Skip(noLink)
	}
	_ = ip(t, "link set rebound1 up")                  // the other end of rebound0, if it has one
	listener, err := net.Listen("tcp", "0.0.0.0:8080") // no address yet but loopback
	require.NoError(t, err)
	server := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()

	changes := make(chan bool, 10)
	failed := make(chan struct{}, 100)
	call := func(g *offline.Gate) (charged int) {
		for {
			pass, err := g.Enter(t.Context(), "192.0.2.1")
			if !assert.NoError(t, err) {
				return charged
			}
			err = get("http://192.0.2.1:8080/")
			if pass.Done(offline.Classify(err)) {
				charged++
			}
			if err == nil {
				return charged
			}
			failed <- struct{}{}
		}
	}
	plain := offline.New(offline.Config{OnChange: func(is bool) { changes <- is }})
	hinted := offline.New(offline.Config{Hint: offline.Interfaces()})
	charged := make(chan int)
	go func() { charged <- call(plain) }()
	for range 4 { // three attempts, and a probe
		<-failed
	}
	assert.True(t, <-changes)
	assert.True(t, plain.Offline())
	go func() { charged <- call(hinted) }()
	<-failed

	require.NoError(t, ip(t, "link set rebound0 up"))
	require.NoError(t, ip(t, "addr add 192.0.2.1/24 dev rebound0"))
	start := time.Now()
	got := []int{<-charged, <-charged}
	t.Logf("arrived %v after the link", time.Since(start))
	assert.ElementsMatch(t, []int{3, 1}, got, "two failures without a hint, none with one, and a success each")
	assert.False(t, <-changes)
	assert.False(t, plain.Offline())
	assert.False(t, hinted.Offline())

	up, known := offline.Interfaces().Online()
	assert.True(t, up)
	assert.False(t, known)
}
