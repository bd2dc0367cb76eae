package webhookmw

// The tokens of JSON (RFC 8259 sections 2, 6 and 7): space, strings with their escapes, numbers. Each function takes
// the document and a place in it, and returns the place after the token, or the place of the flaw.

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// skipSpace returns the first place from i on that is no space.
func skipSpace(data []byte, i int) int {
	if i < len(data) && data[i] > ' ' {
		return i
	}
	return skipRun(data, i)
}

func skipRun(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops looks at eight bytes at once: the high bit of each that may not stand in a string by itself is set, of quotes,
// backslashes, control characters and all that is not ASCII. It is right up to the first such byte, since the subtractions
// borrow only into bytes above one; the other bits mean nothing. XOR with 2 lets a quote (0x22) and a space change places
// and leaves control characters below them, so that one comparison finds both.
func stops(x uint64) uint64 {
	control, slash := (x^2*ones)-0x21*ones, (x^'\\'*ones)-ones
	return control | slash | x
}

// skipLong skips as much of a string as it can without a look at where in 32 bytes it may have to stop.
func skipLong(data []byte, i int) int {
	for ; i+32 <= len(data); i += 32 {
		p := data[i : i+32]
		if (stops(word(p))|stops(word(p[8:]))|stops(word(p[16:]))|stops(word(p[24:])))&highs != 0 {
			break
		}
	}
	return i
}

func word(p []byte) uint64 { return binary.LittleEndian.Uint64(p) }

// scanString reads a string whose first byte after the quote is data[i], and returns the place of the quote that ends
// it. Strict: every surrogate must be one of a pair.
func scanString(data []byte, i int, strict bool) (end int, escaped bool, f flaw) {
	for {
		for start := i; i+8 <= len(data); {
			if stop := stops(word(data[i:])) & highs; stop != 0 {
				i += bits.TrailingZeros64(stop) >> 3
				break
			}
			if i += 8; i == start+32 { // Most strings have ended by here.
				i = skipLong(data, i)
			}
		}
		if i >= len(data) {
			return len(data), false, flawCut
		}
		n := 1
		switch c := data[i]; {
		case c == '"':
			return i, escaped, ""
		case c == '\\':
			escaped = true
			n, f = scanEscape(data[i:], strict)
		case c < ' ':
			f = flawControl
		case c >= utf8.RuneSelf:
			n, f = scanRunes(data[i:])
		}
		if f != "" {
			return i, false, f
		}
		i += n
	}
}

// scanRunes returns the length of the run of characters beyond ASCII that p begins with.
func scanRunes(p []byte) (n int, f flaw) {
	for n < len(p) && p[n] >= utf8.RuneSelf {
		_, size := utf8.DecodeRune(p[n:])
		if size == 1 {
			return n, flawUTF8
		}
		n += size
	}
	return n, ""
}

// scanEscape returns the length of the escape that p begins with; both halves of a pair of surrogates are one.
func scanEscape(p []byte, strict bool) (n int, f flaw) {
	if len(p) < 2 {
		return 0, flawCut
	}
	switch p[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, ""
	case 'u':
	default:
		return 0, flawEscape
	}
	unit, ok := hex4(p[2:])
	switch {
	case !ok:
		return 0, flawEscape
	case unit < 0xD800 || unit > 0xDFFF:
		return 6, ""
	}
	if unit <= 0xDBFF && len(p) >= 8 && p[6] == '\\' && p[7] == 'u' {
		if low, ok := hex4(p[8:]); ok && 0xDC00 <= low && low <= 0xDFFF {
			return 12, ""
		}
	}
	if strict {
		return 0, flawSurrogate
	}
	return 6, ""
}

// hex4 reads the four hexadecimal digits that p begins with.
func hex4(p []byte) (unit rune, ok bool) {
	if len(p) < 4 {
		return 0, false
	}
	for _, c := range p[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(c)
	}
	return unit, true
}

// scanNumber reads the number that begins at data[i]. Its size does not matter.
func scanNumber(data []byte, i int) (next int, f flaw) {
	if data[i] == '-' {
		i++
	}
	first := i
	i = skipDigits(data, i)
	if i == first || data[first] == '0' && i > first+1 {
		return first, flawNumber
	}
	if i < len(data) && data[i] == '.' {
		first = i + 1
		if i = skipDigits(data, first); i == first {
			return i, flawNumber
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		first = i
		if i = skipDigits(data, first); i == first {
			return i, flawNumber
		}
	}
	return i, ""
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	return i
}

// unescape appends to dst the text of a string that scanString has passed. A lone surrogate becomes U+FFFD, as
// encoding/json makes it.
func unescape(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		c = text[i+1]
		if c != 'u' {
			if at := strings.IndexByte("bfnrt", c); at >= 0 {
				c = "\b\f\n\r\t"[at]
			}
			dst = append(dst, c)
			i += 2
			continue
		}
		unit, _ := hex4(text[i+2:])
		n, _ := scanEscape(text[i:], false)
		if n == 12 {
			low, _ := hex4(text[i+8:])
			unit = utf16.DecodeRune(unit, low)
		}
		dst = utf8.AppendRune(dst, unit)
		i += n
	}
	return dst
}
