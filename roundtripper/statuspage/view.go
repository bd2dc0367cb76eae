package statuspage

// The view: a snapshot as the template wants it, and how a reader wants to see it.

import (
	_ "embed"
	"html/template"
	"net/url"
	"strconv"
	"time"

	"github.com/rebound-go/rebound/roundtripper"
	"github.com/rebound-go/rebound/webhookmw"
)

//go:embed page.css
var styleSheet string

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"duration": duration,
	"tokens":   func(f *float64) string { return strconv.FormatFloat(*f, 'f', 1, 64) },
	"moment":   func(at, now time.Time) moment { return moment{at, now} },
}).Parse(pageText))

// view is what the template is given.
type view struct {
	Snapshot
	Style       template.CSS
	Config      Config
	Refresh     int // seconds; 0: never
	OnlyTrouble bool
	Rows        []row
	InFlight    int
	Waiting     int      // calls in flight that wait for the network
	Breakers    int      // remembered, of the hosts that are shown
	NotClosed   int      // of these
	Least       *float64 // the fewest tokens that one of these hosts has; nil: there is no budget with PerHost
	Received    []received
}

const defaultRefresh = 5

func (p *Page) view(query url.Values) *view {
	v := &view{
		Snapshot:    p.Snapshot(),
		Style:       template.CSS(styleSheet),
		Config:      p.config,
		Refresh:     defaultRefresh,
		OnlyTrouble: query.Get("show") == "trouble",
	}
	if s := query.Get("refresh"); s == "off" {
		v.Refresh = 0
	} else if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= 3600 {
		v.Refresh = n
	}
	for i := range v.Calls {
		c := &v.Calls[i]
		if c.InFlight() {
			v.InFlight++
		}
		if c.State == roundtripper.StateOffline {
			v.Waiting++
		}
		if !v.OnlyTrouble || c.InFlight() || c.Trouble() {
			v.Rows = append(v.Rows, rowOf(c))
		}
	}
	for _, h := range v.Hosts {
		if h.Breaker != nil {
			v.Breakers++
			if h.Breaker.State != "closed" {
				v.NotClosed++
			}
		}
		if h.Tokens != nil && (v.Least == nil || *h.Tokens < *v.Least) {
			v.Least = h.Tokens
		}
	}
	for i := range v.Deliveries {
		v.Received = append(v.Received, receivedOf(&v.Deliveries[i]))
	}
	return v
}

// Away reports whether there is a gate that takes the network for lost.
func (v *view) Away() bool { return v.Offline != nil && *v.Offline }

// Link is the query of this page with other settings.
func (v *view) Link(refresh int, onlyTrouble bool) string {
	q := url.Values{}
	switch refresh {
	case defaultRefresh:
	case 0:
		q.Set("refresh", "off")
	default:
		q.Set("refresh", strconv.Itoa(refresh))
	}
	if onlyTrouble {
		q.Set("show", "trouble")
	}
	return "?" + q.Encode()
}

// received is a delivery as it is shown.
type received struct {
	*Delivery
	Class, Verdict string
	Notes          []string
}

func receivedOf(d *Delivery) received {
	r := received{Delivery: d}
	switch d.Reason {
	case webhookmw.ReasonAccepted:
		r.Class, r.Verdict = "good", "taken"
	case webhookmw.ReasonDuplicate:
		r.Class, r.Verdict = "plain", "taken before"
	case webhookmw.ReasonFailed, webhookmw.ReasonPanicked, webhookmw.ReasonHijacked, webhookmw.ReasonNotRecorded:
		r.Class, r.Verdict = "bad", "not taken"
	default:
		r.Class, r.Verdict = "bad", "refused"
	}
	if d.EventSeen && !d.Duplicate {
		r.Notes = append(r.Notes, "event seen in another delivery")
	}
	if d.SignatureReused {
		r.Notes = append(r.Notes, "signature came before under another delivery ID")
	}
	return r
}
