package webhookmw_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// nested is an event with that many containers inside one another, the event's own object counted.
func nested(depth int, open, end string) string {
	return `{"id":"a","type":"t","x":` + strings.Repeat(open, depth-1) + "1" + strings.Repeat(end, depth-1) + `}`
}

// events are bodies and what StrictEvent has against them; empty: nothing. They also seed the fuzzer.
var events = []struct{ name, body, flaw string }{
	{"least", `{"id":"a","type":"t"}`, ""},
	{"space everywhere", " \t\r\n{ \"id\" :\t\"a\" , \"type\"\r\n: \"t\" } \n", ""},
	{"all kinds of values", `{"id":"a","type":"t","n":null,"b":[true,false],"o":{},"l":[],"m":[[],{},"",0]}`, ""},
	{"numbers", `{"id":"a","type":"t","x":[0,-0,1.5,-1e9,1E+2,2e-3,0.0,123456789012345678901234567890,1e999999]}`, ""},
	{"escapes", `{"id":"a","type":"t","x":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"}`, ""},
	{"text beyond ASCII", `{"id":"a","type":"тип","x":"é☃😀","日本":1}`, ""},
	{"escaped name", `{"\u0069d":"a","typ\u0065":"t"}`, ""},
	{"escaped ID", `{"id":"\u0061\"","type":"t"}`, ""},
	{"escaped type", `{"id":"a","type":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00x"}`, ""},
	{"longest ID", `{"id":"` + strings.Repeat("x", 255) + `","type":"t"}`, ""},
	{"equal names in different objects", `{"id":"a","type":"t","x":{"id":1,"y":{"id":2}},"z":[{"id":3},{"id":4}]}`, ""},
	{"an inner ID", `{"data":{"id":"b","type":"u"},"id":"a","type":"t"}`, ""},
	{"a name and its case, further in", `{"id":"a","type":"t","x":{"id":1,"ID":2}}`, ""},
	{"empty name", `{"id":"a","type":"t","":1}`, ""},
	{"DEL in a string", "{\"id\":\"a\",\"type\":\"\x7f\"}", ""},
	{"nested to the limit", nested(1000, "[", "]"), ""},
	{"objects to the limit", nested(1000, `{"x":`, "}"), ""},
	{"many names", `{"id":"a","type":"t",` + manyNames(5000, "") + `}`, ""},

	{"nothing", "", "no document"},
	{"space alone", " \n", "no document"},
	{"null", "null", "not a JSON object"},
	{"array", `[]`, "not a JSON object"},
	{"string", `""`, "not a JSON object"},
	{"number", `1`, "not a JSON object"},
	{"array of an event", `[{"id":"a","type":"t"}]`, "not a JSON object"},
	{"two documents", `{"id":"a","type":"t"}{"id":"b","type":"t"}`, "after the document"},
	{"a letter after", `{"id":"a","type":"t"}x`, "after the document"},
	{"a comma after", `{"id":"a","type":"t"},`, "after the document"},
	{"NUL after", "{\"id\":\"a\",\"type\":\"t\"}\x00", "after the document"},
	{"byte order mark", "\xEF\xBB\xBF{\"id\":\"a\",\"type\":\"t\"}", "byte order mark"},
	{"no ID", `{"type":"t"}`, `"id"`},
	{"empty ID", `{"id":"","type":"t"}`, `"id"`},
	{"ID is a number", `{"id":1,"type":"t"}`, `"id"`},
	{"ID is null", `{"id":null,"type":"t"}`, `"id"`},
	{"ID is an object", `{"id":{"id":"a"},"type":"t"}`, `"id"`},
	{"ID with NUL", `{"id":"a\u0000","type":"t"}`, `"id"`},
	{"ID with a newline", `{"id":"a\n","type":"t"}`, `"id"`},
	{"ID beyond ASCII", `{"id":"é","type":"t"}`, `"id"`},
	{"ID too long", `{"id":"` + strings.Repeat("x", 256) + `","type":"t"}`, `"id"`},
	{"ID in an inner object alone", `{"data":{"id":"a"},"type":"t"}`, `"id"`},
	{"no type", `{"id":"a"}`, `"type"`},
	{"empty type", `{"id":"a","type":""}`, `"type"`},
	{"type is a number", `{"id":"a","type":1}`, `"type"`},
	{"type is an array", `{"id":"a","type":["t"]}`, `"type"`},
	{"two IDs", `{"id":"a","id":"b","type":"t"}`, "stands twice"},
	{"two equal IDs", `{"id":"a","type":"t","id":"a"}`, "stands twice"},
	{"two IDs, one escaped", `{"id":"a","\u0069d":"b","type":"t"}`, "stands twice"},
	{"two names", `{"id":"a","type":"t","x":1,"x":2}`, "stands twice"},
	{"two names further in", `{"id":"a","type":"t","x":[{"y":{"z":1,"w":{},"z":2}}]}`, "stands twice"},
	{"two long names", `{"id":"a","type":"t","a_name_of_more_than_sixteen":1,"a_name_of_more_than_sixteen":2}`, "stands twice"},
	{"two empty names", `{"id":"a","type":"t","":1,"":2}`, "stands twice"},
	{"two among many names", `{"id":"a","type":"t",` + manyNames(5000, "") + `,"n4":0}`, "stands twice"},
	{"two after an inner object", `{"id":"a","type":"t","x":{"y":1},"x":2}`, "stands twice"},
	{"an ID in other letters", `{"id":"a","type":"t","ID":"b"}`, "other letters"},
	{"a type in other letters", `{"id":"a","tYpe":"u","type":"t"}`, "other letters"},
	{"only other letters", `{"Id":"a","Type":"t"}`, "other letters"},
	{"lone high surrogate", `{"id":"a","type":"\ud800"}`, "lone surrogate"},
	{"lone low surrogate", `{"id":"a","type":"\uDC00"}`, "lone surrogate"},
	{"surrogates the wrong way round", `{"id":"a","type":"\uDE00\uD83D"}`, "lone surrogate"},
	{"high surrogate and a letter", `{"id":"a","type":"\ud800\u0061"}`, "lone surrogate"},
	{"lone surrogate in a name", `{"id":"a","type":"t","\ud800":1}`, "lone surrogate"},
	{"invalid UTF-8", "{\"id\":\"a\",\"type\":\"\xff\"}", "invalid UTF-8"},
	{"overlong UTF-8", "{\"id\":\"a\",\"type\":\"\xc0\xaf\"}", "invalid UTF-8"},
	{"UTF-8 cut short", "{\"id\":\"a\",\"type\":\"\xe2\x98\"}", "invalid UTF-8"},
	{"control character", "{\"id\":\"a\",\"type\":\"a\nb\"}", "control character"},
	{"unknown escape", `{"id":"a","type":"\x41"}`, "malformed escape"},
	{"short escape", `{"id":"a","type":"\u12"}`, "malformed escape"},
	{"escape without hex", `{"id":"a","type":"\u12g4"}`, "malformed escape"},
	{"string without end", `{"id":"a","type":"t`, "without end"},
	{"escape without end", `{"id":"a","type":"t\`, "without end"},
	{"object without end", `{"id":"a","type":"t"`, "without end"},
	{"value without end", `{"id":"a","type":`, "without end"},
	{"array without end", `{"id":"a","type":"t","x":[1`, "without end"},
	{"wrong end", `{"id":"a","type":"t"]`, "neither comma nor end"},
	{"wrong inner end", `{"id":"a","type":"t","x":[1}`, "neither comma nor end"},
	{"no comma", `{"id":"a" "type":"t"}`, "neither comma nor end"},
	{"comma at the end", `{"id":"a","type":"t",}`, "no name"},
	{"comma at the end of an array", `{"id":"a","type":"t","x":[1,]}`, "no value"},
	{"comma alone in an array", `{"id":"a","type":"t","x":[,]}`, "no value"},
	{"name without quotes", `{id:"a","type":"t"}`, "no name"},
	{"name is a number", `{1:"a","type":"t"}`, "no name"},
	{"single quotes", `{'id':'a','type':'t'}`, "no name"},
	{"no colon", `{"id" "a","type":"t"}`, "no colon"},
	{"no value", `{"id":,"type":"t"}`, "no value"},
	{"comment", `{"id":"a",/* */"type":"t"}`, "no name"},
	{"NaN", `{"id":"a","type":"t","x":NaN}`, "no value"},
	{"True", `{"id":"a","type":"t","x":True}`, "no value"},
	{"nul", `{"id":"a","type":"t","x":nul}`, "no value"},
	{"literal with more", `{"id":"a","type":"t","x":nullx}`, "neither comma nor end"},
	{"zero before", `{"id":"a","type":"t","x":01}`, "malformed number"},
	{"plus before", `{"id":"a","type":"t","x":+1}`, "no value"},
	{"minus alone", `{"id":"a","type":"t","x":-}`, "malformed number"},
	{"no digit after the point", `{"id":"a","type":"t","x":1.}`, "malformed number"},
	{"no digit before the point", `{"id":"a","type":"t","x":.5}`, "no value"},
	{"no exponent", `{"id":"a","type":"t","x":1e}`, "malformed number"},
	{"hex", `{"id":"a","type":"t","x":0x10}`, "neither comma nor end"},
	{"vertical tab as space", "{\"id\":\"a\",\v\"type\":\"t\"}", "no name"},
	{"no-break space", "{\"id\":\"a\",\u00a0\"type\":\"t\"}", "no name"},
	{"nested too deep", nested(1001, "[", "]"), "nesting too deep"},
	{"objects too deep", nested(1001, `{"x":`, "}"), "nesting too deep"},
	{"endless nesting", strings.Repeat("[", 1<<20), "nesting too deep"},
}

// manyNames is n members whose names differ.
func manyNames(n int, prefix string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%sn%d":%d`, prefix, i, i)
	}
	return b.String()
}

func TestStrictEvent(t *testing.T) {
	for _, event := range events {
		t.Run(event.name, func(t *testing.T) {
			id, typ, err := webhookmw.StrictEvent([]byte(event.body))
			if event.flaw != "" {
				require.ErrorContains(t, err, event.flaw)
				require.Empty(t, id+typ)
				return
			}
			require.NoError(t, err)
			var want struct{ ID, Type string }
			require.NoError(t, json.Unmarshal([]byte(event.body), &want))
			require.Equal(t, want.ID, id)
			require.Equal(t, want.Type, typ)
		})
	}
}

// Through the middleware a fault of the contract is a 422, and the handler does not run.
func TestContractInTheMiddleware(t *testing.T) {
	for _, event := range events {
		rec := newReceiver(t, webhookmw.Config{MaxBodyBytes: 2 << 20}, nil)
		code := rec.send(signed("dlv_1", event.body)).Code
		switch {
		case event.flaw == "":
			require.Equal(t, 200, code, event.name)
			require.Equal(t, 1, rec.ran())
		case strings.Contains(event.name, "UTF-8"):
			require.Equal(t, 400, code, event.name)
			require.Zero(t, rec.ran())
		default:
			require.Equal(t, 422, code, event.name)
			require.Zero(t, rec.ran())
		}
	}
}

func TestStrictEventSaysWhere(t *testing.T) {
	_, _, err := webhookmw.StrictEvent([]byte(`{"id":"a","type":"t","x":01}`))
	require.EqualError(t, err, "webhookmw: event: malformed number (byte 25)")
	_, _, err = webhookmw.StrictEvent([]byte(`{"id":"topsecret","id":"b","type":"t"}`))
	require.EqualError(t, err, "webhookmw: event: a name that stands twice in its object (byte 18)")
}

func TestAnyJSON(t *testing.T) {
	tests := []struct{ body, id, typ, flaw string }{
		{`{"id":"a","type":"t"}`, "a", "t", ""},
		{`{"id":1,"type":null}`, "", "", ""},
		{`{"test": 2432232314}`, "", "", ""},
		{`[1,2]`, "", "", ""},
		{`"x"`, "", "", ""},
		{`{"x":1,"x":2,"id":"a","ID":"b"}`, "a", "", ""},
		{`{"id":"\ud800","type":"\u00e9"}`, "\uFFFD", "é", ""},
		{`{"x":{"id":"b"}}`, "", "", ""},
		{`{"id":"a","id":"b"}`, "", "", "stands twice"},
		{`{"id":1,"id":"b"}`, "", "", "stands twice"},
		{`{}{}`, "", "", "after the document"},
		{``, "", "", "no document"},
		{strings.Repeat("[", 1001), "", "", "nesting too deep"},
	}
	for _, test := range tests {
		id, typ, err := webhookmw.AnyJSON([]byte(test.body))
		if test.flaw != "" {
			require.ErrorContains(t, err, test.flaw, test.body)
			continue
		}
		require.NoError(t, err, test.body)
		require.Equal(t, test.id, id, test.body)
		require.Equal(t, test.typ, typ, test.body)
	}
}

// An ID that the contract leaves open is the delivery's, and without one the body's hash.
func TestContractWithoutID(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{Contract: webhookmw.AnyBody}, nil)
	require.Equal(t, 200, rec.send(signed("dlv_1", "hello")).Code)
	require.Equal(t, "dlv_1", rec.runs[0].EventID)

	rec = newReceiver(t, webhookmw.Config{Contract: webhookmw.AnyBody, Scheme: webhookmw.Slack()}, nil)
	for _, body := range []string{"a=1", "a=2", "a=1"} {
		r := signed("", body)
		require.NoError(t, webhookmw.Slack().Sign(r.Header, secret, "", time.Now(), []byte(body)))
		require.Equal(t, 200, rec.send(r).Code)
	}
	require.Equal(t, 2, rec.ran())
	require.NotEqual(t, rec.runs[0].EventID, rec.runs[1].EventID)
}

// Strings are looked at many bytes at once: whatever stands wherever in one of whatever length, the verdict is that of
// encoding/json and unicode/utf8.
func TestStringsOfEveryLength(t *testing.T) {
	const head, tail = `{"id":"evt_1","type":"order.paid","x":"`, `"}`
	for _, length := range []int{0, 1, 7, 8, 9, 31, 32, 33, 40, 63, 64, 65, 72, 75, 100} {
		body := []byte(head + strings.Repeat("a", length) + tail)
		for at := len(head); at < len(head)+length; at++ {
			for c := range 256 {
				body[at] = byte(c)
				_, _, err := webhookmw.StrictEvent(body)
				if want := json.Valid(body) && utf8.Valid(body); (err == nil) != want {
					t.Fatalf("byte %#x at %d of %d: %v, want %v", c, at-len(head), length, err, want)
				}
			}
			body[at] = 'a'
		}
	}
}
