package browser_test

// What a real browser makes of the page.

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/roundtripper/statuspage"
)

// browserPath finds Chromium. Where there is none the test is skipped, but in CI it must be there.
func browserPath(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no Chromium in PATH, and CI=true: install it (Debian: apt-get install chromium)")
	}
	t.Skip("no Chromium in PATH (Debian: apt-get install chromium)")
	return ""
}

// start runs a browser of its own, with an empty profile, until the test ends.
func start(t *testing.T) context.Context {
	alloc, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(browserPath(t)),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Headless,
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	ctx, quit := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		quit()
		stop()
	})
	require.NoError(t, chromedp.Do(ctx), "starting the browser")
	return ctx
}

// complaints collects what the browser writes to its console, violations of the content policy among them.
type complaints struct {
	mu    sync.Mutex
	texts []string
}

func (c *complaints) listen(ctx context.Context) error {
	return chromedp.Listen(ctx, func(event any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			c.texts = append(c.texts, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		case *runtime.EventConsoleAPICalled:
			c.texts = append(c.texts, fmt.Sprintf("console.%s", e.Type))
		case *runtime.EventExceptionThrown:
			c.texts = append(c.texts, e.ExceptionDetails.Text)
		}
	})
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.texts...)
}

// look is what is seen of the page in one of its forms.
type look struct {
	Width, ScrollWidth int
	Ground             string
	Style              bool // the style sheet was applied
	Rows               int
	Bars               int // of time lines, with a size
	Wide               []string
	Faint              []string // text without the contrast that it needs
	Hidden             []string // text that nobody sees
	Texts              int
}

// inspect looks at each piece of text that the page shows: whether it has a size, stays inside, and stands out from the
// ground by the ratio that WCAG 2.2 asks for, 4.5.
const inspect = `(() => {
  const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return {rgb: m.slice(0, 3), a: m.length > 3 ? m[3] : 1}; };
  const light = rgb => { const [r, g, b] = rgb.map(v => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * r + .7152 * g + .0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a === 1) return c.rgb; }
    return [255, 255, 255]; };
  const out = {Width: innerWidth, ScrollWidth: document.documentElement.scrollWidth, Ground: getComputedStyle(document.body).backgroundColor,
    Style: getComputedStyle(document.body).maxWidth !== 'none', Rows: document.querySelectorAll('tbody tr').length, Bars: 0,
    Wide: [], Faint: [], Hidden: [], Texts: 0};
  for (const b of document.querySelectorAll('svg.line rect')) if (b.getBoundingClientRect().width > 0) out.Bars++;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const text = n.textContent.trim(), e = n.parentElement;
    if (!text || e.closest('.unseen, thead')) continue;
    out.Texts++;
    const range = document.createRange(); range.selectNodeContents(n);
    const box = range.getBoundingClientRect(), style = getComputedStyle(e);
    if (box.width === 0 || box.height === 0 || style.visibility !== 'visible' || style.opacity !== '1') out.Hidden.push(text);
    if (box.right > innerWidth + .5 || box.left < -.5) out.Wide.push(text);
    let ink = parse(style.color).rgb, behind = ground(e);
    if (e.namespaceURI.endsWith('svg')) {
      ink = parse(style.fill).rgb;
      const bar = e.previousElementSibling, fill = parse(getComputedStyle(bar).fill);
      behind = fill.rgb;
    }
    if (ratio(ink, behind) < 4.5) out.Faint.push(text + ' ' + ratio(ink, behind).toFixed(2));
  }
  return out;
})()`

// form is one way to look at a page.
type form struct {
	scheme string
	width  int64
}

func (f form) String() string { return fmt.Sprintf("%s-%d", f.scheme, f.width) }

var forms = []form{{"light", 360}, {"light", 1280}, {"dark", 360}, {"dark", 1280}}

// tab is a page opened in a browser.
type tab struct {
	ctx      context.Context
	problems complaints
}

// open opens target in a tab of its own. A narrow one is that of a telephone, which heeds the page's viewport.
func open(t *testing.T, ctx context.Context, f form, target string) *tab {
	o := new(tab)
	var shut context.CancelFunc
	o.ctx, shut = chromedp.NewContext(ctx)
	t.Cleanup(shut)
	require.NoError(t, o.problems.listen(o.ctx))
	_, err := chromedp.Call(o.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: f.scheme}},
	})
	require.NoError(t, err)
	size := chromedp.EmulateViewport(f.width, 900)
	if f.width < 600 {
		size = chromedp.EmulateViewport(f.width, 740, chromedp.EmulateMobile)
	}
	require.NoError(t, chromedp.Do(o.ctx, size, chromedp.Navigate(target)))
	return o
}

// eval is what an expression comes to in the tab.
func eval[T any](t *testing.T, o *tab, expression string) T {
	t.Helper()
	v, err := chromedp.Run(o.ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err)
	return v
}

// wellMade checks what must hold of every form of the page.
func wellMade(t *testing.T, o *tab, f form) look {
	t.Helper()
	l := eval[look](t, o, inspect)
	assert.Empty(t, o.problems.all(), "the console")
	assert.True(t, l.Style, "the style sheet was applied")
	assert.EqualValues(t, f.width, l.Width)
	assert.LessOrEqual(t, l.ScrollWidth, l.Width, "the page scrolls sideways")
	assert.Empty(t, l.Wide, "text that sticks out")
	assert.Empty(t, l.Hidden, "text that can't be seen")
	assert.Empty(t, l.Faint, "text of too little contrast")
	assert.Equal(t, map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}[f.scheme], l.Ground)
	return l
}

func TestPage(t *testing.T) {
	ctx := start(t)
	pageURL := lively(t)
	for _, f := range forms {
		t.Run(f.String(), func(t *testing.T) {
			o := open(t, ctx, f, pageURL+"?refresh=off")
			l := wellMade(t, o, f)
			assert.Greater(t, l.Texts, 100)
			assert.Greater(t, l.Rows, 15)
			assert.Greater(t, l.Bars, 12)
			text := eval[string](t, o, "document.documentElement.outerHTML")
			assert.NotContains(t, text, "not-for-the-page")
			for _, want := range []string{"breaker-open", "no network for", "on its way for",
				"timestamp-stale", "taken before", "may heal"} {
				assert.Contains(t, text, want)
			}
			if folder := os.Getenv("PAGE_SHOTS"); folder != "" { // for those who want to see it
				picture, err := chromedp.Run(o.ctx, chromedp.FullScreenshot(100))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(folder, f.String()+".png"), picture, 0o644))
			}
		})
	}
}

// A page on which nothing has happened yet is whole too.
func TestEmptyPage(t *testing.T) {
	ctx := start(t)
	pageURL := serve(t, statuspage.New(statuspage.Config{}))
	for _, f := range forms {
		t.Run(f.String(), func(t *testing.T) {
			l := wellMade(t, open(t, ctx, f, pageURL), f)
			assert.Zero(t, l.Rows)
			assert.Greater(t, l.Texts, 20)
		})
	}
}

// The page loads itself anew under its own content policy.
func TestRefresh(t *testing.T) {
	ctx := start(t)
	asked := make(chan string, 100)
	live := statuspage.New(statuspage.Config{})
	pageURL := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		live.ServeHTTP(w, r)
		asked <- r.URL.String()
	}))
	open(t, ctx, forms[1], pageURL+"/?refresh=1")
	for range 2 {
		assert.Equal(t, "/?refresh=1", <-asked)
	}
}

// A link on the page ends that, and keeps what else was asked for.
func TestStopRefreshing(t *testing.T) {
	ctx := start(t)
	o := open(t, ctx, forms[1], lively(t)+"?refresh=600&show=trouble")
	require.Equal(t, 1, eval[int](t, o, "document.querySelectorAll('meta[http-equiv]').length"))
	require.Equal(t, "Stop refreshing", eval[string](t, o, "document.querySelector('header a').textContent"))
	_, err := chromedp.Run(o.ctx, chromedp.WaitEvent(page.LoadEventFired, nil, chromedp.Click(chromedp.CSS("header a"))))
	require.NoError(t, err)
	assert.Equal(t, "?refresh=off&show=trouble", eval[string](t, o, "location.search"))
	assert.Zero(t, eval[int](t, o, "document.querySelectorAll('meta[http-equiv]').length"))
	assert.Equal(t, "In flight or in trouble", eval[string](t, o, "document.querySelector('a[aria-current]').textContent"))
	assert.Empty(t, o.problems.all(), "the console")
}

// What the other tests look for is found where it is.
func TestFaultsAreSeen(t *testing.T) {
	ctx := start(t)
	o := open(t, ctx, forms[0], serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "script-src 'none'")
		io.WriteString(w, `<!DOCTYPE html><meta name="viewport" content="width=device-width, initial-scale=1"><body>
			<script>1</script><p style="color:#999">faint</p>
			<p style="white-space:nowrap">wide `+strings.Repeat("and wide ", 40)+`</p>
			<p style="opacity:0">hidden</p><p>well</p>`)
	})))
	l := eval[look](t, o, inspect)
	assert.Len(t, l.Faint, 1)
	assert.Len(t, l.Wide, 1)
	assert.Contains(t, l.Hidden, "hidden")
	assert.NotContains(t, l.Hidden, "well")
	assert.Greater(t, l.ScrollWidth, 360)
	assert.False(t, l.Style)
	require.NotEmpty(t, o.problems.all())
	assert.Contains(t, o.problems.all()[0], "Content Security Policy")
}
