package main

// The herd's plots: the load that it makes, and when its clients get through.

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// The axes of all load plots: seconds, and attempts per 100 ms. Only the waves without jitter go on beyond, and the plot
// says so.
const (
	loadSeconds = 15
	loadTop     = 1150
)

// drawHerd writes one run of each strategy: its load in a plot of its own, all of them together, and who is through.
func drawHerd(dir string) error {
	var together []*plot.Plot
	var runs []*stampede
	for _, s := range strategies() {
		h := theHerd(s.delay)
		run := h.run()
		runs = append(runs, run)
		one, err := loadPlot(h, s.title, run)
		if err != nil {
			return err
		}
		if err := save(dir, "herd-"+s.name, vg.Points(260), one); err != nil {
			return err
		}
		together = append(together, one)
	}
	for i, p := range together {
		if i > 0 {
			p.Legend = plot.NewLegend()
		}
		if i < len(together)-1 {
			p.X.Label.Text = ""
		}
	}
	if err := save(dir, "herd", vg.Points(185), together...); err != nil {
		return err
	}
	return drawThrough(dir, runs)
}

func loadPlot(h herd, title string, run *stampede) (*plot.Plot, error) {
	p := newPlot(fmt.Sprintf("%s: busiest 100 ms %s retries, last client through at %.1f s",
		title, thousands(float64(run.busiest)), run.last().Seconds()),
		"seconds since all clients failed together", "attempts per 100 ms", loadSeconds, loadTop)
	p.X.Tick.Marker, p.Y.Tick.Marker = marks(1, loadSeconds), marks(250, loadTop)
	if err := band(p, h.outage.Seconds(), loadTop); err != nil {
		return nil, err
	}
	total := make([]int, len(run.served))
	for slot := range total {
		total[slot] = run.served[slot] + run.rejected[slot]
	}
	perSecond := 1 / h.slot.Seconds()
	if err := bars(p, "refused", orange, total, perSecond); err != nil {
		return nil, err
	}
	if err := bars(p, "served", blue, run.served, perSecond); err != nil {
		return nil, err
	}
	capacity := plotter.XYs{{X: h.outage.Seconds(), Y: float64(h.capacity)}, {X: loadSeconds, Y: float64(h.capacity)}}
	if err := line(p, "what the server can take", ink, true, capacity); err != nil {
		return nil, err
	}
	if err := note(p, h.outage.Seconds()-0.1, 0.93*loadTop, text.XRight, "server down"); err != nil {
		return nil, err
	}
	return p, markLast(p, h, run.last().Seconds())
}

// markLast points at the last client, or says where it is.
func markLast(p *plot.Plot, h herd, last float64) error {
	if last > loadSeconds {
		every := h.answer + h.delay(math.MaxInt, 0)
		return note(p, 8.2, 0.45*loadTop, text.XLeft,
			fmt.Sprintf("and so on: a wave every %.2f s until %.1f s", every.Seconds(), last))
	}
	if err := line(p, "", ink, false, plotter.XYs{{X: last, Y: 0}, {X: last, Y: 0.2 * loadTop}}); err != nil {
		return err
	}
	return note(p, last+0.1, 0.2*loadTop, text.XLeft, "last client")
}

// drawThrough shows the whole run, to the last client without jitter.
func drawThrough(dir string, runs []*stampede) error {
	const right, top = 75, 1050
	setup := theHerd(nil)
	p := newPlot("Clients through, of 1,000", "seconds since all clients failed together", "clients", right, top)
	p.X.Tick.Marker, p.Y.Tick.Marker = marks(5, right), marks(250, top)
	if err := band(p, setup.outage.Seconds(), top); err != nil {
		return err
	}
	for i, s := range strategies() {
		xys := plotter.XYs{{X: 0, Y: 0}}
		for slot, sum := 0, 0; slot < len(runs[i].served); slot++ {
			sum += runs[i].served[slot]
			xys = append(xys, plotter.XY{X: float64(slot+1) * setup.slot.Seconds(), Y: float64(sum)})
		}
		xys = append(xys, plotter.XY{X: right, Y: xys[len(xys)-1].Y})
		if err := line(p, s.title, lineColors[i], false, xys); err != nil {
			return err
		}
	}
	p.Legend.Top = false
	p.Legend.YOffs = vg.Points(8)
	return save(dir, "through", vg.Points(260), p)
}
