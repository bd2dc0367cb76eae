package main

// This file holds the running of a package's benchmarks.

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// measure builds the test binary of the package in dir once, so that no round
// pays for it, and runs it. Progress goes to log.
func measure(dir string, rounds int, benchtime, bench string, log io.Writer) (*results, error) {
	tmp, err := os.MkdirTemp("", "tables")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	binary := filepath.Join(tmp, "bench.test")
	if _, err := output(dir, "go", "test", "-c", "-o", binary, "."); err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("no tests: %w", err)
	}
	all := &results{goVersion: info.GoVersion}
	for round := range rounds {
		fmt.Fprintf(log, "%s: round %d of %d\n", dir, round+1, rounds)
		text, err := output(dir, binary, "-test.run=^$", "-test.bench="+bench, "-test.benchtime="+benchtime)
		if err != nil {
			return nil, err
		}
		if err := all.add(bytes.NewReader(text)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// output is what a command prints on its standard output, or an error with all
// that it printed.
func output(dir, name string, args ...string) ([]byte, error) {
	// What a benchmark writes on standard error would stand in the middle of its
	// line.
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", filepath.Base(name), err, text, stderr.Bytes())
	}
	return text, nil
}
