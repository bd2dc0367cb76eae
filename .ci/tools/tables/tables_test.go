package main

// This file tests what is made of the output of benchmarks, and of a package
// that has none, or one that fails.

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const head = "goos: linux\ngoarch: amd64\npkg: example.com/bench\ncpu: A Processor\n"

// Three rounds of which the second is slow, and comes in another order. The
// medians of the times alone would put ours at 0.72 and theirs at 3.
var rounds = []string{head + `
BenchmarkCall/path=roundtrip/impl=floor-4        	100	  50 ns/op	  16 B/op	1 allocs/op
BenchmarkCall/path=roundtrip/impl=floor+8s-4     	100	 100 ns/op	2048 B/op	9 allocs/op
BenchmarkCall/path=roundtrip/impl=ours-4         	100	  60 ns/op	   0 B/op	0 allocs/op
BenchmarkCall/path=client/impl=theirs-4          	100	 500 ns/op	  64 B/op	3 allocs/op
BenchmarkCall/path=client/impl=floor-4           	100	 200 ns/op	  64 B/op	2 allocs/op
BenchmarkMillion/impl=ours-4                     	  1	2000000 ns/op	1572864 B/entry	1.5 conns	 4096 peak-heap-B	13620 allocs/op
PASS
`, head + `
BenchmarkCall/path=roundtrip/impl=ours-4         	100	1200 ns/op	   0 B/op	0 allocs/op
BenchmarkCall/path=roundtrip/impl=floor+8s-4     	100	1000 ns/op	2048 B/op	9 allocs/op
BenchmarkCall/path=roundtrip/impl=floor-4        	100	 500 ns/op	  16 B/op	1 allocs/op
BenchmarkCall/path=client/impl=floor-4           	100	2000 ns/op	  64 B/op	2 allocs/op
BenchmarkCall/path=client/impl=theirs-4          	100	2000 ns/op	  64 B/op	3 allocs/op
BenchmarkCall/path=client/impl=rare-4            	100	1000 ns/op
PASS
`, head + `
BenchmarkCall/path=roundtrip/impl=floor-4        	100	  52 ns/op	  16 B/op	1 allocs/op
BenchmarkCall/path=roundtrip/impl=ours-4         	100	  72 ns/op	   0 B/op	0 allocs/op
BenchmarkCall/path=roundtrip/impl=floor+8s-4     	100	  90 ns/op	2048 B/op	9 allocs/op
BenchmarkCall/path=client/impl=floor-4           	100	 200 ns/op	  64 B/op	2 allocs/op
BenchmarkCall/path=client/impl=theirs-4          	100	 600 ns/op	  64 B/op	3 allocs/op
BenchmarkMillion/impl=ours-4                     	  1	4000000 ns/op	1572864 B/entry	0.5 conns
PASS
`}

const want = `## example.com/bench

linux/amd64, A Processor, GOMAXPROCS 4, go1.99; medians of 3 rounds of 1s.
A cell is the ratio of the time to that of the floor in the same round, and what one operation takes.

### Call

| impl | path=roundtrip | path=client |
| --- | --- | --- |
| floor | 0.50 · 52.00ns · 16.00B · 1 allocs | 1.00 · 200.0ns · 64.00B · 2 allocs |
| floor+8s | 1.00 · 100.0ns · 2.000KiB · 9 allocs | - |
| rare | - | 0.50 · 1.000µs · 1 of 3 rounds |
| ours | 0.80 · 72.00ns · 0 B · 0 allocs | - |
| theirs | - | 2.50 · 600.0ns · 64.00B · 3 allocs |

### Million

| impl |   |
| --- | --- |
| ours | 3.000ms · 1.500MiB/entry · 1 conns · 4.000Ki peak-heap-B · 13.62k allocs · 2 of 3 rounds |
`

func TestMarkdown(t *testing.T) {
	all := results{goVersion: "go1.99"}
	for _, text := range rounds {
		if err := all.add(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got := all.markdown("1s"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1}, 5},
		{[]float64{9, 1, 2}, 2},
		{[]float64{9, 1, 2, 4}, 3},
	} {
		if got := medianOf(tt.values); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestBrokenLine(t *testing.T) {
	all := results{}
	if err := all.add(strings.NewReader("BenchmarkCall/impl=floor-4 \tsomething else\n")); err == nil {
		t.Error("a line that is no result was taken for one")
	}
}

// Real packages, of one benchmark each.
func TestRun(t *testing.T) {
	for name, tt := range map[string]struct {
		code   string // of the benchmark
		args   string
		stdout string
		err    string
	}{
		"good":     {`println("noise"); for b.Loop() {}`, "-rounds=2", "| floor | 1.00 · ", ""},
		"fails":    {`b.Fatal("out of order")`, "", "", "out of order"},
		"panics":   {`panic("out of order")`, "", "", "out of order"},
		"broken":   {`return 1`, "", "", "too many return values"},
		"filtered": {`b.Fatal("out of order")`, "-bench=Other", "", `no benchmark matches "Other"`},
		"rounds":   {``, "-rounds=0", "", "at least one round"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "go.mod", "module example.com/bench\n\ngo 1.26\n")
			write(t, dir, "bench_test.go", `package bench

import "testing"

func BenchmarkCall(b *testing.B) { b.Run("impl=floor", func(b *testing.B) { `+tt.code+` }) }
`)
			var stdout, stderr strings.Builder
			err := run(append(strings.Fields("-benchtime=1x "+tt.args), dir), &stdout, &stderr)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if !strings.Contains(stdout.String(), tt.stdout) || tt.stdout == "" && stdout.Len() > 0 {
				t.Errorf("printed:\n%s\nwant %q", stdout.String(), tt.stdout)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
