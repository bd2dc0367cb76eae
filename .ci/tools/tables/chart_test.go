package main

// This file tests the chart: a bar for each impl of one column, the longest for
// the slowest.

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestChart(t *testing.T) {
	all := &results{goVersion: "go1.99"}
	for _, r := range rounds {
		if err := all.add(strings.NewReader(r)); err != nil {
			t.Fatal(err)
		}
	}
	for _, missing := range []string{"Call", "Call/path=else", "Other/path=client"} {
		if _, _, ok := all.column(missing); ok {
			t.Errorf("%s was found", missing)
		}
	}
	calls, column, ok := all.column("Call/path=roundtrip")
	if !ok {
		t.Fatal("not found")
	}
	svg, err := all.chart(calls, column, []string{"ours"})
	if err != nil {
		t.Fatal(err)
	}
	text := string(svg)
	for _, want := range []string{
		">Call, path=roundtrip<", ">linux/amd64, A Processor, go1.99<",
		`y="44" dy="14" text-anchor="end">floor<`, `y="44" width="187" height="18" fill="#b9bfc7"`, ">52.00ns, 1 allocations<",
		`y="68" dy="14" text-anchor="end">floor+8s<`, `y="68" width="360" height="18" fill="#b9bfc7"`,
		`y="92" dy="14" text-anchor="end" font-weight="bold">ours<`, `y="92" width="259" height="18" fill="#1f6fb5"`, ">72.00ns<",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "theirs") {
		t.Error("an impl of another column is there")
	}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
