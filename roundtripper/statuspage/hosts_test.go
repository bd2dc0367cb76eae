package statuspage_test

// Hosts: what stands between calls and each of them.

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
	"github.com/rebound-go/rebound/roundtripper/statuspage"
)

// open makes the breaker of host open.
func open(t *testing.T, g *breaker.Group, host string, cause error) {
	t.Helper()
	for g.State(host) != breaker.Open {
		p, err := g.Allow(host)
		require.NoError(t, err)
		p.Done(breaker.Failure, cause)
	}
}

func TestHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := breaker.PerHost(breaker.Config{})
		retries := budget.New(budget.Config{PerHost: true, Initial: 7})
		page := statuspage.New(statuspage.Config{Breaker: hosts, Budget: retries})
		p := steady(page)
		p.Breaker, p.Budget = hosts, retries
		call(t.Context(), t, &script{replies: []reply{{status: 503}, {status: 200}}}, p, "GET", "https://a.example.com/")
		time.Sleep(time.Second)
		call(t.Context(), t, &script{replies: []reply{{status: 404}}}, p, "GET", "http://[::1]:8080/")
		opened := time.Now()
		open(t, hosts, "https://b.example.com:443", errors.New(`Get "https://u:hush@b.example.com/?hush": EOF <b>`))
		time.Sleep(10 * time.Second)

		s := fetched(t, page)
		require.Len(t, s.Hosts, 3)
		b, ip, a := s.Hosts[0], s.Hosts[1], s.Hosts[2]
		assert.Equal(t, "https://b.example.com", b.Name)
		assert.True(t, b.Breaker.Since.Equal(opened))
		assert.True(t, b.Breaker.RetryAt.After(s.At))
		assert.Equal(t, statuspage.Breaker{State: "open", Since: b.Breaker.Since, RetryAt: b.Breaker.RetryAt,
			Consecutive: 5, Known: 5, Failures: 5, Cooldown: 30 * time.Second,
			Cause: `Get "https://b.example.com/?…": EOF <b>`}, *b.Breaker)
		assert.Equal(t, 7.0, *b.Tokens)
		assert.True(t, b.LastSeen.IsZero())
		assert.Equal(t, "http://[::1]:8080", ip.Name)
		assert.Equal(t, "closed", ip.Breaker.State)
		assert.EqualValues(t, 1, ip.Failed)
		assert.Equal(t, 7.1, *ip.Tokens)
		assert.Equal(t, "https://a.example.com", a.Name)
		assert.Equal(t, 6.1, *a.Tokens)
		assert.EqualValues(t, 1, a.Retries)
		assert.Nil(t, s.Tokens)
		assert.Nil(t, s.Offline)

		body := html(t, page)
		for _, want := range []string{"1 not closed", ">of 3<", "6.1 tokens at least", "since <time", "10 s ago",
			"next trial <time", ">in ", "5 of the last 5 failed, 5 in a row",
			"EOF &lt;b&gt;", "not observed", "per host", ">6.1<"} {
			assert.Contains(t, body, want)
		}
		assert.NotContains(t, body, "hush")

		time.Sleep(time.Minute)
		assert.Contains(t, html(t, page), "the next call is a trial")
		_, err := hosts.Allow("https://b.example.com:443")
		require.NoError(t, err)
		assert.Contains(t, html(t, page), "a trial is under way")
	})
}

// A budget that all share stands at the top.
func TestSharedBudget(t *testing.T) {
	retries := budget.New(budget.Config{})
	page := statuspage.New(statuspage.Config{Budget: retries})
	retries.Withdraw("")
	page.ObserveCall(failed("https://api.example.com/"))
	s := page.Snapshot()
	assert.Equal(t, 9.0, *s.Tokens)
	assert.Nil(t, s.Hosts[0].Tokens)
	assert.Contains(t, html(t, page), "9.0 <small>tokens</small>")
}

// A budget with PerHost may know a host without a name.
func TestNamelessHost(t *testing.T) {
	retries := budget.New(budget.Config{PerHost: true})
	page := statuspage.New(statuspage.Config{Budget: retries})
	retries.Withdraw("")
	retries.Withdraw("https://a.example.com:443")
	s := page.Snapshot()
	assert.Nil(t, s.Tokens)
	require.Len(t, s.Hosts, 2)
	assert.Equal(t, 9.0, *s.Hosts[1].Tokens)
}

// The host that was seen longest ago goes, and one that is in trouble is shown before all others.
func TestHostsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := breaker.PerHost(breaker.Config{})
		page := statuspage.New(statuspage.Config{Breaker: hosts, Hosts: 3})
		for i := range 5 {
			page.ObserveCall(failed(fmt.Sprintf("https://h%d.example.com/", i)))
			time.Sleep(time.Second)
		}
		page.ObserveCall(failed("https://h2.example.com/"))
		time.Sleep(time.Second)
		page.ObserveCall(failed("https://h5.example.com/"))
		open(t, hosts, "https://down.example.com:443", nil)
		s := page.Snapshot()
		var names []string
		for _, h := range s.Hosts {
			names = append(names, h.Name)
		}
		assert.Equal(t, []string{"https://down.example.com", "https://h5.example.com", "https://h2.example.com"}, names)
		assert.EqualValues(t, 2, s.Hosts[2].Calls)
		assert.Equal(t, 1, s.HostsLeftOut)
		assert.Contains(t, html(t, page), "1 more are not shown")
	})
}

// A group may have keys that are no hosts of HTTP.
func TestOtherKeys(t *testing.T) {
	hosts := breaker.PerHost(breaker.Config{})
	page := statuspage.New(statuspage.Config{Breaker: hosts})
	for _, key := range []string{"database", "redis://10.0.0.1:6379", "x://", "", "https://::1:443", "http://a:"} {
		_, err := hosts.Allow(key)
		require.NoError(t, err)
	}
	var names []string
	for _, h := range page.Snapshot().Hosts {
		names = append(names, h.Name)
	}
	assert.Equal(t, []string{"", "database", "http://a:", "https://[::1]", "redis://10.0.0.1:6379", "x://"}, names)
}

// What is not plugged in is said, with the way to do so.
func TestEmpty(t *testing.T) {
	page := statuspage.New(statuspage.Config{})
	body := html(t, page)
	for _, want := range []string{"Config.Offline is not set", "Config.Breaker is not set", "Config.Budget is not set",
		"Set <code>Policy.Observe</code> to <code>page.ObserveCall</code>",
		"<code>page.ObserveDelivery</code>", "No host has been seen"} {
		assert.Contains(t, body, want)
	}
	var shape map[string]any
	require.NoError(t, json.Unmarshal(get(page, "/", "application/json").Body.Bytes(), &shape))
	delete(shape, "at")
	assert.Equal(t, map[string]any{
		"offline": nil, "tokens": nil, "hosts": []any{}, "hosts_left_out": 0.0, "calls": []any{}, "deliveries": []any{},
		"totals": map[string]any{"done": 0.0, "failed": 0.0, "abandoned": 0.0, "retries": 0.0, "verified": 0.0, "refused": 0.0},
	}, shape)

	calm := statuspage.New(statuspage.Config{Breaker: breaker.PerHost(breaker.Config{}), Offline: offline.New(offline.Config{}),
		Budget: budget.New(budget.Config{})})
	body = html(t, calm)
	assert.NotContains(t, body, "not watched")
	assert.Contains(t, body, "all closed")
	assert.Contains(t, body, "online")
}
