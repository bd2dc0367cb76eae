package main

// The scenarios: what goes wrong in production, and what a correct receiver makes of it.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
)

// scenario is one thing that can happen to a receiver.
type scenario struct {
	name string
	sent string
	want string // what a correct receiver answers, in words
	run  func(context.Context, *lab) (got string, ok bool)
}

// findScenarios reads a list of names.
func findScenarios(list string) ([]scenario, error) {
	all := scenarios()
	if strings.TrimSpace(list) == "all" {
		return all, nil
	}
	var found []scenario
	for name := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(name) == "all" {
			return nil, errors.New("all has no other names beside it")
		}
		i := slices.IndexFunc(all, func(s scenario) bool { return s.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("no scenario is called %q; -h lists them", name)
		}
		found = append(found, all[i])
	}
	return found, nil
}

// scenarios are all of them, the ones that every receiver meets first.
func scenarios() []scenario {
	return slices.Concat(everyday(), clocks(), forgeries(), bodies(), contracts(), requests())
}

// one is a scenario of one request, which is answered with one status.
func one(name, sent string, status int, make func(*lab) *message) scenario {
	return scenario{name, sent, fmt.Sprint(status), func(ctx context.Context, l *lab) (string, bool) {
		a := l.send(ctx, make(l))
		return a.String(), a.status == status
	}}
}

// good is a scenario of one request, which is taken.
func good(name, sent string, make func(*lab) *message) scenario {
	return scenario{name, sent, "2xx", func(ctx context.Context, l *lab) (string, bool) {
		a := l.send(ctx, make(l))
		return a.String(), a.taken()
	}}
}

// then is a scenario of two: both answers are shown, and each must be right.
func then(name, sent, want string, run func(context.Context, *lab) (first, second answer), ok func(first, second answer) bool) scenario {
	return scenario{name, sent, want, func(ctx context.Context, l *lab) (string, bool) {
		first, second := run(ctx, l)
		return first.String() + ", then " + second.String(), ok(first, second)
	}}
}

// everyday is what happens to a receiver every day.
func everyday() []scenario {
	return []scenario{
		good("delivery", "one event, as it should be", (*lab).fresh),
		good("unknown-event", "an event of a type that nobody knows", func(l *lab) *message {
			return l.carry(madeUp("evt_"+roundtripper.NewKey(), "rehearsal.never.heard.of", ""))
		}),
		then("duplicate", "the same delivery again, signed anew", "2xx, then 2xx, duplicate",
			func(ctx context.Context, l *lab) (answer, answer) {
				m := l.fresh()
				first := l.send(ctx, m)
				return first, l.send(ctx, m.sign(l.secret, time.Now().Add(time.Second)))
			},
			func(first, second answer) bool { return first.taken() && second.known() }),
		then("replay", "the same event in a new delivery", "2xx, then 2xx",
			func(ctx context.Context, l *lab) (answer, answer) {
				m := l.fresh()
				return l.send(ctx, m), l.send(ctx, l.carry(m.body))
			},
			func(first, second answer) bool { return first.taken() && second.taken() }),
		{"twins", "ten of one delivery at once", "one 2xx; the others 409, or duplicate after it", twins},
		then("hang-up", "a sender that does not wait, and sends again", "2xx",
			func(ctx context.Context, l *lab) (answer, answer) {
				m := l.fresh()
				m.hangUp = true
				first := l.send(ctx, m)
				m.hangUp = false
				return first, l.settle(ctx, m)
			},
			func(_, second answer) bool { return second.status/100 == 2 }),
		then("cut-off", "half a body, then the whole delivery", "nothing or 400, then 2xx",
			func(ctx context.Context, l *lab) (answer, answer) {
				m := l.fresh()
				m.half = true
				first := l.send(ctx, m)
				m.half = false
				return first, l.settle(ctx, m)
			},
			func(first, second answer) bool {
				return (first.err != nil || first.status == http.StatusBadRequest) && second.taken()
			}),
		good("slow", "a body with a pause of a second in it", func(l *lab) *message {
			m := l.fresh()
			m.pause = time.Second
			return m
		}),
	}
}

// leeway is how much sooner than the answer that it follows one may arrive over another connection.
const leeway = 100 * time.Millisecond

// twins sends one delivery ten times at once. A duplicate that is acknowledged while the first is still in work is lost
// when that one fails.
func twins(ctx context.Context, l *lab) (string, bool) {
	m := l.fresh()
	answers := make([]answer, 10)
	at := make([]time.Time, len(answers))
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i], at[i] = l.send(ctx, m), time.Now() })
	}
	all.Wait()
	counts := map[string]int{}
	var order []string
	taken, right := 0, true
	var takenAt, knownAt time.Time // the first one known
	for i, a := range answers {
		switch {
		case a.taken():
			taken, takenAt = taken+1, at[i]
		case a.known() && (knownAt.IsZero() || at[i].Before(knownAt)):
			knownAt = at[i]
		}
		right = right && (a.status/100 == 2 || a.status == http.StatusConflict)
		if counts[a.String()]++; counts[a.String()] == 1 {
			order = append(order, a.String())
		}
	}
	slices.Sort(order)
	for i, text := range order {
		order[i] = fmt.Sprintf("%d x %s", counts[text], text)
	}
	got := strings.Join(order, "; ")
	if early := takenAt.Sub(knownAt); taken == 1 && !knownAt.IsZero() && early > leeway {
		return fmt.Sprintf("%s; a duplicate %v too early", got, early.Round(time.Millisecond)), false
	}
	return got, right && taken == 1
}

// known is a scenario of a delivery that has been taken, and comes again as it must not be believed.
func known(name, sent string, again func(*lab, *message)) scenario {
	return then(name, sent, "2xx, then 401",
		func(ctx context.Context, l *lab) (answer, answer) {
			m := l.fresh()
			first := l.send(ctx, m)
			again(l, m)
			return first, l.send(ctx, m)
		},
		func(first, second answer) bool { return first.taken() && second.status == http.StatusUnauthorized })
}

// clocks are deliveries that come at the wrong time.
func clocks() []scenario {
	signedAt := func(off time.Duration) func(*lab) *message {
		return func(l *lab) *message { return l.fresh().sign(l.secret, time.Now().Add(off)) }
	}
	return []scenario{
		good("late", "signed 4 minutes ago", signedAt(-4*time.Minute)),
		one("stale", "signed 6 minutes ago", 401, signedAt(-6*time.Minute)),
		known("stale-duplicate", "a known delivery, signed 6 minutes ago", func(l *lab, m *message) {
			m.sign(l.secret, time.Now().Add(-6*time.Minute))
		}),
		one("future", "signed 6 minutes ahead", 401, signedAt(6*time.Minute)),
		one("milliseconds", "a timestamp in milliseconds", 401, func(l *lab) *message {
			now := time.Now()
			return l.fresh().sign(l.secret, time.Unix(now.UnixMilli(), 0))
		}),
	}
}

// forgeries are deliveries that are not what was signed.
func forgeries() []scenario {
	return []scenario{
		one("newline", "a newline after what was signed", 401, func(l *lab) *message {
			m := l.fresh()
			m.body = append(m.body, '\n')
			return m
		}),
		one("respaced", "the same JSON, spaced in another way", 401, func(l *lab) *message {
			m := l.fresh()
			m.body = []byte(strings.ReplaceAll(string(m.body), `":`, `": `))
			return m
		}),
		one("wrong-secret", "signed with another secret", 401, func(l *lab) *message {
			return l.fresh().sign(roundtripper.NewKey(), time.Now())
		}),
		known("forged-duplicate", "a known delivery, signed with another secret", func(_ *lab, m *message) {
			m.sign(roundtripper.NewKey(), time.Now())
		}),
		one("unsigned", "no signature", 401, func(l *lab) *message {
			m := l.fresh()
			m.header.Del("Webhook-Signature")
			return m
		}),
		one("no-delivery-id", "no delivery ID", 401, func(l *lab) *message {
			m := l.fresh()
			m.header.Del("Webhook-Delivery-Id")
			return m
		}),
		one("stolen", "a good delivery under another delivery ID", 401, func(l *lab) *message {
			m := l.fresh()
			m.header.Set("Webhook-Delivery-Id", "dlv_"+roundtripper.NewKey())
			return m
		}),
		good("rotation", "signed with an old secret and the current one", func(l *lab) *message {
			m := l.fresh()
			now := time.Now()
			_, current, _ := strings.Cut(m.sign(l.secret, now).header.Get("Webhook-Signature"), ",")
			old := m.sign(roundtripper.NewKey(), now).header.Get("Webhook-Signature")
			m.header.Set("Webhook-Signature", old+","+current)
			return m
		}),
		then("other-body", "another body under a known delivery", "2xx, then 422",
			func(ctx context.Context, l *lab) (answer, answer) {
				m := l.fresh()
				first := l.send(ctx, m)
				m.body = append(m.body, '\n')
				return first, l.send(ctx, m.sign(l.secret, time.Now()))
			},
			func(first, second answer) bool {
				return first.taken() && second.status == http.StatusUnprocessableEntity
			}),
	}
}

// limit is the most bytes that a receiver reads.
const limit = 128 << 10

// bodies are bodies at the limits.
func bodies() []scenario {
	return []scenario{
		good("largest", "128 KiB", func(l *lab) *message { return l.carry(newEvent(limit)) }),
		one("too-large", "128 KiB and a byte", 413, func(l *lab) *message { return l.carry(newEvent(limit + 1)) }),
		one("too-large-chunked", "as much, of unknown length", 413, func(l *lab) *message {
			m := l.carry(newEvent(limit + 1))
			m.chunked = true
			return m
		}),
		one("not-utf8", "a byte that is no UTF-8, signed", 400, func(l *lab) *message {
			return l.carry([]byte(strings.Replace(string(newEvent(0)), "hello", "h\xe9llo", 1)))
		}),
	}
}

// contracts are bodies that are no event, or two.
func contracts() []scenario {
	carry := func(body string) func(*lab) *message {
		return func(l *lab) *message {
			return l.carry([]byte(strings.ReplaceAll(body, "ID", "evt_"+roundtripper.NewKey())))
		}
	}
	return []scenario{
		one("no-json", "no JSON at all", 422, carry(`order=ID`)),
		one("no-id", "an event without an ID", 422, carry(`{"type":"rehearsal.scenario"}`)),
		one("two-ids", "an event with two IDs", 422, carry(`{"id":"ID","id":"ID","type":"rehearsal.scenario"}`)),
		one("two-events", "two events in one body", 422, carry(`{"id":"ID","type":"rehearsal.scenario"}{"id":"ID"}`)),
	}
}

// requests are no deliveries at all.
func requests() []scenario {
	return []scenario{
		one("get", "a GET", 405, func(l *lab) *message {
			m := l.fresh()
			m.method, m.body = http.MethodGet, nil
			return m
		}),
		one("compressed", "a body that claims to be compressed", 415, func(l *lab) *message {
			m := l.fresh()
			m.header.Set("Content-Encoding", "gzip")
			return m
		}),
	}
}
