package retryafter_test

// Numbers: against what a JavaScript engine made of the same text, and the
// faults that retry clients have shown on them in the field.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rebound-go/rebound/retryafter"
)

const longest time.Duration = math.MaxInt64

// now is the moment at which the tests read their values.
var now = time.Date(1994, time.November, 6, 8, 49, 30, 0, time.UTC)

// A reading is a text and what Parse must make of it.
type reading struct {
	value string
	delay time.Duration
	ok    bool
}

// fromMilliseconds reads what the engine printed: a number of milliseconds, or
// "overflow" for one that is infinite.
func fromMilliseconds(t testing.TB, text string) time.Duration {
	t.Helper()
	if text == "overflow" {
		return longest
	}
	ms, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	if ms >= float64(longest/time.Millisecond+1) {
		return longest
	}
	return time.Duration(ms) * time.Millisecond
}

func vectors(t testing.TB) []reading {
	t.Helper()
	data, err := os.ReadFile("testdata/retry_after_numbers.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Value    string
		Accepted bool
		MS       json.RawMessage
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	var readings []reading
	for _, row := range rows {
		r := reading{value: row.Value, ok: row.Accepted}
		if r.ok {
			r.delay = fromMilliseconds(t, strings.Trim(string(row.MS), `"`))
		}
		readings = append(readings, r)
	}
	return readings
}

// corpus reads the larger set of random texts, which testdata's
// javascript_numbers.mjs prints.
func corpus(t testing.TB) []reading {
	t.Helper()
	data, err := os.ReadFile("testdata/javascript_numbers.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var readings []reading
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		text, ms, _ := strings.Cut(lines.Text(), "\t")
		r := reading{ok: ms != "refused"}
		if err := json.Unmarshal([]byte(text), &r.value); err != nil {
			t.Fatal(err)
		}
		if r.ok {
			r.delay = fromMilliseconds(t, ms)
		}
		readings = append(readings, r)
	}
	return readings
}

func check(t *testing.T, readings []reading) {
	t.Helper()
	for _, want := range readings {
		delay, ok := retryafter.Parse(want.value, now)
		if delay != want.delay || ok != want.ok {
			shown := want.value[:min(len(want.value), 60)]
			t.Errorf("Parse(%q) = %v, %v; want %v, %v", shown, delay, ok, want.delay, want.ok)
		}
	}
}

func TestParseReadsNumbersAsJavaScriptDoes(t *testing.T) {
	for name, readings := range map[string][]reading{"vectors": vectors(t), "corpus": corpus(t)} {
		t.Run(name, func(t *testing.T) {
			if len(readings) < 80 {
				t.Fatalf("only %d rows", len(readings))
			}
			check(t, readings)
		})
	}
}

// Number("") is 0 in JavaScript, but a header without a value says nothing.
func TestParseTakesABlankValueForNone(t *testing.T) {
	for _, blank := range []string{"", " ", "\t", "\r\n", "\v\f", "\u00a0", "\ufeff", "\u2028\u2029", " \u3000 "} {
		check(t, []reading{{value: blank}})
	}
}

func TestParseKeepsFractions(t *testing.T) {
	check(t, []reading{
		{"0.5", 500 * time.Millisecond, true}, // supabase-swift#1125: whole seconds made 0 of it
		{"1.5", 1500 * time.Millisecond, true},
		{"0.001", time.Millisecond, true},
		{"0.00049999999999999994", 0, true}, // the double before the next one's
		{"0.0005", time.Millisecond, true},
		{"2.0005", 2001 * time.Millisecond, true},
		{"8.1025", 8102 * time.Millisecond, true}, // times 1000 it is 8102.499999999999
	})
}

// hashicorp/go-retryablehttp#247 and #295: numbers that do not fit made the wait
// negative, and the client hot.
func TestParseSaturates(t *testing.T) {
	check(t, []reading{
		{"9223372036", 9223372036 * time.Second, true},
		{"9223372036.854", longest / time.Millisecond * time.Millisecond, true},
		{"9223372036.855", longest, true},
		{"9223372037", longest, true},
		{"9223372036854775807", longest, true},
		{"9223372036854775808", longest, true},
		{"18446744073709551616", longest, true},
		{strings.Repeat("9", 18), longest, true},
		{strings.Repeat("9", 19), longest, true},
		{strings.Repeat("9", 40), longest, true},
		{strings.Repeat("9", 308), longest, true},
		{strings.Repeat("9", 309), 0, false}, // infinite
	})
}

// Values that no server sends and a hostile one might: read right, and at once.
func TestParseReadsLongNumbers(t *testing.T) {
	const n = 200_000
	zeros, nines := strings.Repeat("0", n), strings.Repeat("9", n)
	// Halfway from the largest double to 2^1024, which rounds to infinity.
	halfway := strings.Repeat("f", 13) + "c" + strings.Repeat("0", 242)
	half, _ := strings.CutSuffix(halfway, "0")
	check(t, []reading{
		{zeros, 0, true},
		{"-" + zeros + "." + zeros, 0, true},
		{"-" + zeros + "." + zeros + "1", 0, true}, // Number makes -0 of it
		{"-" + zeros + "." + "1", 0, false},
		{zeros + "7", 7 * time.Second, true},
		{"7." + zeros, 7 * time.Second, true},
		{"0." + zeros + "7", 0, true},
		{"0." + zeros + "7e" + strconv.Itoa(n+1), 7 * time.Second, true},
		{"7" + zeros + "e-" + strconv.Itoa(n), 7 * time.Second, true},
		{"7" + zeros + "e-" + strconv.Itoa(n-9), 7_000_000_000 * time.Second, true},
		{"7" + zeros + "e-" + strconv.Itoa(n-10), longest, true},
		{"7" + zeros, 0, false},
		{nines, 0, false},
		{nines + "x", 0, false},
		{"0." + nines, time.Second, true},
		{"0.0005" + zeros, time.Millisecond, true},
		{"0.0004" + nines, time.Millisecond, true},           // the nearest double is 0.0005
		{"2.0014999" + nines, 2002 * time.Millisecond, true}, // 2.0015 * 1000 is 2001.5
		{"1e" + nines, 0, false},
		{"1e-" + nines, 0, true},
		{"-1e-" + nines, 0, true},
		{"-1e" + nines, 0, false},
		{"0e" + nines, 0, true},
		{"0x" + zeros + "1f", 31 * time.Second, true},
		{"0x" + nines, 0, false},
		{"0b1" + zeros, 0, false},
		{"0x" + zeros + "g", 0, false},
		{"0x" + nines + "g", 0, false},
		{"0x" + halfway, 0, false},
		{"0x" + half, longest, true},
		{strings.Repeat(" ", n) + "7" + strings.Repeat("\u3000", n), 7 * time.Second, true},
		{strings.Repeat(" ", n), 0, false},
		{strings.Repeat("+", n), 0, false},
		{strings.Repeat(".", n), 0, false},
	})
}

func TestParseRefusesWhatIsNoNumber(t *testing.T) {
	for _, value := range []string{
		"-1", "-0.001", "-1e-323", // failsafe-go took negative numbers
		"10, 20", "10,20", "10;20", "10 20", // several values in one line
		"Infinity", "inf", "+inf", "nan", "NAN", "0x1p4", "0x1_0", "1_0", // strconv's own
		"0x", "0o", "0b", "0X", "-0b1", "+0o7", "00x1", "0x 1", "0x-1", "0o9", "0b12",
		"+", "-", ".", "e", "+.", ".e1", "e1", "1e", "1e+", "1e-", "1e1.5", "1e1e1", "1.e", "1..", "++1", "+-1", "1-", "1+1",
		"5s", "5 s", "5ms", "$5", "5%", "#5", "1/2", "½", "٣", "१", "５", "Ⅷ",
		"\x00", "7\x00", "\x007", "\u00857", "7\u180e", "7\u200b", "7\xa0", "\xff7", "\xef\xbb7", // near white space, and broken UTF-8
	} {
		check(t, []reading{{value: value}})
	}
}

func TestParseAllocatesNothingForCommonForms(t *testing.T) {
	for _, value := range []string{"120", "0", " 120 ", "1.5", "0.0005", "0x1f", "soon", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"} {
		if got := testing.AllocsPerRun(100, func() { retryafter.Parse(value, now) }); got != 0 {
			t.Errorf("Parse(%q) allocates %v times, want 0", value, got)
		}
	}
}
