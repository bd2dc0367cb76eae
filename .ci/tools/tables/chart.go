package main

// This file holds the chart: one column of one table as bars.

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/perf/benchunit"
)

// column finds what is named as Call/path=client.
func (all *results) column(of string) (t *table, column string, ok bool) {
	name, column, _ := strings.Cut(of, "/")
	column = strings.ReplaceAll(column, "/", " ")
	for _, t := range all.tables {
		if t.name == name && slices.Contains(t.columns, column) {
			return t, column, true
		}
	}
	return nil, "", false
}

// chart draws the times of a column as an SVG, in which ours stand out.
func (all *results) chart(t *table, column string, ours []string) ([]byte, error) {
	var bars []bar
	longest := 0.0
	for _, impl := range t.impls() {
		c := t.cells[place{column, impl}]
		if c == nil {
			continue
		}
		b := bar{Name: impl, time: c.median(seconds), Y: barTop + len(bars)*barStep, Ours: slices.Contains(ours, impl)}
		b.Label = benchunit.Scale(b.time, benchunit.Decimal) + "s"
		if allocs := c.median("allocs/op"); allocs > 0 {
			b.Label += fmt.Sprintf(", %.0f allocations", allocs)
		}
		longest = max(longest, b.time)
		bars = append(bars, b)
	}
	for i := range bars {
		bars[i].Width = int(bars[i].time / longest * barWidth)
	}
	var out bytes.Buffer
	err := svg.Execute(&out, map[string]any{
		"Title": t.name + ", " + column, "Platform": all.platform, "Go": all.goVersion,
		"Bars": bars, "Height": barTop + len(bars)*barStep + 8,
	})
	return out.Bytes(), err
}

// bar is one impl, at a height in pixels.
type bar struct {
	Name, Label string
	time        float64
	Y, Width    int
	Ours        bool
}

const (
	barTop   = 44
	barStep  = 24
	barWidth = 360
)

var svg = template.Must(template.New("").Funcs(template.FuncMap{
	"behind": func(b bar) int { return 176 + b.Width },
}).Parse(`<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{{.Height}}" font-family="Arial, Helvetica, sans-serif" font-size="13" fill="#222">
<rect width="100%" height="100%" fill="#fff"/>
<text x="8" y="18" font-size="15">{{.Title | html}}</text>
<text x="8" y="35" font-size="11" fill="#555">{{.Platform | html}}, {{.Go | html}}</text>
{{- range .Bars}}
<text x="162" y="{{.Y}}" dy="14" text-anchor="end"{{if .Ours}} font-weight="bold"{{end}}>{{.Name | html}}</text>
<rect x="170" y="{{.Y}}" width="{{.Width}}" height="18" fill="{{if .Ours}}#1f6fb5{{else}}#b9bfc7{{end}}"/>
<text x="{{behind .}}" y="{{.Y}}" dy="14">{{.Label | html}}</text>
{{- end}}
</svg>
`))
