package statuspage_test

// The handler: methods, forms and headers.

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/statuspage"
)

func TestMethods(t *testing.T) {
	page := statuspage.New(statuspage.Config{})
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"} {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		assert.Equal(t, "GET, HEAD", w.Header().Get("Allow"), method)
		assert.Equal(t, "no-store", w.Header().Get("Cache-Control"), method)
	}
}

// HEAD has the headers of GET, and no body.
func TestHead(t *testing.T) {
	page := statuspage.New(statuspage.Config{})
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest("HEAD", "/?format=html", nil))
	assert.Equal(t, 200, w.Code)
	assert.Zero(t, w.Body.Len())
	assert.NotEmpty(t, w.Header().Get("Content-Length"))
	assert.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
}

// A real server sends the page whole.
func TestServer(t *testing.T) {
	s := httptest.NewServer(statuspage.New(statuspage.Config{}))
	defer s.Close()
	resp, err := http.Get(s.URL)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.EqualValues(t, len(body), resp.ContentLength)
	assert.True(t, strings.HasSuffix(strings.TrimSpace(string(body)), "</html>"))
}

func TestHeaders(t *testing.T) {
	page := statuspage.New(statuspage.Config{})
	for _, target := range []string{"/", "/?format=json", "/?format=xml"} {
		h := get(page, target, "").Header()
		assert.Equal(t, "no-store", h.Get("Cache-Control"), target)
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), target)
		assert.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"), target)
		assert.Equal(t, "no-referrer", h.Get("Referrer-Policy"), target)
		assert.Equal(t, "Accept", h.Get("Vary"), target)
		assert.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", target)
	}
}

var styles = regexp.MustCompile(`(?s)<style>(.*?)</style>`)

// The content policy names the hash of the one style sheet that is in the page; and the page has nothing that the policy
// would forbid.
func TestContentPolicyMatches(t *testing.T) {
	page := statuspage.New(statuspage.Config{})
	w := get(page, "/", "")
	found := styles.FindAllStringSubmatch(w.Body.String(), -1)
	require.Len(t, found, 1)
	sum := sha256.Sum256([]byte(found[0][1]))
	policy := w.Header().Get("Content-Security-Policy")
	assert.Contains(t, policy, "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	assert.Contains(t, policy, "frame-ancestors 'none'")
	assert.NotContains(t, policy, "unsafe")
	for _, forbidden := range []string{"<script", "<link", "<img", "<form", " style=", " onload=",
		"url(", "@import", "http://", "https://"} {
		assert.NotContains(t, w.Body.String(), forbidden)
	}
}

func TestFormat(t *testing.T) {
	page := statuspage.New(statuspage.Config{})
	for _, tc := range []struct{ target, accept, want string }{
		{"/", "", "text/html; charset=utf-8"},
		{"/", "*/*", "text/html; charset=utf-8"},
		{"/", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8"},
		{"/", "application/json", "application/json"},
		{"/", "Application/JSON; charset=utf-8", "application/json"},
		{"/", "application/json, */*;q=0.5", "application/json"},
		{"/", "application/json, text/html", "text/html; charset=utf-8"},
		{"/", "application/json;q=0.5, text/html;q=0.4", "application/json"},
		{"/", "application/json;q=0, */*", "text/html; charset=utf-8"},
		{"/", "application/*", "application/json"},
		{"/", "application/json;q=much", "text/html; charset=utf-8"},
		{"/", ",;, image/png", "text/html; charset=utf-8"},
		{"/?format=json", "text/html", "application/json"},
		{"/?format=html", "application/json", "text/html; charset=utf-8"},
	} {
		w := get(page, tc.target, tc.accept)
		assert.Equal(t, 200, w.Code, "%s %s", tc.target, tc.accept)
		assert.Equal(t, tc.want, w.Header().Get("Content-Type"), "%s %s", tc.target, tc.accept)
	}
	assert.Equal(t, 400, get(page, "/?format=xml", "").Code)
	assert.Equal(t, 400, get(page, "/?format=JSON", "").Code)
	assert.True(t, json.Valid(get(page, "/?format=json", "").Body.Bytes()))
}

// The page refreshes by itself, and a link ends that; the links keep each other's settings.
func TestRefresh(t *testing.T) {
	page := statuspage.New(statuspage.Config{})
	page.ObserveCall(failed("https://api.example.com/"))
	for _, tc := range []struct {
		target string
		want   []string
		not    []string
	}{
		{"/", []string{`<meta http-equiv="refresh" content="5">`, `href="?refresh=off"`, `href="?show=trouble"`}, nil},
		{"/?refresh=60", []string{`content="60"`, `href="?refresh=60&amp;show=trouble"`}, nil},
		{"/?refresh=off", []string{`href="?refresh=off&amp;show=trouble"`, `href="?"`}, []string{"http-equiv"}},
		{"/?refresh=0", []string{`content="5"`}, nil},
		{"/?refresh=3601", []string{`content="5"`}, nil},
		{`/?refresh="><script>`, []string{`content="5"`}, []string{"<script"}},
		{"/?refresh=off&show=trouble", []string{`href="?show=trouble"`, `href="?refresh=off"`}, []string{"http-equiv"}},
	} {
		body := get(page, strings.ReplaceAll(tc.target, `"><`, "%22%3E%3C"), "").Body.String()
		for _, want := range tc.want {
			assert.Contains(t, body, want, tc.target)
		}
		for _, not := range tc.not {
			assert.NotContains(t, body, not, tc.target)
		}
	}
}
