package redisstore_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/internal/fleet"
	"github.com/rebound-go/rebound/webhookmw/redisstore"
)

// rememberer takes note of a delivery.
type rememberer struct {
	name string
	make func(s *redisstore.Store, client redis.UniversalClient, prefix string) func(context.Context, webhookmw.Claim) error
}

// setNX is what a receiver does that only wants to know whether it saw a delivery before: no lease, no owner, no event, no
// signature.
var rememberers = []rememberer{
	{"set-nx", func(_ *redisstore.Store, client redis.UniversalClient, prefix string) func(context.Context, webhookmw.Claim) error {
		return func(ctx context.Context, c webhookmw.Claim) error {
			return client.SetArgs(ctx, "{"+prefix+"}"+string(c.Key[:]), "", redis.SetArgs{Mode: "NX", TTL: c.Retain}).Err()
		}
	}},
	{"claim+complete", func(s *redisstore.Store, _ redis.UniversalClient, _ string) func(context.Context, webhookmw.Claim) error {
		return func(ctx context.Context, c webhookmw.Claim) error {
			if _, err := s.Claim(ctx, c); err != nil {
				return err
			}
			return s.Complete(ctx, c)
		}
	}},
}

// BenchmarkRemember is one delivery after the other, from 8 goroutines a core.
func BenchmarkRemember(b *testing.B) {
	for _, r := range rememberers {
		b.Run("impl="+r.name, func(b *testing.B) {
			client, prefix := shared(b)
			s := newStore(b, client, redisstore.Config{Prefix: prefix, Timeout: time.Minute})
			remember := r.make(s, client, prefix)
			require.NoError(b, remember(b.Context(), fleet.NewClaim()))
			fleet.Remember(b, remember)
		})
	}
}

// BenchmarkBytes is what the server takes for a delivery that it remembers.
func BenchmarkBytes(b *testing.B) {
	for _, r := range rememberers {
		b.Run("impl="+r.name, func(b *testing.B) {
			const n = 20_000
			server := newServer(b)
			server.start(b)
			client := newClient(b, server.addr)
			s := newStore(b, client, redisstore.Config{Timeout: time.Minute})
			remember := r.make(s, client, "rebound")
			require.NoError(b, remember(b.Context(), fleet.NewClaim()))
			var before, after float64
			for b.Loop() {
				before = usedMemory(b, client)
				for range n {
					require.NoError(b, remember(b.Context(), fleet.NewClaim()))
				}
				after = usedMemory(b, client)
			}
			b.ReportMetric((after-before)/n, "B/delivery")
		})
	}
}

func usedMemory(b *testing.B, client *redis.Client) float64 {
	info, err := client.Info(b.Context(), "memory").Result()
	require.NoError(b, err)
	_, rest, _ := strings.Cut(info, "used_memory:")
	text, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(b, err)
	return n
}
