package breaker_test

// What a breaker costs a call that is allowed and succeeds, and one that is
// refused.

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rebound-go/rebound/roundtripper/breaker"
)

func BenchmarkAllowed(b *testing.B) {
	one := breaker.New(breaker.Config{})
	group := breaker.PerHost(breaker.Config{})
	hosts := make([]string, 1000)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("https://host-%d.example.com:443", i)
	}
	for _, tt := range []struct {
		name string
		call func(i int)
	}{
		{"keys=none", func(int) {
			p, _ := one.Allow()
			p.Done(breaker.Success, nil)
		}},
		{"keys=1", func(int) {
			p, _ := group.Allow(hosts[0])
			p.Done(breaker.Success, nil)
		}},
		{"keys=1000", func(i int) {
			p, _ := group.Allow(hosts[i%len(hosts)])
			p.Done(breaker.Success, nil)
		}},
	} {
		for i := range 30 * len(hosts) { // until the windows are full
			tt.call(i)
		}
		b.Run(tt.name+"/mode=serial", func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				tt.call(i)
				i++
			}
		})
		b.Run(tt.name+"/mode=parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					tt.call(i)
				}
			})
		})
	}
}

// A service that fails now and then keeps the window busy.
func BenchmarkSometimesFailing(b *testing.B) {
	one := breaker.New(breaker.Config{})
	err := errors.New("failed")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			p, _ := one.Allow()
			if i%10 == 0 {
				p.Done(breaker.Failure, err)
			} else {
				p.Done(breaker.Success, nil)
			}
		}
	})
}

func BenchmarkRefused(b *testing.B) {
	one := breaker.New(breaker.Config{})
	for range 5 {
		p, _ := one.Allow()
		p.Done(breaker.Failure, nil)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := one.Allow(); err == nil {
			b.Fatal("allowed")
		}
	}
}

// Each call is for a host not seen before, so one must be forgotten.
func BenchmarkNewHost(b *testing.B) {
	for _, limit := range []int{128, 1024} {
		b.Run(fmt.Sprintf("max=%d", limit), func(b *testing.B) {
			hosts := make([]string, 2*limit)
			for i := range hosts {
				hosts[i] = fmt.Sprint("host-", i)
			}
			group := breaker.PerHost(breaker.Config{MaxHosts: limit})
			i := 0
			call := func() {
				p, _ := group.Allow(hosts[i%len(hosts)])
				p.Done(breaker.Success, nil)
				i++
			}
			for range hosts {
				call()
			}
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}
