package rehearse_test

// Tests of the event stores: what both promise, and what each has of its own.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
	"github.com/rebound-go/rebound/webhookmw/rehearse"
)

// withID is an event with that ID, which may need escapes in JSON.
func withID(id string) rehearse.Event {
	return rehearse.Event{ID: id, Type: "t", Body: fmt.Appendf(nil, `{"id":%q,"type":"t"}`, id)}
}

// hostile are IDs that are no file names.
var hostile = []string{
	"../../etc/passwd", "/etc/passwd", `..\..\boot.ini`, ".", "..", "CON", "con", "nul.json", "LPT1", "a.", "a ", " a",
	"a/b", "a:b", "A", "a", "a*?", "~", "-rf", strings.Repeat("x", 255), strings.Repeat("/", 255), "%2e%2e%2f", "evt_1.part",
}

func newDir(t *testing.T, path string) *rehearse.Dir {
	d, err := rehearse.NewDir(path)
	require.NoError(t, err)
	return d
}

func TestStores(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) rehearse.EventStore{
		"memory": func(*testing.T) rehearse.EventStore { return rehearse.NewMemory(rehearse.MemoryConfig{}) },
		"dir":    func(t *testing.T) rehearse.EventStore { return newDir(t, t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			s := make(t)
			ctx := t.Context()
			_, err := s.Get(ctx, "evt_1")
			assert.ErrorIs(t, err, rehearse.ErrNoEvent)

			mine := rehearse.Event{ID: "evt_1", Type: "order.paid", Body: []byte(body)}
			require.NoError(t, s.Put(ctx, mine))
			require.NoError(t, s.Put(ctx, mine), "the same again")
			conflict, ok := errors.AsType[*rehearse.ConflictError](s.Put(ctx, rehearse.Event{ID: "evt_1", Body: []byte(body + "\n")}))
			require.True(t, ok)
			assert.Equal(t, "evt_1", conflict.EventID)
			clear(mine.Body)
			for range 2 {
				got, err := s.Get(ctx, "evt_1")
				require.NoError(t, err)
				assert.Equal(t, event, got)
				clear(got.Body)
			}

			for _, id := range hostile {
				require.NoError(t, s.Put(ctx, withID(id)), id)
			}
			for _, id := range hostile {
				got, err := s.Get(ctx, id)
				require.NoError(t, err, id)
				assert.Equal(t, withID(id), got)
			}

			over, cancel := context.WithCancelCause(ctx)
			cancel(errStore)
			assert.ErrorIs(t, s.Put(over, withID("late")), errStore)
			_, err = s.Get(over, "evt_1")
			assert.ErrorIs(t, err, errStore)
			_, err = s.Get(ctx, "late")
			assert.ErrorIs(t, err, rehearse.ErrNoEvent)
		})
	}
}

// Of many that put different events under one ID one wins, and the others are told.
func TestStoresRace(t *testing.T) {
	dir := newDir(t, t.TempDir())
	for _, s := range []rehearse.EventStore{rehearse.NewMemory(rehearse.MemoryConfig{}), dir} {
		var mu sync.Mutex
		var won []string
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				body := fmt.Sprintf(`{"id":"evt","type":"t","n":%d}`, n)
				err := s.Put(t.Context(), rehearse.Event{ID: "evt", Type: "t", Body: []byte(body)})
				if err == nil {
					mu.Lock()
					won = append(won, body)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		require.Len(t, won, 1)
		got, err := s.Get(t.Context(), "evt")
		require.NoError(t, err)
		assert.Equal(t, won[0], string(got.Body))
	}
}

// Two Dirs on one path, as of two processes: one of the two is kept, and the other is told.
func TestDirsRace(t *testing.T) {
	path := t.TempDir()
	dirs := []*rehearse.Dir{newDir(t, path), newDir(t, path)}
	for n := range 50 {
		id := fmt.Sprint("evt_", n)
		errs := make([]error, len(dirs))
		bodies := make([]string, len(dirs))
		var all sync.WaitGroup
		for i, d := range dirs {
			bodies[i] = fmt.Sprintf(`{"id":%q,"type":"t","n":%d}`, id, i)
			all.Go(func() { errs[i] = d.Put(context.Background(), rehearse.Event{ID: id, Body: []byte(bodies[i])}) })
		}
		all.Wait()
		got, err := dirs[0].Get(t.Context(), id)
		require.NoError(t, err)
		for i, err := range errs {
			if string(got.Body) == bodies[i] {
				assert.NoError(t, err)
				continue
			}
			conflict, ok := errors.AsType[*rehearse.ConflictError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, id, conflict.EventID)
		}
	}
	left, err := filepath.Glob(filepath.Join(path, "*.part"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// Memory forgets what was put longest ago.
func TestMemoryIsBounded(t *testing.T) {
	size := int64(len(withID("a").Body))
	for name, config := range map[string]rehearse.MemoryConfig{
		"events": {MaxEvents: 3},
		"bytes":  {MaxBytes: 3*size + 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := rehearse.NewMemory(config)
			for _, id := range []string{"a", "b", "c", "a", "d", "e"} {
				require.NoError(t, m.Put(t.Context(), withID(id)))
			}
			assert.Error(t, m.Put(t.Context(), rehearse.Event{ID: "a", Body: []byte("other")}))
			for id, want := range map[string]bool{"a": true, "b": false, "c": false, "d": true, "e": true} {
				_, err := m.Get(t.Context(), id)
				assert.Equal(t, want, err == nil, id)
			}
		})
	}
	m := rehearse.NewMemory(rehearse.MemoryConfig{MaxBytes: size})
	require.NoError(t, m.Put(t.Context(), withID("a")))
	assert.Error(t, m.Put(t.Context(), withID("too long")))
	_, err := m.Get(t.Context(), "a")
	assert.NoError(t, err, "for what can't be kept nothing is forgotten")
}

// A directory's events are those of the next process too. Nothing is beside them, and nothing outside.
func TestDir(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "some", "where")
	for _, id := range hostile {
		require.NoError(t, newDir(t, path).Put(t.Context(), withID(id)))
	}
	got, err := newDir(t, path).Get(t.Context(), hostile[0])
	require.NoError(t, err)
	assert.Equal(t, hostile[0], got.ID)
	files, err := os.ReadDir(path)
	require.NoError(t, err)
	assert.Len(t, files, len(hostile))
	for _, f := range files {
		assert.Regexp(t, `^[a-z0-9_]{1,60}-[0-9a-f]{32}\.json$`, f.Name())
		info, err := f.Info()
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			assert.Equal(t, os.FileMode(0o600), info.Mode())
		}
	}
	outside, err := os.ReadDir(parent)
	require.NoError(t, err)
	assert.Len(t, outside, 1)
}

func TestDirErrors(t *testing.T) {
	_, err := rehearse.NewDir("")
	assert.Error(t, err)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = rehearse.NewDir(file)
	assert.Error(t, err)

	path := filepath.Join(t.TempDir(), "events")
	d := newDir(t, path)
	require.NoError(t, d.Put(t.Context(), withID("a")))
	files, err := os.ReadDir(path)
	require.NoError(t, err)
	place := filepath.Join(path, files[0].Name())
	for _, changed := range []string{"", `{"id":"b","type":"t"}`, `{"id":"a","type":"t"`} {
		require.NoError(t, os.WriteFile(place, []byte(changed), 0o600))
		_, err = d.Get(t.Context(), "a")
		assert.ErrorIs(t, err, rehearse.ErrBadEvent)
		assert.ErrorContains(t, err, files[0].Name())
	}
	require.NoError(t, os.RemoveAll(path))
	err = d.Put(t.Context(), withID("a"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, `event "a"`)
	require.NoError(t, os.MkdirAll(place, 0o700))
	assert.Error(t, d.Put(t.Context(), withID("a")), "a directory in its place")
	_, err = d.Get(t.Context(), "a")
	assert.Error(t, err)
	assert.NotErrorIs(t, err, rehearse.ErrNoEvent)
}

// Whatever the ID, its event goes into one file of the directory and comes out again.
func FuzzDir(f *testing.F) {
	for _, id := range hostile {
		f.Add([]byte(withID(id).Body))
	}
	f.Add([]byte(body))
	f.Fuzz(func(t *testing.T, data []byte) {
		id, typ, err := webhookmw.StrictEvent(data)
		if err != nil {
			return
		}
		parent := t.TempDir()
		path := filepath.Join(parent, "events")
		d := newDir(t, path)
		e := rehearse.Event{ID: id, Type: typ, Body: data}
		require.NoError(t, d.Put(t.Context(), e))
		got, err := d.Get(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, e, got)
		for place, want := range map[string]int{path: 1, parent: 1} {
			files, err := os.ReadDir(place)
			require.NoError(t, err)
			require.Len(t, files, want)
		}
		_, err = d.Get(t.Context(), strings.ToUpper(id)+"x")
		require.ErrorIs(t, err, rehearse.ErrNoEvent)
	})
}
