package offline_test

// What a gate costs.

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/rebound-go/rebound/roundtripper/offline"
)

func BenchmarkOnline(b *testing.B) {
	for _, tt := range []struct {
		name string
		hint offline.Hint
	}{
		{"hint=none", nil},
		{"hint=interfaces", offline.Interfaces()},
	} {
		g := offline.New(offline.Config{Hint: tt.hint})
		ctx := context.Background()
		b.Run(tt.name+"/mode=serial", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, _ := g.Enter(ctx, host)
				p.Done(offline.Reached)
			}
		})
		b.Run(tt.name+"/mode=parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					p, _ := g.Enter(ctx, host)
					p.Done(offline.Reached)
				}
			})
		})
	}
}

// A probe hands on to the next of many waiters, and queues again.
func BenchmarkHandOn(b *testing.B) {
	for _, waiters := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("waiters=%d", waiters), func(b *testing.B) {
			g := offline.New(offline.Config{Failures: 1})
			p, _ := g.TryEnter(host)
			p.Done(offline.NoPath)
			ctx, cancel := context.WithCancel(context.Background())
			turns := make(chan offline.Pass)
			var wg sync.WaitGroup
			for range waiters {
				wg.Go(func() {
					for {
						p, err := g.Enter(ctx, host)
						if err != nil {
							return
						}
						turns <- p
					}
				})
			}
			p = <-turns
			b.ReportAllocs()
			for b.Loop() {
				p.Done(offline.Unknown)
				p = <-turns
			}
			cancel()
			wg.Wait()
		})
	}
}

func BenchmarkClassify(b *testing.B) {
	for _, tt := range []struct {
		name string
		err  error
	}{
		{"err=nil", nil},
		{"err=deadline", context.DeadlineExceeded},
		{"err=canceled", op("dial", context.Canceled)},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				offline.Classify(tt.err)
			}
		})
	}
}
