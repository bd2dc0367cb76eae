package rehearse

// Tests of file names, which nobody outside sees.

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var harmless = regexp.MustCompile(`^[a-z0-9_]{0,60}-[0-9a-f]{32}\.json$`)

// FuzzFileName checks that a name is harmless on every system, and that two IDs never have the same one, not even where
// capitals are the same as small letters.
func FuzzFileName(f *testing.F) {
	f.Add("evt_1", "EVT_1")
	f.Add("../../etc/passwd", "..\\..\\etc\\passwd")
	f.Add("CON", "con ")
	f.Add("", strings.Repeat("é", 127))
	f.Add("a\x00b", "a\nb")
	f.Fuzz(func(t *testing.T, a, b string) {
		nameA, nameB := fileName(a), fileName(b)
		for _, name := range []string{nameA, nameB} {
			if !harmless.MatchString(name) || !filepath.IsLocal(name) || filepath.Base(name) != name {
				t.Errorf("%q", name)
			}
		}
		if (a == b) != strings.EqualFold(nameA, nameB) {
			t.Errorf("%q and %q are %q and %q", a, b, nameA, nameB)
		}
	})
}

// A name shows what it is the name of, as far as it can.
func TestFileName(t *testing.T) {
	for id, want := range map[string]string{
		"evt_1":                  "evt_1-",
		"Evt.1":                  "evt_1-",
		"../../etc/passwd":       "______etc_passwd-",
		strings.Repeat("ab", 99): strings.Repeat("ab", 30) + "-",
	} {
		if got := fileName(id); !strings.HasPrefix(got, want) || len(got) != len(want)+len(".json")+32 {
			t.Errorf("%q is %q, want %q and a hash", id, got, want)
		}
	}
}
