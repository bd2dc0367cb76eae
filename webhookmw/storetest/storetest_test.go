package storetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/storetest"
)

// broken are stores that break one promise each, and the case that must notice.
var broken = map[string]struct {
	store   func(*webhookmw.Memory) webhookmw.Store
	noticed string
}{
	"sound":                {func(m *webhookmw.Memory) webhookmw.Store { return m }, ""},
	"grants everything":    {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, grantAll, nil} }, "claim"},
	"never completes":      {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, nil, neverComplete} }, "complete"},
	"one owner for all":    {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, oneToken, oneTokenAtEnd} }, "owner"},
	"no fingerprints":      {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, noFingerprint, nil} }, "mismatch"},
	"half a fingerprint":   {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, halfFingerprint, nil} }, "mismatch"},
	"endless leases":       {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, endlessLease, nil} }, "lease"},
	"no leases":            {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, noLease, nil} }, "claim"},
	"remembers for ever":   {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, nil, endlessRetention} }, "retention"},
	"forgets at once":      {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, nil, noRetention} }, "complete"},
	"no events":            {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, noEvent, noEventAtEnd} }, "event_seen"},
	"no signatures":        {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, noSignature, nil} }, "signature_reused"},
	"events later":         {func(m *webhookmw.Memory) webhookmw.Store { return twoSteps{m} }, "event_done_with_its_delivery"},
	"fails at the end":     {func(m *webhookmw.Memory) webhookmw.Store { return unsettled{m} }, "event_done_with_its_delivery"},
	"signatures of owners": {func(m *webhookmw.Memory) webhookmw.Store { return altered{m, allReused, nil} }, "claim"},
}

// altered is a Memory that is lied to, or whose answers are.
type altered struct {
	*webhookmw.Memory
	claim func(*webhookmw.Memory, webhookmw.Claim) (webhookmw.Status, error)
	end   func(webhookmw.Claim) (webhookmw.Claim, bool)
}

func (a altered) Claim(ctx context.Context, c webhookmw.Claim) (webhookmw.Status, error) {
	if a.claim == nil {
		return a.Memory.Claim(ctx, c)
	}
	return a.claim(a.Memory, c)
}

func (a altered) Complete(ctx context.Context, c webhookmw.Claim) error {
	if a.end != nil {
		var ok bool
		if c, ok = a.end(c); !ok {
			return nil
		}
	}
	return a.Memory.Complete(ctx, c)
}

func tell(change func(*webhookmw.Claim)) func(*webhookmw.Memory, webhookmw.Claim) (webhookmw.Status, error) {
	return func(m *webhookmw.Memory, c webhookmw.Claim) (webhookmw.Status, error) {
		change(&c)
		return m.Claim(context.Background(), c)
	}
}

func answer(change func(*webhookmw.Status)) func(*webhookmw.Memory, webhookmw.Claim) (webhookmw.Status, error) {
	return func(m *webhookmw.Memory, c webhookmw.Claim) (webhookmw.Status, error) {
		s, err := m.Claim(context.Background(), c)
		change(&s)
		return s, err
	}
}

func ending(change func(*webhookmw.Claim)) func(webhookmw.Claim) (webhookmw.Claim, bool) {
	return func(c webhookmw.Claim) (webhookmw.Claim, bool) {
		change(&c)
		return c, true
	}
}

var (
	grantAll         = answer(func(s *webhookmw.Status) { s.State = webhookmw.Claimed })
	allReused        = answer(func(s *webhookmw.Status) { s.SignatureReused = true })
	noSignature      = answer(func(s *webhookmw.Status) { s.SignatureReused = false })
	oneToken         = tell(func(c *webhookmw.Claim) { c.Token = "" })
	noFingerprint    = tell(func(c *webhookmw.Claim) { c.Fingerprint = [32]byte{} })
	halfFingerprint  = tell(func(c *webhookmw.Claim) { clear(c.Fingerprint[16:]) })
	endlessLease     = tell(func(c *webhookmw.Claim) { c.Lease = time.Hour })
	noLease          = tell(func(c *webhookmw.Claim) { c.Lease = 0 })
	noEvent          = answer(func(s *webhookmw.Status) { s.EventSeen = s.State == webhookmw.Completed })
	oneTokenAtEnd    = ending(func(c *webhookmw.Claim) { c.Token = "" })
	endlessRetention = ending(func(c *webhookmw.Claim) { c.Retain = time.Hour })
	noRetention      = ending(func(c *webhookmw.Claim) { c.Retain = 0 })
	noEventAtEnd     = ending(func(c *webhookmw.Claim) {})
)

func neverComplete(c webhookmw.Claim) (webhookmw.Claim, bool) { return c, false }

// twoSteps is done with a delivery first, and with its event a moment later.
type twoSteps struct{ *webhookmw.Memory }

func (s twoSteps) Complete(ctx context.Context, c webhookmw.Claim) error {
	first := c
	first.Event[0] ^= 1
	if err := s.Memory.Complete(ctx, first); err != nil {
		return err
	}
	time.Sleep(time.Millisecond)
	c.Key[0] ^= 1
	s.Memory.Claim(ctx, c)
	return s.Memory.Complete(ctx, c)
}

// unsettled is out of order when a delivery is done.
type unsettled struct{ *webhookmw.Memory }

func (s unsettled) Complete(context.Context, webhookmw.Claim) error {
	return errors.New("out of order")
}

// TestCases runs in a process of its own for each store that is broken; in this one the store is sound.
func TestCases(t *testing.T) {
	name := os.Getenv("STORETEST_BROKEN")
	if name == "" {
		name = "sound"
	}
	for _, c := range storetest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.Run(t, broken[name].store(webhookmw.NewMemory(webhookmw.MemoryConfig{})))
			})
		})
	}
}

func TestCasesNoticeWhatIsBroken(t *testing.T) {
	for name, b := range broken {
		if b.noticed == "" {
			continue
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestCases$/^"+b.noticed+"$")
		cmd.Env = append(os.Environ(), "STORETEST_BROKEN="+name)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, name)
		require.True(t, strings.Contains(string(out), "--- FAIL: TestCases/"+b.noticed+" "), "%s: %s", name, out)
	}
}
