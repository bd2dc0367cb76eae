package main

// Plots, as SVG.

import (
	"bytes"
	"image/color"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The colours: told apart by those who see red and green alike, and on paper.
var (
	blue   = color.NRGBA{R: 0x1f, G: 0x6f, B: 0xb4, A: 0xff}
	orange = color.NRGBA{R: 0xe6, G: 0x8a, B: 0x3c, A: 0xff}
	teal   = color.NRGBA{R: 0x11, G: 0x8a, B: 0x7e, A: 0xff}
	red    = color.NRGBA{R: 0xb2, G: 0x22, B: 0x2f, A: 0xff}
	ink    = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	shade  = color.NRGBA{R: 0xee, G: 0xee, B: 0xf2, A: 0xff}
)

// lineColors are those of the lines of one plot.
var lineColors = []color.Color{red, blue, orange, teal}

// newPlot is an empty plot with room for x from 0 to right and y from 0 to top. What is added must keep to that, or the
// plots of a comparison would no longer be on the same axes.
func newPlot(title, x, y string, right, top float64) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, right, 0, top
	p.X.Padding, p.Y.Padding = 0, 0
	for style, size := range map[*text.Style]float64{
		&p.Title.TextStyle: 13, &p.X.Label.TextStyle: 11, &p.Y.Label.TextStyle: 11,
		&p.X.Tick.Label: 10, &p.Y.Tick.Label: 10, &p.Legend.TextStyle: 10,
	} {
		style.Font = sans(size)
		style.Color = ink
	}
	p.Title.Padding = vg.Points(6)
	p.Legend.Top = true
	p.Legend.YOffs = vg.Points(-4)
	p.Legend.XOffs = vg.Points(-6)
	p.Legend.Padding = vg.Points(3)
	p.Legend.ThumbnailWidth = vg.Points(16)
	return p
}

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

// marks puts a tick with a label at every so many units.
func marks(every, last float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for at := 0.0; at <= last; at += every {
		ticks = append(ticks, plot.Tick{Value: at, Label: thousands(at)})
	}
	return ticks
}

// thousands writes a round number with a comma.
func thousands(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if len(s) > 3 && x == float64(int(x)) {
		s = s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return s
}

// band shades the plot from left to right.
func band(p *plot.Plot, right, top float64) error {
	b, err := plotter.NewPolygon(plotter.XYs{{X: 0, Y: 0}, {X: right, Y: 0}, {X: right, Y: top}, {X: 0, Y: top}})
	if err != nil {
		return err
	}
	b.Color = shade
	b.LineStyle.Width = 0
	p.Add(b)
	return nil
}

// line adds a line and its name.
func line(p *plot.Plot, name string, c color.Color, dashed bool, xys plotter.XYs) error {
	l, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	l.Color = c
	l.Width = vg.Points(1.5)
	if dashed {
		l.Width = vg.Points(1)
		l.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	p.Add(l)
	if name != "" {
		p.Legend.Add(name, l)
	}
	return nil
}

// bars adds what happened slot by slot, filled down to the axis, and its name. x is in slots, of which so many are a
// second.
func bars(p *plot.Plot, name string, c color.Color, counts []int, perSecond float64) error {
	xys := make(plotter.XYs, 0, len(counts)+1)
	for slot, n := range counts {
		x := float64(slot) / perSecond
		if x >= p.X.Max {
			break
		}
		xys = append(xys, plotter.XY{X: x, Y: float64(n)}, plotter.XY{X: x + 1/perSecond, Y: float64(n)})
	}
	area, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	area.Width = 0
	area.FillColor = c
	p.Add(area)
	p.Legend.Add(name, swatch{c})
	return nil
}

// note writes text beside the point x, y: to the right of it if align is [text.XLeft], to the left if [text.XRight].
func note(p *plot.Plot, x, y float64, align text.XAlignment, s string) error {
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{s}})
	if err != nil {
		return err
	}
	labels.TextStyle[0].Font = sans(10)
	labels.TextStyle[0].Color = ink
	labels.TextStyle[0].XAlign = align
	labels.TextStyle[0].YAlign = text.YCenter
	p.Add(labels)
	return nil
}

// swatch is a patch of colour in a legend.
type swatch struct{ color.Color }

func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.Color, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// save draws plots below each other, on common axes, into a file.
func save(dir, name string, height vg.Length, plots ...*plot.Plot) error {
	const width = 720
	canvas := vgsvg.New(vg.Points(width), height*vg.Length(len(plots)))
	all := draw.New(canvas)
	all.FillPolygon(color.White, []vg.Point{all.Min, {X: all.Max.X, Y: all.Min.Y}, all.Max, {X: all.Min.X, Y: all.Max.Y}})
	rows := make([][]*plot.Plot, len(plots))
	for i, p := range plots {
		rows[i] = []*plot.Plot{p}
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadY: vg.Points(10),
		PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(14)}
	for i, row := range plot.Align(rows, tiles, all) {
		plots[i].Draw(row[0])
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// Few systems have Liberation Sans. Arial is as wide; without a second choice a browser takes its serif face.
	named := bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans, Arial, Helvetica, sans-serif;"))
	return os.WriteFile(filepath.Join(dir, name+".svg"), named, 0o644)
}
