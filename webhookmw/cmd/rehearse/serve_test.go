package main

// Tests of serve: what it prints, how it ends.

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sender that waits for 2 s meets a receiver that works for 2.5 s, and then one that fails at first.
func TestServe(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"-work", "2.5s"}, []string{
			"a receiver listens on http://own.test/",
			"   2.500s  accepted     200 accepted (event evt_1, order.paid, 34 bytes, delivery dlv_X)",
			"   2.340s  duplicate    200 duplicate (event evt_1, order.paid, 34 bytes, delivery dlv_X)",
		}},
		{[]string{"-answer", "500,201"}, []string{
			"a receiver listens on http://own.test/",
			"   0.000s  failed       500 handler-failed (event evt_1, order.paid, 34 bytes, delivery dlv_X)",
			"   0.025s  accepted     201 accepted (event evt_1, order.paid, 34 bytes, delivery dlv_X)",
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			ctx, interrupt := context.WithCancel(t.Context())
			exit := make(chan int)
			go func() { exit <- b.do(t, ctx, append([]string{"serve"}, tc.args...)...) }()
			synctest.Wait()
			sender := &bench{command: b.command}
			sender.stdin, sender.command.stdout, sender.command.stderr = strings.NewReader(`{"id":"evt_1","type":"order.paid"}`), &sender.stdout, io.Discard
			assert.Equal(t, exitOK, sender.do(t, t.Context(), "-event", "-", testURL))
			assert.Contains(t, sender.stdout.String(), "delivered  event evt_1")
			interrupt()
			assert.Equal(t, exitOK, <-exit)
			got := lines(b.stdout.String())
			require.Len(t, got, len(tc.want))
			for i := range tc.want { // when the twin learns of it is the receiver's own affair
				_, want, _ := strings.Cut(tc.want[i], "s  ")
				_, line, _ := strings.Cut(got[i], "s  ")
				assert.Equal(t, want, line)
			}
			time.Sleep(time.Minute)
		})
	}
}

// Without a secret it makes one, and shows it, since nobody could send anything otherwise.
func TestServeMakesSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.getenv = func(string) string { return "" }
		ctx, interrupt := context.WithCancel(t.Context())
		exit := make(chan int)
		go func() { exit <- b.do(t, ctx, "serve") }()
		synctest.Wait()
		_, secret, ok := strings.Cut(strings.TrimSpace(b.stdout.String()), secretVariable+"=")
		require.True(t, ok)
		sender := &bench{command: b.command}
		sender.getenv = func(string) string { return secret }
		sender.command.stdout, sender.command.stderr = &sender.stdout, io.Discard
		assert.Equal(t, exitOK, sender.do(t, t.Context(), testURL))
		assert.NotContains(t, sender.stdout.String(), secret)
		interrupt()
		assert.Equal(t, exitOK, <-exit)
	})
}

// A receiver that ends by itself is a failure.
func TestServeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		exit := make(chan int)
		go func() { exit <- b.do(t, t.Context(), "serve") }()
		synctest.Wait()
		b.network.Close()
		assert.Equal(t, exitFailed, <-exit)
	})
}
