package otelretry_test

// This file tests the metrics: what is counted, under which attributes, and
// that the number of these is bounded.

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/otelretry"
)

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		l.config.Attributes = []attribute.KeyValue{attribute.String("client", "billing")}
		rt := otelretry.New(script(503, io.EOF, 200, 404, 200, io.EOF), policy(), l.config)
		for range 4 { // 503 EOF 200, 404, 200, EOF EOF EOF
			l.get(t, rt, t.Context(), "https://API.example.com/things")
		}
		const host = "server.address=api.example.com server.port=443"
		want := strings.ReplaceAll(`rebound.client.attempts client=billing http.request.method=GET http.response.status_code=200 rebound.reason=ok HOST: 2
rebound.client.attempts client=billing http.request.method=GET http.response.status_code=404 rebound.reason=status HOST: 1
rebound.client.attempts client=billing http.request.method=GET http.response.status_code=503 rebound.reason=status HOST: 1
rebound.client.attempts client=billing http.request.method=GET rebound.reason=network HOST: 4
rebound.client.call.duration client=billing http.request.method=GET http.response.status_code=200 rebound.stop=ok HOST: 2, 0.3 s
rebound.client.call.duration client=billing http.request.method=GET http.response.status_code=404 rebound.stop=status HOST: 1, 0 s
rebound.client.call.duration client=billing http.request.method=GET rebound.stop=retries-spent HOST: 1, 0.3 s
rebound.client.retries client=billing http.request.method=GET rebound.reason=network HOST: 3
rebound.client.retries client=billing http.request.method=GET rebound.reason=status HOST: 1
rebound.client.wait.duration client=billing http.request.method=GET rebound.wait.kind=retry HOST: 4, 0.6 s
`, "HOST", host)
		assert.Equal(t, want, l.measured(t, "rebound.client."))
	})
}

// A program that visits many hosts has as many series as it was told to, and one
// for the rest.
func TestHostsAreBounded(t *testing.T) {
	l := newLab()
	l.config.MaxHosts = 2
	rt := otelretry.New(script(200), policy(), l.config)
	for i := range 50 {
		l.get(t, rt, t.Context(), fmt.Sprintf("http://%d.example.com", i%10))
	}
	const line = "rebound.client.attempts http.request.method=GET http.response.status_code=200 rebound.reason=ok server.address="
	assert.Equal(t, line+"0.example.com server.port=80: 5\n"+line+"1.example.com server.port=80: 5\n"+line+"_OTHER: 40\n",
		l.measured(t, "rebound.client.attempts"))
}

func TestRegisterBreaker(t *testing.T) {
	l := newLab()
	l.config.MaxHosts = 2
	group := breaker.PerHost(breaker.Config{Consecutive: 1})
	reg, err := otelretry.RegisterBreaker(group, l.config)
	require.NoError(t, err)
	assert.Empty(t, l.measured(t, "rebound.client.breaker"))

	for _, host := range []string{"http://a.example.com:80", "http://b.example.com:80", "http://c.example.com:80", "https://z.example.com:443"} {
		permit, err := group.Allow(host)
		require.NoError(t, err)
		if strings.Contains(host, "z.") {
			permit.Done(breaker.Failure, io.EOF)
		} else {
			permit.Done(breaker.Success, nil)
		}
	}
	const line = "rebound.client.breaker.state rebound.breaker.state="
	assert.Equal(t, line+"closed server.address=_OTHER: 2\n"+
		line+"closed server.address=a.example.com server.port=80: 1\n"+
		line+"closed server.address=z.example.com server.port=443: 0\n"+
		line+"half-open server.address=_OTHER: 0\n"+
		line+"half-open server.address=a.example.com server.port=80: 0\n"+
		line+"half-open server.address=z.example.com server.port=443: 0\n"+
		line+"open server.address=_OTHER: 0\n"+
		line+"open server.address=a.example.com server.port=80: 0\n"+
		line+"open server.address=z.example.com server.port=443: 1\n", l.measured(t, "rebound.client.breaker"))

	require.NoError(t, reg.Unregister())
	assert.Empty(t, l.measured(t, "rebound.client.breaker"))

	_, err = otelretry.RegisterBreaker(roundtripper.Standard().Breaker, l.config)
	require.Error(t, err, "a policy without a breaker")
}

func TestRegisterBudget(t *testing.T) {
	l := newLab()
	l.config.Attributes = []attribute.KeyValue{attribute.String("client", "billing")}
	one := budget.New(budget.Config{})
	reg, err := otelretry.RegisterBudget(one, l.config)
	require.NoError(t, err)
	one.Withdraw("")
	assert.Equal(t, "rebound.client.budget.tokens client=billing: 9\n", l.measured(t, "rebound.client.budget"))
	require.NoError(t, reg.Unregister())
	assert.Empty(t, l.measured(t, "rebound.client.budget"))

	l = newLab()
	l.config.MaxHosts = 2
	each := budget.New(budget.Config{PerHost: true, Max: 5})
	_, err = otelretry.RegisterBudget(each, l.config)
	require.NoError(t, err)
	for i, host := range []string{"http://a.example.com:80", "http://[::1]:8080", "not a URL", "d"} {
		for range i + 1 {
			each.Withdraw(host)
		}
	}
	const line = "rebound.client.budget.tokens server.address="
	assert.Equal(t, line+"_OTHER: 3\n"+line+"d: 1\n"+line+"not a URL: 2\n", l.measured(t, "rebound.client.budget"))
	each.Withdraw("http://[::1]:8080")
	each.Withdraw("http://[::1]:8080")
	assert.Contains(t, l.measured(t, "rebound.client.budget"), line+"::1 server.port=8080: 1\n")

	_, err = otelretry.RegisterBudget(roundtripper.Standard().Budget, l.config)
	require.Error(t, err, "a policy without a budget")
}

// What a guard says of a host has the names that calls to it have.
func TestGuardsNameHostsAsCallsDo(t *testing.T) {
	for _, target := range []string{"http://api.example.com/", "http://[::1]/", "https://[fe80::1%25eth0]:8443/", "https://API.example.com:443/"} {
		l := newLab()
		p := roundtripper.Standard()
		p.Backoff = nil
		p.Breaker, p.Budget = breaker.PerHost(breaker.Config{}), budget.New(budget.Config{PerHost: true})
		_, err := otelretry.RegisterBreaker(p.Breaker, l.config)
		require.NoError(t, err)
		_, err = otelretry.RegisterBudget(p.Budget, l.config)
		require.NoError(t, err)
		l.get(t, otelretry.New(script(503, 200), p, l.config), t.Context(), target)

		_, named, _ := strings.Cut(l.measured(t, "rebound.client.retries"), "server.address=")
		named, _, _ = strings.Cut(named, ": 1")
		assert.Contains(t, l.measured(t, "rebound.client.breaker.state"), "=closed server.address="+named+": 1\n")
		assert.Contains(t, l.measured(t, "rebound.client.budget.tokens"), " server.address="+named+": 9.1\n")
	}
}
