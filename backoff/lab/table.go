package main

// Tables, in Markdown, and the figures in them.

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// table is a heading, what there is to say about the experiment, and its rows, the first of which is the head.
type table struct {
	title, text string
	rows        [][]string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// write prints t with its columns aligned, so that it can be read as it is.
func (t *table) write(w io.Writer) error {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 3)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", t.title, strings.TrimSpace(t.text))
	for i, row := range t.rows {
		for k, cell := range row {
			fmt.Fprintf(&b, "| %s%s ", cell, strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell)))
		}
		b.WriteString("|\n")
		if i == 0 {
			for _, width := range widths {
				b.WriteString("|" + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
		}
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// figures are what one figure came to over several runs.
type figures struct{ mean, low, high float64 }

// over takes a figure of each run.
func over[R any](runs []R, figure func(R) float64) figures {
	all := make([]float64, len(runs))
	sum := 0.0
	for i, r := range runs {
		all[i] = figure(r)
		sum += all[i]
	}
	return figures{sum / float64(len(all)), slices.Min(all), slices.Max(all)}
}

// show gives the mean and the range, or one number if all runs agree.
func (f figures) show(digits int) string {
	mean, low, high := decimal(f.mean, digits), decimal(f.low, digits), decimal(f.high, digits)
	if low == high {
		return mean
	}
	return fmt.Sprintf("%s [%s, %s]", mean, low, high)
}

func decimal(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }
