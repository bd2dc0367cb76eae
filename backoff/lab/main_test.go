package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A run prints every table and draws every plot.
func TestRun(t *testing.T) {
	var out, complaints bytes.Buffer
	dir := filepath.Join(t.TempDir(), "plots")
	require.NoError(t, run([]string{"-seeds", "1", "-phones", "2000", "-o", dir}, &out, &complaints))
	assert.Empty(t, complaints.String())
	assert.Equal(t, 8, strings.Count(out.String(), "\n## ")+1)
	for line := range strings.Lines(out.String()) {
		assert.NotContains(t, line, "%!")
		assert.NotContains(t, line, "NaN")
	}
	var names []string
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		names = append(names, f.Name())
		svg, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		assert.Less(t, len(svg), 100_000, f.Name())
		assert.NotContains(t, string(svg), "NaN", f.Name())
		assert.Contains(t, string(svg), "sans-serif", f.Name())
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := d.Token(); err != nil {
				require.True(t, errors.Is(err, io.EOF), "%s: %v", f.Name(), err)
				break
			}
		}
	}
	assert.Equal(t, []string{"herd-decorrelated.svg", "herd-equal.svg", "herd-full.svg", "herd-none.svg", "herd.svg",
		"phones.svg", "through.svg"}, names)
}

func TestRunRefusesNonsense(t *testing.T) {
	for _, args := range [][]string{{"-seeds", "0"}, {"-phones", "-1"}, {"-x"}, {"herd"}} {
		var out, complaints bytes.Buffer
		assert.Error(t, run(args, &out, &complaints), "%q", args)
		assert.Empty(t, out.String())
		assert.Contains(t, complaints.String(), "-seeds", "%q: the usage", args)
	}
	var out bytes.Buffer
	assert.NoError(t, run([]string{"-h"}, &out, io.Discard))
}

// The plots of all strategies are on the same axes, whatever a run comes to.
func TestLoadPlotsHaveTheSameAxes(t *testing.T) {
	for _, s := range strategies() {
		h := theHerd(s.delay)
		for range 20 {
			p, err := loadPlot(h, s.title, h.run())
			require.NoError(t, err)
			assert.Equal(t, [4]float64{0, loadSeconds, 0, loadTop}, [4]float64{p.X.Min, p.X.Max, p.Y.Min, p.Y.Max}, s.name)
		}
	}
}
