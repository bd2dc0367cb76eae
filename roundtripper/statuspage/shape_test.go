package statuspage_test

// The JSON, name by name: programs rely on it.

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rebound-go/rebound/roundtripper/breaker"
	"github.com/rebound-go/rebound/roundtripper/budget"
	"github.com/rebound-go/rebound/roundtripper/offline"
	"github.com/rebound-go/rebound/roundtripper/statuspage"
)

func TestShape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := breaker.PerHost(breaker.Config{Consecutive: 1})
		retries := budget.New(budget.Config{PerHost: true, Max: 4})
		page := statuspage.New(statuspage.Config{Breaker: hosts, Budget: retries, Offline: offline.New(offline.Config{})})
		p := steady(page)
		p.RequestIDHeader = ""
		p.Budget = retries
		base := &script{replies: []reply{{after: time.Second, err: errors.New("broken")}, {status: 200}}}
		call(t.Context(), t, base, p, "GET", "https://a.example.com/x")
		permit, err := hosts.Allow("https://a.example.com:443")
		assert.NoError(t, err)
		permit.Done(breaker.Success, nil)
		page.ObserveDelivery(refused("/hook"))
		e := accepted("evt_1", "dlv_1")
		e.Delivery.Timestamp = time.Now()
		page.ObserveDelivery(e)
		assert.JSONEq(t, `{
		  "at": "2000-01-01T00:00:01.1Z",
		  "offline": false,
		  "tokens": null,
		  "totals": {"done": 1, "failed": 0, "abandoned": 0, "retries": 1, "verified": 1, "refused": 1},
		  "hosts": [{
		    "name": "https://a.example.com",
		    "breaker": {"state": "closed", "since": "2000-01-01T00:00:01.1Z", "consecutive": 0, "known": 1, "failures": 0, "cooldown_ns": 30000000000},
		    "tokens": 3.1, "calls": 1, "failed": 0, "retries": 1, "last_seen": "2000-01-01T00:00:01.1Z"
		  }],
		  "hosts_left_out": 0,
		  "calls": [{
		    "method": "GET", "url": "https://a.example.com/x", "state": "done", "slow": false, "stop": "ok", "status": 200, "fallback": false,
		    "start": "2000-01-01T00:00:00Z", "elapsed_ns": 1100000000, "attempts": 2, "steps_left_out": 0,
		    "steps": [
		      {"kind": "attempt", "start": "2000-01-01T00:00:00Z", "elapsed_ns": 1000000000, "number": 1, "error": "broken", "reason": "network", "may_heal": true},
		      {"kind": "wait", "start": "2000-01-01T00:00:01Z", "elapsed_ns": 100000000, "planned_ns": 100000000},
		      {"kind": "attempt", "start": "2000-01-01T00:00:01.1Z", "elapsed_ns": 0, "number": 2, "status": 200, "reason": "ok"}
		    ]
		  }],
		  "deliveries": [
		    {"method": "POST", "path": "/hook", "verified": true, "event_id": "evt_1", "delivery_id": "dlv_1", "type": "order.paid",
		     "timestamp": "2000-01-01T00:00:01.1Z", "duplicate": false, "event_seen": false, "signature_reused": false, "reason": "accepted",
		     "status": 200, "at": "2000-01-01T00:00:01.1Z", "elapsed_ns": 0},
		    {"method": "POST", "path": "/hook", "verified": false, "duplicate": false, "event_seen": false, "signature_reused": false,
		     "reason": "signature-mismatch", "status": 401, "error": "no match", "at": "2000-01-01T00:00:01.1Z", "elapsed_ns": 0}
		  ]
		}`, get(page, "/", "application/json").Body.String())
	})
}
