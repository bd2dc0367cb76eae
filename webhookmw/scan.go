package webhookmw

// The scanner behind the JSON contracts: one pass over a document that checks grammar, Unicode, nesting and names and
// picks out the top-level id and type. It keeps a stack of its own, so no input can overflow the goroutine's.

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"sync"
)

// maxDepth is how many objects and arrays may be open at once.
const maxDepth = 1000

// scanner holds what a document needs beside its own bytes. Scanners are pooled, so that a scan allocates nothing.
type scanner struct {
	data   []byte
	strict bool // names are unique within their object, surrogates are paired
	depth  int
	stack  [maxDepth]uint32 // per open container: inArray, or how many names were known when this object began
	names  nameTable
	text   []byte // scratch

	object bool          // the document is an object
	id     string        // the name of the member that is the ID
	want   member        // what the next value is, if it is one to pick out
	seen   [members]bool // the member stands there
	found  [members]span // its value, where that is a string
}

// member is a top-level member that the contracts read.
type member int

const (
	other member = iota
	memberID
	memberType
	members
)

// span is where a string stands in the document, without its quotes. The zero span is no string: even an empty one
// begins after a quote.
type span struct {
	start, end int
	escaped    bool // holds a backslash
}

// append appends the string itself to dst.
func (p span) append(dst, data []byte) []byte {
	if p.escaped {
		return unescape(dst, data[p.start:p.end])
	}
	return append(dst, data[p.start:p.end]...)
}

// inArray marks an open array on the stack.
const inArray = 1<<32 - 1

// flaw is what is wrong with a document; empty: nothing.
type flaw string

const (
	flawNone      flaw = "no document"
	flawCut       flaw = "document without end"
	flawTail      flaw = "something after the document"
	flawValue     flaw = "no value where one must be"
	flawName      flaw = "no name where one must be"
	flawColon     flaw = "no colon after a name"
	flawSeparator flaw = "neither comma nor end after a value"
	flawDeep      flaw = "nesting too deep"
	flawTwice     flaw = "a name that stands twice in its object"
	flawCase      flaw = "a name that is id or type in other letters"
	flawNumber    flaw = "malformed number"
	flawEscape    flaw = "malformed escape"
	flawSurrogate flaw = "lone surrogate"
	flawControl   flaw = "control character in a string"
	flawUTF8      flaw = "invalid UTF-8"
	flawBOM       flaw = "a byte order mark before the document"
	flawLong      flaw = "document too long"
)

// jsonError is a flaw and its place. It quotes nothing of the document.
type jsonError struct {
	flaw   flaw
	offset int
}

func (e *jsonError) Error() string {
	return fmt.Sprintf("webhookmw: event: %s (byte %d)", string(e.flaw), e.offset)
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

var scanners = sync.Pool{New: func() any { return &scanner{names: newNameTable()} }}

// scan checks that data is exactly one JSON value and hands what it found to use: the top-level strings "type" and the
// one that id names.
func scan(data []byte, strict bool, id string, use func(*scanner) error) error {
	s := scanners.Get().(*scanner)
	defer s.free()
	s.data, s.strict, s.id = data, strict, id
	if at, flaw := s.document(); flaw != "" {
		return &jsonError{flaw, at}
	}
	return use(s)
}

func (s *scanner) free() {
	s.data, s.depth, s.want = nil, 0, other
	s.seen, s.found = [members]bool{}, [members]span{}
	s.names.leave(0)
	if !s.names.large() {
		scanners.Put(s)
	}
}

// document reads the whole of data. Where there is a flaw, at is its place.
func (s *scanner) document() (at int, f flaw) {
	i := skipSpace(s.data, 0)
	switch {
	case uint64(len(s.data)) > math.MaxUint32: // The places of names are kept in 32 bits.
		return 0, flawLong
	case i == len(s.data):
		return i, flawNone
	case bytes.HasPrefix(s.data, byteOrderMark):
		return i, flawBOM
	}
	s.object = s.data[i] == '{'
	for {
		if i == len(s.data) {
			return i, flawCut
		}
		more := false // a value comes next
		switch c := s.data[i]; c {
		case '{', '[':
			i, more, f = s.open(i, c == '{')
		default:
			i, f = s.scalar(i, c)
		}
		for f == "" && !more {
			i = skipSpace(s.data, i)
			if s.depth == 0 {
				if i < len(s.data) {
					f = flawTail
				}
				return i, f
			}
			i, more, f = s.next(i)
		}
		if f != "" {
			return i, f
		}
		i = skipSpace(s.data, i)
	}
}

// open enters the container that begins at data[i]. It reports whether a value comes next, which is not so where the
// container is empty.
func (s *scanner) open(i int, object bool) (next int, more bool, f flaw) {
	if s.depth == maxDepth {
		return i, false, flawDeep
	}
	s.want = other
	mark, end := uint32(inArray), byte(']')
	if object {
		mark, end = s.names.enter(), '}'
	}
	s.stack[s.depth] = mark
	s.depth++
	i = skipSpace(s.data, i+1)
	if i < len(s.data) && s.data[i] == end {
		s.close()
		return i + 1, false, ""
	}
	if object {
		i, f = s.name(i)
	}
	return i, true, f
}

// next reads what stands after a value inside a container: a comma, and the next name where there is one, or the
// container's end. It reports whether a value comes next.
func (s *scanner) next(i int) (next int, more bool, f flaw) {
	if i == len(s.data) {
		return i, false, flawCut
	}
	object := s.stack[s.depth-1] != inArray
	switch c := s.data[i]; {
	case c == ',' && object:
		i, f = s.name(skipSpace(s.data, i+1))
		return i, true, f
	case c == ',':
		return i + 1, true, ""
	case c == '}' && object, c == ']' && !object:
		s.close()
		return i + 1, false, ""
	}
	return i, false, flawSeparator
}

func (s *scanner) close() {
	s.depth--
	if mark := s.stack[s.depth]; mark != inArray {
		s.names.leave(mark)
	}
}

// name reads a member's name and the colon after it.
func (s *scanner) name(i int) (next int, f flaw) {
	if i == len(s.data) || s.data[i] != '"' {
		return i, flawName
	}
	end, escaped, f := scanString(s.data, i+1, s.strict)
	if f != "" {
		return end, f
	}
	name := span{i + 1, end, escaped}
	if s.strict && !s.names.add(s.data, name, s.stack[s.depth-1]) {
		return i, flawTwice
	}
	if s.depth == 1 {
		if f := s.topLevel(name); f != "" {
			return i, f
		}
	}
	i = skipSpace(s.data, end+1)
	if i == len(s.data) || s.data[i] != ':' {
		return i, flawColon
	}
	return i + 1, ""
}

// topLevel sees whether name is one of the members to pick out. One that is so in other letters is refused where names
// are strict: encoding/json takes it for the same member, and two readers would see two events in one.
func (s *scanner) topLevel(name span) flaw {
	s.want = other
	text := s.data[name.start:name.end]
	if name.escaped {
		s.text = unescape(s.text[:0], text)
		text = s.text
	}
	for m, known := range [members]string{memberID: s.id, memberType: "type"} {
		switch {
		case len(text) != len(known) || m == int(other):
		case string(text) != known:
			if s.strict && strings.EqualFold(string(text), known) {
				return flawCase
			}
		case s.seen[m]:
			return flawTwice
		default:
			s.seen[m] = true
			s.want = member(m)
		}
	}
	return ""
}

// scalar reads the string, number or literal that begins at data[i].
func (s *scanner) scalar(i int, c byte) (next int, f flaw) {
	switch {
	case c == '"':
		end, escaped, f := scanString(s.data, i+1, s.strict)
		if f != "" {
			return end, f
		}
		if s.want != other {
			s.found[s.want] = span{i + 1, end, escaped}
		}
		return end + 1, ""
	case c == '-' || '0' <= c && c <= '9':
		return scanNumber(s.data, i)
	}
	word := ""
	switch c {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
		word = "null"
	}
	if word == "" || len(s.data)-i < len(word) || string(s.data[i:i+len(word)]) != word {
		return i, flawValue
	}
	return i + len(word), ""
}
