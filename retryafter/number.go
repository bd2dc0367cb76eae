package retryafter

// Numbers, as ECMAScript's StringToNumber reads text (ECMA-262 section 7.1.4.1)
// and Math.round turns seconds into milliseconds.

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// wholeSeconds reads plain decimal digits, the form that nearly every server
// sends, without any floating point. It refuses numbers of more than 18 digits,
// which an int64 might not hold; they are left to [number].
func wholeSeconds(s string) (delay time.Duration, ok bool) {
	if len(s) > 18 {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	if n > int64(maxDelay/time.Second) {
		return maxDelay, true
	}
	return time.Duration(n) * time.Second, true
}

// fromSeconds is Math.round(seconds * 1000) milliseconds. seconds must not be
// negative; the product may be infinite.
func fromSeconds(seconds float64) time.Duration {
	// JavaScript rounds halves up and Go away from zero: the same where nothing is
	// negative. The product is rounded before, so that "8.1025" falls just short of a
	// half and is 8102 ms, there and here.
	ms := math.Round(seconds * 1000)
	if ms > float64(maxDelay/time.Millisecond) {
		return maxDelay
	}
	return time.Duration(ms) * time.Millisecond
}

// number reads text from which the white space has been trimmed. It refuses
// what is not a number, is not finite, or is less than 0.
func number(s string) (seconds float64, ok bool) {
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'x', 'X':
			return radix(s[2:], 4)
		case 'o', 'O':
			return radix(s[2:], 3)
		case 'b', 'B':
			return radix(s[2:], 1)
		}
	}
	return decimal(s)
}

// radix reads digits of bits bits each, most significant first.
func radix(digits string, bits int) (seconds float64, ok bool) {
	var n uint64
	exponent := 0
	for i := range len(digits) {
		v := hexValue(digits[i])
		if v >= 1<<bits {
			return 0, false
		}
		if n < 1<<60 {
			n = n<<bits | uint64(v)
		} else if exponent < 2048 {
			// The delay is the longest already, unless the number is infinite. That depends
			// on its first 54 bits, which n has, and on how many there are.
			exponent += bits
		}
	}
	seconds = math.Ldexp(float64(n), exponent)
	return seconds, !math.IsInf(seconds, 1)
}

// hexValue is the value of a hexadecimal digit, and 16 or more for any other
// byte.
func hexValue(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return math.MaxUint8
}

// decimal reads a decimal literal with an optional sign. The whole or the
// fractional part may be missing, but not both.
func decimal(s string) (seconds float64, ok bool) {
	s, negative := strings.CutPrefix(s, "-")
	if !negative {
		s = strings.TrimPrefix(s, "+")
	}
	whole, s := cutDigits(s)
	fraction := ""
	if strings.HasPrefix(s, ".") {
		fraction, s = cutDigits(s[1:])
	}
	if whole == "" && fraction == "" {
		return 0, false
	}
	power, ok := exponent(s)
	if !ok {
		return 0, false
	}
	seconds = combine(whole, fraction, power)
	// Minus zero is zero, and so is whatever is too close to it for a float64.
	if math.IsInf(seconds, 1) || negative && seconds != 0 {
		return 0, false
	}
	return seconds, true
}

// cutDigits splits s after its leading decimal digits.
func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return s[:i], s[i:]
}

// exponent reads the exponent of a decimal literal, letter included, or nothing
// at all. An enormous one comes out as some other enormous one.
func exponent(s string) (power int64, ok bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s, negative := strings.CutPrefix(s[1:], "-")
	if !negative {
		s = strings.TrimPrefix(s, "+")
	}
	digits, rest := cutDigits(s)
	if digits == "" || rest != "" {
		return 0, false
	}
	for i := range len(digits) {
		if power < 1<<40 { // more than any string has digits to make up for
			power = power*10 + int64(digits[i]-'0')
		}
	}
	if negative {
		power = -power
	}
	return power, true
}

// powers holds the powers of ten by which combine divides; a float64 holds
// each of them exactly.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// combine is the float64 nearest to whole.fraction * 10^power, the infinite one
// included.
func combine(whole, fraction string, power int64) float64 {
	if len(whole)+len(fraction) < len(powers) && power == 0 {
		// Up to 15 digits fit into a float64, and one division rounds but once.
		var n uint64
		for i := range len(whole) {
			n = n*10 + uint64(whole[i]-'0')
		}
		for i := range len(fraction) {
			n = n*10 + uint64(fraction[i]-'0')
		}
		return float64(n) / powers[len(fraction)]
	}
	// The value is 0.digits * 10^point, and the first digit is not 0. ParseFloat gets
	// to see it in this form alone: it cuts short an exponent of six digits, although
	// a long run of zeros may make up for one (golang/go#42436), and it takes an
	// integer of more than 800 digits for one of 800.
	digits := strings.TrimLeft(whole+fraction, "0")
	point := power + int64(len(digits)-len(fraction))
	switch {
	case digits == "" || point < -400:
		return 0
	case point > 400:
		return math.Inf(1)
	}
	// The error can only be that of a number out of range, which is infinite.
	f, _ := strconv.ParseFloat("0."+digits+"e"+strconv.FormatInt(point, 10), 64)
	return f
}

// trim takes off the white space at both ends.
func trim(s string) string {
	// Nearly every value begins and ends with a visible ASCII character.
	if s != "" && visible(s[0]) && visible(s[len(s)-1]) {
		return s
	}
	return strings.TrimFunc(s, isSpace)
}

func visible(c byte) bool { return ' ' < c && c < 0x7f }

// isSpace says whether ECMAScript counts r as white space or the end of a line.
// unicode.IsSpace differs: it has U+0085 and lacks U+FEFF.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', '\u2028', '\u2029', '\ufeff':
		return true
	}
	return unicode.Is(unicode.Zs, r)
}
