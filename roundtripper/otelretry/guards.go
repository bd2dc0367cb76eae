package otelretry

// This file holds the gauges of what many Transports share: budgets and
// breakers.

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
)

// RegisterBudget makes the tokens of b, for each host where it has them apart, a
// gauge that is read at each collection. Register a budget once, however many
// Transports it serves, and give it up with the registration's Unregister: until
// then the meter provider keeps b. Of more than MaxHosts hosts those are told
// apart that have the fewest tokens, and the fewest of the others is "_OTHER". A
// nil b, as in a policy that has none, is an error.
func RegisterBudget(b *budget.Budget, config Config) (metric.Registration, error) {
	if b == nil {
		return nil, errors.New("otelretry: no budget to register")
	}
	config = config.withDefaults()
	meter := config.meter()
	tokens, err := meter.Float64ObservableGauge("rebound.client.budget.tokens", metric.WithUnit("{token}"),
		metric.WithDescription("Retries that can be afforded at the moment."))
	if err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, h := range poorest(b.Snapshot(), config.MaxHosts) {
			o.ObserveFloat64(tokens, h.tokens, keyed(config, h.key))
		}
		return nil
	}, tokens)
}

type purse struct {
	key    string
	tokens float64
}

// poorest are the at most most hosts with the fewest tokens, and one that stands
// for the others.
func poorest(tokens map[string]float64, most int) []purse {
	all := make([]purse, 0, len(tokens))
	for key, n := range tokens {
		all = append(all, purse{key, n})
	}
	slices.SortFunc(all, func(a, b purse) int {
		return cmp.Or(cmp.Compare(a.tokens, b.tokens), cmp.Compare(a.key, b.key))
	})
	if len(all) > most {
		all = all[:most+1]
		all[most].key = other
	}
	return all
}

// RegisterBreaker makes the states of the breakers of g a metric that is read at
// each collection: for each host and each state, 1 if the breaker is in it and 0
// if it is not, so that a sum over hosts is the number of breakers in that
// state. Register a group once, however many Transports it serves, and give it up
// with the registration's Unregister: until then the meter provider keeps g. Of
// more than MaxHosts hosts those are told apart whose breakers are not closed,
// as far as there is room, and the others are counted together as "_OTHER". A
// nil g, as in a policy that has none, is an error.
func RegisterBreaker(g *breaker.Group, config Config) (metric.Registration, error) {
	if g == nil {
		return nil, errors.New("otelretry: no breakers to register")
	}
	config = config.withDefaults()
	meter := config.meter()
	states, err := meter.Int64ObservableUpDownCounter("rebound.client.breaker.state", metric.WithUnit("{breaker}"),
		metric.WithDescription("Breakers in each state."))
	if err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, h := range worst(g.Snapshot(), config.MaxHosts) {
			for state, n := range h.breakers {
				o.ObserveInt64(states, n, keyed(config, h.key, attribute.String(keyState, breaker.State(state).String())))
			}
		}
		return nil
	}, states)
}

// tally is how many breakers are in which state.
type tally struct {
	key      string
	breakers [breaker.HalfOpen + 1]int64
}

// worst are at most most hosts, those whose breakers are not closed before
// others, and one that stands for the rest.
func worst(all []breaker.Status, most int) []tally {
	slices.SortStableFunc(all, func(a, b breaker.Status) int {
		return cmp.Compare(min(b.State, breaker.Open), min(a.State, breaker.Open))
	})
	tallies := make([]tally, 0, min(len(all), most+1))
	for i, s := range all {
		switch {
		case i < most:
			tallies = append(tallies, tally{key: s.Key})
		case i == most:
			tallies = append(tallies, tally{key: other})
		}
		if s.State < breaker.Closed || s.State > breaker.HalfOpen {
			continue // forgotten at this very moment
		}
		tallies[len(tallies)-1].breakers[s.State]++
	}
	return tallies
}

// keyed are the attributes of what is kept under key; with an empty key, those
// of everything.
func keyed(config Config, key string, more ...attribute.KeyValue) metric.MeasurementOption {
	as := append(more, config.Attributes...)
	if key != "" {
		as = hostOfKey(key).append(as)
	}
	return metric.WithAttributeSet(attribute.NewSet(as...))
}

// hostOfKey is the host that key names as a Transport does: scheme, name and
// port, with no brackets around an IPv6 address, so that it is no URL. What else
// the key of a guard used without a Transport may be is a name as it stands.
func hostOfKey(key string) host {
	if _, service, ok := strings.Cut(key, "://"); ok {
		if colon := strings.LastIndexByte(service, ':'); colon >= 0 {
			if port, err := strconv.ParseUint(service[colon+1:], 10, 16); err == nil {
				return host{strings.Trim(service[:colon], "[]"), int(port)}
			}
		}
	}
	return host{address: key}
}
