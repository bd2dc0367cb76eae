package main

// This file holds what was measured, and the medians of it.

import (
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// results are the rounds of one package.
type results struct {
	goVersion string
	pkg       string
	platform  string // system, architecture and processor
	procs     string
	rounds    int
	tables    []*table // in the order in which they came
}

// table is one Benchmark function.
type table struct {
	name    string
	columns []string // in the order in which they came
	cells   map[place]*cell
}

type place struct{ column, impl string }

// cell is one benchmark. It need not be in every round, nor report each unit in
// each.
type cell struct {
	units  []string
	rounds map[int]map[string]float64 // by round and unit
}

const seconds = "sec/op" // what ns/op is read as

// add reads what a test binary printed in one round.
func (all *results) add(r io.Reader) error {
	in := benchfmt.NewReader(r, "round")
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return rec
		case *benchfmt.Result:
			all.note(rec)
		}
	}
	all.rounds++
	return in.Err()
}

func (all *results) note(rec *benchfmt.Result) {
	all.pkg = rec.GetConfig("pkg")
	all.platform = rec.GetConfig("goos") + "/" + rec.GetConfig("goarch") + ", " + rec.GetConfig("cpu")
	name, parts := rec.Name.Parts()
	procs, impl, column := "1", "", []string(nil)
	for _, p := range parts {
		part := string(p)
		if n, ok := strings.CutPrefix(part, "-"); ok {
			procs = n
		} else if i, ok := strings.CutPrefix(part, "/impl="); ok {
			impl = i
		} else {
			column = append(column, part[1:])
		}
	}
	all.procs = procs
	c := all.table(string(name)).cell(place{strings.Join(column, " "), impl})
	values := map[string]float64{}
	for _, v := range rec.Values {
		values[v.Unit] = v.Value
		if !slices.Contains(c.units, v.Unit) {
			c.units = append(c.units, v.Unit)
		}
	}
	c.rounds[all.rounds] = values
}

func (all *results) table(name string) *table {
	for _, t := range all.tables {
		if t.name == name {
			return t
		}
	}
	t := &table{name: name, cells: map[place]*cell{}}
	all.tables = append(all.tables, t)
	return t
}

func (t *table) cell(at place) *cell {
	if t.cells[at] == nil {
		t.cells[at] = &cell{rounds: map[int]map[string]float64{}}
	}
	if !slices.Contains(t.columns, at.column) {
		t.columns = append(t.columns, at.column)
	}
	return t.cells[at]
}

// floors are the impls that ratios are held against, the first that there is in
// a column.
var floors = []string{"floor+8s", "floor"}

// ratio is the median of the ratios to the column's floor, each of one round;
// ok is false if there is no round that has both.
func (t *table) ratio(at place) (median float64, ok bool) {
	c := t.cells[at]
	for _, name := range floors {
		floor := t.cells[place{at.column, name}]
		if floor == nil {
			continue
		}
		var ratios []float64
		for round, values := range c.rounds {
			own, ok := values[seconds]
			if f := floor.rounds[round][seconds]; ok && f > 0 {
				ratios = append(ratios, own/f)
			}
		}
		return medianOf(ratios), len(ratios) > 0
	}
	return 0, false
}

// median is that of one unit, over the rounds that have it.
func (c *cell) median(unit string) float64 {
	var values []float64
	for _, round := range c.rounds {
		if v, ok := round[unit]; ok {
			values = append(values, v)
		}
	}
	return medianOf(values)
}

func medianOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
