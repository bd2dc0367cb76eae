package rehearse

// The event store in a directory.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Dir is an [EventStore] in a directory, which outlives the process: an event can be replayed tomorrow, by another one.
// Each event is one file, and the file is the exact body. It is written beside its place, synced, and then given its name,
// so that it is there whole or not at all, whatever happens in between; what a crash leaves behind is a file whose name
// ends in .part, which nobody reads.
//
// A Dir has no bound: delete files that are of no use any more. Several Dirs and several processes may use one directory:
// of different events under one new ID one is kept, and whoever put another one is told. That takes a file system with
// hard links. On one that has none, such as FAT, two processes at the same instant may both be told that theirs is kept.
// It is safe for use by many goroutines at once. Make one with [NewDir]; the zero Dir is of no use.
type Dir struct {
	path string
	mu   sync.Mutex // one Put at a time, for the sake of file systems without links
}

var _ EventStore = (*Dir)(nil)

// NewDir returns the Dir at path. It makes the directory, for this user alone, if it is not there.
func NewDir(path string) (*Dir, error) {
	if path == "" {
		return nil, errors.New("rehearse: no name for the events' directory")
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("rehearse: %w", err)
	}
	return &Dir{path: path}, nil
}

// Put implements [EventStore].
func (d *Dir) Put(ctx context.Context, e Event) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	place := filepath.Join(d.path, fileName(e.ID))
	known, err := os.ReadFile(place)
	if errors.Is(err, fs.ErrNotExist) {
		if err = writeWhole(place, e.Body); err == nil {
			return nil
		}
		if errors.Is(err, fs.ErrExist) { // another Dir was quicker
			known, err = os.ReadFile(place)
		}
	}
	if err == nil {
		return compare(e, known)
	}
	return fmt.Errorf("rehearse: event %q: %w", e.ID, err)
}

// Get implements [EventStore]. A file that has been changed into something else than the event is an error.
func (d *Dir) Get(ctx context.Context, id string) (Event, error) {
	if ctx.Err() != nil {
		return Event{}, context.Cause(ctx)
	}
	body, err := os.ReadFile(filepath.Join(d.path, fileName(id)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Event{}, ErrNoEvent
	case err != nil:
		return Event{}, fmt.Errorf("rehearse: event %q: %w", id, err)
	}
	e, err := Event{ID: id, Body: body}.checked()
	if err != nil {
		return Event{}, fmt.Errorf("rehearse: file %s: %w", fileName(id), err)
	}
	return e, nil
}

// fileName is the name of the file for an event: something to recognise it by, and a hash to tell it from all others.
// IDs come from outside and may be ../../etc/passwd, CON, or another one in capitals, which is the same file on some
// systems: so nothing of an ID stands in the name but what is harmless everywhere, and it does not have to tell them
// apart.
func fileName(id string) string {
	const most = 60
	name := make([]byte, 0, most+40)
	for i := 0; i < len(id) && i < most; i++ {
		c := id[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		default:
			c = '_'
		}
		name = append(name, c)
	}
	sum := sha256.Sum256([]byte(id))
	name = append(name, '-')
	name = hex.AppendEncode(name, sum[:16])
	return string(append(name, ".json"...))
}

// writeWhole writes a file that is there whole or not at all. The error is fs.ErrExist if there is one already.
func writeWhole(place string, data []byte) (err error) {
	dir := filepath.Dir(place)
	f, err := os.CreateTemp(dir, "*.part")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = giveName(f.Name(), place); err != nil {
		return err
	}
	syncDir(dir)
	return nil
}

// giveName moves a file to its place, unless there is one. Renaming alone would replace that one.
func giveName(from, place string) error {
	err := os.Link(from, place)
	switch {
	case err == nil:
		os.Remove(from) // what can't be removed is another file that nobody reads
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// Each system has its own words for a file system that has no links. If something else is wrong, renaming fails, too.
	if _, err = os.Lstat(place); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, place)
}

// syncDir makes the new name last. Where a directory can't be opened or synced the system does without it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
