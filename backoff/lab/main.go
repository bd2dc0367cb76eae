// Command lab simulates what the documentation of this module's packages says of backoff, budgets, breakers, layers and
// phones, and prints the figures: tables in Markdown on the standard output, plots as SVG in a folder.
//
//	go run . [-seeds n] [-phones n] [-o folder]
//
// It calls the packages themselves wherever they can be used in virtual time: all waits are those of package backoff,
// all budgets but gRPC's are those of package budget, and layers are Transports of package roundtripper. Package breaker
// reads the clock. Its rule is simulated, and the tests hold the two against each other.
//
// Package backoff draws from the generator of math/rand/v2, which takes no seed. So -seeds is a number of runs, no two
// invocations print the same, and what counts are the means and the ranges. The plots show one run each.
//
// It is a module of its own, so that nobody who uses backoff downloads a plotting library.
package main

// The program, from its arguments to its exit status.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab", flag.ContinueOnError)
	flags.SetOutput(stderr)
	seeds := flags.Int("seeds", 100,
		"`runs` of the herd; a third as many of its variants and of the contention, a hundredth of the phones")
	phones := flags.Int("phones", 200_000, "`phones` in the fleet; of few the rates are right, but not the time to recover")
	folder := flags.String("o", "plots", "`folder` for the plots, made if need be; empty: none are drawn")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *seeds < 1 || *phones < 1 || flags.NArg() > 0 {
		flags.Usage()
		return errors.New("-seeds and -phones are at least 1, and nothing follows the flags")
	}
	if err := report(stdout, *seeds, *phones); err != nil || *folder == "" {
		return err
	}
	if err := os.MkdirAll(*folder, 0o755); err != nil {
		return err
	}
	if err := drawHerd(*folder); err != nil {
		return err
	}
	return drawPhones(*folder, *phones)
}

// report runs the experiments, one after the other.
func report(w io.Writer, seeds, phones int) error {
	some, few := max(1, seeds/3), max(1, seeds/100)
	for _, experiment := range []func() (*table, error){
		func() (*table, error) { return jitterTable(seeds), nil },
		func() (*table, error) { return outageTable(some), nil },
		func() (*table, error) { return guardedTable(some), nil },
		func() (*table, error) { return sharedTable(some), nil },
		func() (*table, error) { return contentionTable(some), nil },
		func() (*table, error) { return budgetTable(), nil },
		layersTable,
		func() (*table, error) { return phonesTable(few, phones), nil },
	} {
		t, err := experiment()
		if err != nil {
			return err
		}
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}
