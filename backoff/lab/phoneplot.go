package main

// The phones' plot: the load before and after the service is back.

import (
	"time"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// drawPhones writes the load that some policies make, on a service that collapses when it is overloaded.
func drawPhones(dir string, phones int) error {
	scale := float64(phones) / 200_000
	top, right := 36_000*scale, 420.0
	p := newPlot("Attempts per second of "+thousands(float64(phones))+" phones; overload makes the service slower",
		"seconds since the service went down", "attempts per second", right, top)
	p.X.Tick.Marker, p.Y.Tick.Marker = marks(60, right), marks(5_000*scale, top)
	down := theFleet(phonePolicy{}, phones).outage.Seconds()
	if err := band(p, down, top); err != nil {
		return err
	}
	drawn := []struct {
		policy, name string
	}{
		{"at once, until it works", "at once, until it works"},
		{"full jitter, 4 attempts", "full jitter, 4 attempts"},
		{"... and a budget per phone that starts at 1", "the same, and a budget that starts at 1"},
		{"no retries", "no retries"},
	}
	for i, d := range drawn {
		for _, policy := range phonePolicies() {
			if policy.name != d.policy {
				continue
			}
			f := theFleet(policy, phones)
			f.collapse = true
			if err := line(p, d.name, lineColors[i], false, perSecond(f.run())); err != nil {
				return err
			}
		}
	}
	capacity := plotter.XYs{{X: down, Y: 4500 * scale}, {X: right, Y: 4500 * scale}}
	if err := line(p, "what the service can take", ink, true, capacity); err != nil {
		return err
	}
	p.Legend.YOffs = vg.Points(-50) // below the line that stays up
	if err := note(p, down-3, 0.6*top, text.XRight, "service down"); err != nil {
		return err
	}
	return save(dir, "phones", vg.Points(280), p)
}

// perSecond is the load of a run, a point for every two seconds.
func perSecond(r *rush) plotter.XYs {
	const span = 2 * time.Second
	var xys plotter.XYs
	for from := time.Duration(0); from < r.outage+r.watched; from += span {
		sum := 0
		for _, n := range r.load[from/phoneStep : (from+span)/phoneStep] {
			sum += n
		}
		xys = append(xys, plotter.XY{X: (from + span/2).Seconds(), Y: float64(sum) / span.Seconds()})
	}
	return xys
}
