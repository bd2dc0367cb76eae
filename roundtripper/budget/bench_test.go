package budget_test

// What a budget costs. A full budget is the common case: a
// success has nothing to add.

import (
	"fmt"
	"testing"

	"github.com/rebound-go/rebound/roundtripper/budget"
)

func BenchmarkSuccess(b *testing.B) {
	hosts := make([]string, 1000)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("https://host-%d.example.com:443", i)
	}
	for _, tt := range []struct {
		name   string
		config budget.Config
	}{
		{"tokens=full/hosts=one", budget.Config{}},
		{"tokens=low/hosts=one", budget.Config{Max: 1e12, Initial: -1}},
		{"tokens=full/hosts=1000", budget.Config{PerHost: true}},
		{"tokens=low/hosts=1000", budget.Config{PerHost: true, Max: 1e12, Initial: -1}},
	} {
		tokens := budget.New(tt.config)
		b.Run(tt.name+"/mode=serial", func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				tokens.Success(hosts[i%len(hosts)])
				i++
			}
		})
		b.Run(tt.name+"/mode=parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					tokens.Success(hosts[i%len(hosts)])
				}
			})
		})
	}
}

func BenchmarkWithdraw(b *testing.B) {
	for _, tt := range []struct {
		name string
		max  float64
	}{
		{"granted=true", 1e12},
		{"granted=false", 0.5},
	} {
		b.Run(tt.name, func(b *testing.B) {
			tokens := budget.New(budget.Config{Max: tt.max})
			b.ReportAllocs()
			for b.Loop() {
				tokens.Withdraw("host")
			}
		})
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
			tokens := budget.New(budget.Config{PerHost: true, MaxHosts: limit})
			for _, host := range hosts {
				tokens.Withdraw(host)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				tokens.Withdraw(hosts[i%len(hosts)])
				i++
			}
		})
	}
}
