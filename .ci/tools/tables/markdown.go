package main

// This file holds the layout of the tables.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchunit"
)

const (
	absent    = "-"
	separator = " · "
)

// markdown is all of it, from the heading on.
func (all *results) markdown(benchtime string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s, GOMAXPROCS %s, %s; medians of %d rounds of %s.\n", all.pkg, all.platform, all.procs,
		all.goVersion, all.rounds, benchtime)
	b.WriteString("A cell is the ratio of the time to that of the floor in the same round, and what one operation takes.\n")
	for _, t := range all.tables {
		fmt.Fprintf(&b, "\n### %s\n\n", t.name)
		row(&b, append([]string{"impl"}, t.columns...))
		row(&b, slices.Repeat([]string{"---"}, 1+len(t.columns)))
		for _, impl := range t.impls() {
			cells := []string{cmp.Or(impl, absent)}
			for _, column := range t.columns {
				cells = append(cells, t.text(place{column, impl}, all.rounds))
			}
			row(&b, cells)
		}
	}
	return b.String()
}

func row(b *strings.Builder, cells []string) {
	for i, c := range cells {
		// A benchmark without keys has a column without a name.
		cells[i] = strings.ReplaceAll(cmp.Or(c, " "), "|", `\|`)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

// impls are the rows: the floors, then the rest from the fastest on, as the first
// column that it has a ratio in shows it.
func (t *table) impls() []string {
	names := map[string]float64{}
	for at := range t.cells {
		names[at.impl] = t.rank(at.impl)
	}
	return slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(names[a], names[b]), cmp.Compare(a, b))
	})
}

func (t *table) rank(impl string) float64 {
	if slices.Contains(floors, impl) {
		return -1
	}
	for _, column := range t.columns {
		if at := (place{column, impl}); t.cells[at] != nil {
			if ratio, ok := t.ratio(at); ok {
				return ratio
			}
		}
	}
	return math.Inf(1)
}

// text is one cell. Where a benchmark is missing from some of the rounds it says
// so.
func (t *table) text(at place, rounds int) string {
	c := t.cells[at]
	if c == nil {
		return absent
	}
	var parts []string
	if ratio, ok := t.ratio(at); ok {
		parts = append(parts, fmt.Sprintf("%.2f", ratio))
	}
	for _, unit := range c.units {
		parts = append(parts, amount(c.median(unit), unit))
	}
	if n := len(c.rounds); n < rounds {
		parts = append(parts, fmt.Sprintf("%d of %d rounds", n, rounds))
	}
	return strings.Join(parts, separator)
}

// amount writes v with its unit, of which "per operation" goes without saying.
func amount(v float64, unit string) string {
	unit = strings.TrimSuffix(unit, "/op")
	switch {
	case v == 0:
		return "0 " + unit
	case unit == "sec":
		return benchunit.Scale(v, benchunit.Decimal) + "s"
	case strings.HasPrefix(unit, "B"): // B/entry, B/s
		return benchunit.Scale(v, benchunit.Binary) + unit
	case benchunit.ClassOf(unit) == benchunit.Binary: // peak-heap-B
		return benchunit.Scale(v, benchunit.Binary) + " " + unit
	case v >= 10_000:
		return benchunit.Scale(v, benchunit.Decimal) + " " + unit
	}
	return fmt.Sprintf("%.4g %s", v, unit)
}
