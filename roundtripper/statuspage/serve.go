package statuspage

// The handler: which methods and forms there are, and what the headers forbid.

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// contentPolicy lets a browser apply the one style sheet in the page, and do nothing else for it.
var contentPolicy = "default-src 'none'; style-src 'sha256-" + digest(styleSheet) + "'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// ServeHTTP answers GET and HEAD with the page, as HTML or as the JSON of a [Snapshot].
//
// The query may hold format=html or format=json, which outweighs the Accept header; refresh=off or a number of seconds from
// 1 to 3600, 5 if there is none; and show=trouble, which leaves out the calls that went well at once, in HTML alone.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Vary", "Accept")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	query := r.URL.Query()
	var body bytes.Buffer // whole, so that a page is never half of one with a status of 200
	var err error
	switch format(query, r.Header) {
	case "html":
		h.Set("Content-Type", "text/html; charset=utf-8")
		err = pageTemplate.Execute(&body, p.view(query))
	case "json":
		h.Set("Content-Type", "application/json")
		e := json.NewEncoder(&body)
		e.SetIndent("", "  ")
		err = e.Encode(p.Snapshot())
	default:
		http.Error(w, "format: html or json", http.StatusBadRequest)
		return
	}
	if err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	if r.Method == http.MethodGet {
		w.Write(body.Bytes())
	}
}

// format is the form that is asked for.
func format(query url.Values, h http.Header) string {
	if f := query.Get("format"); f != "" {
		return f
	}
	if accept := h.Values("Accept"); weight(accept, "application", "json") > weight(accept, "text", "html") {
		return "json"
	}
	return "html"
}

// weight is what an Accept header gives a media type, by the most specific range that names it (RFC 9110, section 12.5.1).
func weight(accept []string, kind, subtype string) float64 {
	best, found := 0.0, -1
	for _, r := range strings.Split(strings.Join(accept, ","), ",") {
		media, params, err := mime.ParseMediaType(r)
		if err != nil {
			continue
		}
		specific := -1
		switch media {
		case kind + "/" + subtype:
			specific = 2
		case kind + "/*":
			specific = 1
		case "*/*":
			specific = 0
		}
		if specific <= found {
			continue
		}
		best, found = 1, specific
		if q, ok := params["q"]; ok {
			if best, err = strconv.ParseFloat(q, 64); err != nil {
				best = 0
			}
		}
	}
	return best
}
