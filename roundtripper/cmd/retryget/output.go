package main

// This file holds where the body goes.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// output is where the body of a 2xx goes. A file is there whole or not at all:
// until keep, what arrives lies beside it.
type output struct {
	w    io.Writer
	file *os.File // nil: w is not ours to close
	name string   // of the file; "": it is written in place
}

// openOutput opens the file of that name, or stdout if there is no name. It is
// called before anything is sent, so that no fetch is wasted.
func openOutput(name string, stdout io.Writer) (*output, error) {
	if name == "" || name == "-" {
		return &output{w: stdout}, nil
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // a link stays one
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return createBeside(name, 0o666)
	case err != nil:
		return nil, err
	case info.Mode().IsRegular():
		return createBeside(name, info.Mode().Perm())
	}
	// A device or a pipe is not to be replaced.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	return &output{w: f, file: f}, nil
}

func createBeside(name string, perm fs.FileMode) (*output, error) {
	part := fmt.Sprintf("%s.%d.part", name, os.Getpid())
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			pe.Path = name // the one that was asked for
		}
		return nil, err
	}
	return &output{w: f, file: f, name: name}, nil
}

// keep makes what was written the file.
func (o *output) keep() error {
	if o.file == nil {
		return nil
	}
	f := o.file
	o.file = nil
	err := f.Close()
	if o.name == "" {
		return err
	}
	if err == nil {
		err = os.Rename(f.Name(), o.name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// drop gives up what was written, unless it was kept.
func (o *output) drop() {
	if o.file == nil {
		return
	}
	o.file.Close()
	if o.name != "" {
		os.Remove(o.file.Name())
	}
}

// counter counts what goes through it to w, and tells w's errors from those of
// what is read.
type counter struct {
	w    io.Writer
	n    int64
	last byte
	err  error
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if n > 0 {
		c.last = p[n-1]
	}
	if err != nil {
		c.err = err
	}
	return n, err
}
