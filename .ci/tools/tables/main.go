// Command tables runs the benchmarks of one or more modules, several rounds of
// them, and prints what it finds as Markdown: for each benchmark a table with a
// row for each impl and a column for what else its name says.
//
//	tables [flags] directory...
//
// With -chart it also draws one column of one table, the one that -of names, as
// an SVG.
//
// A directory is a package with benchmarks, named key=value as in
// BenchmarkCall/path=client/impl=floor. Figures are medians over the rounds. A
// ratio is the median of the ratios to the floor within each round, so that a
// machine that is slow for a while is slow for both; the floor is
// impl=floor+8s where there is one, and impl=floor where there is none.
//
// The exit status is 1 when something fails, a benchmark included; what has been
// printed by then holds.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("tables", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rounds := flags.Int("rounds", 5, "how often to run everything")
	benchtime := flags.String("benchtime", "100ms", "how long one benchmark runs in each round, as for go test")
	bench := flags.String("bench", ".", "which benchmarks, as for go test")
	chart := flags.String("chart", "", "`file` for a chart; empty: none")
	of := flags.String("of", "Call/path=client", "what the chart is of")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || flags.NArg() == 0 {
		return errors.New("at least one round and one directory are needed")
	}
	empty := true
	for _, dir := range flags.Args() {
		all, err := measure(dir, *rounds, *benchtime, *bench, stderr)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if len(all.tables) > 0 {
			empty = false
			fmt.Fprintf(stdout, "%s\n", all.markdown(*benchtime))
		}
		if t, column, ok := all.column(*of); ok && *chart != "" {
			svg, err := all.chart(t, column, ours)
			if err == nil {
				err = os.WriteFile(*chart, svg, 0o666)
			}
			if err != nil {
				return err
			}
			*chart = ""
		}
	}
	if *chart != "" {
		return fmt.Errorf("nothing was measured that is called %s", *of)
	}
	if empty {
		return fmt.Errorf("no benchmark matches %q", *bench)
	}
	return nil
}

// ours are the impls that stand out in a chart.
var ours = []string{"standard", "headless", "zero", "rebound", "rebound-v1", "rebound-v1+v2", "rebound-memory"}
