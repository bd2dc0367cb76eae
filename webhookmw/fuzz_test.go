package webhookmw_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rebound-go/rebound/webhookmw"
)

// FuzzStrictEvent: what it takes is valid JSON, and encoding/json reads the same event in it; what it does not take is
// not valid JSON, or a slow reader that knows the rules finds what is wrong with it. AnyJSON agrees with encoding/json.
func FuzzStrictEvent(f *testing.F) {
	for _, event := range events {
		if len(event.body) < 10_000 {
			f.Add([]byte(event.body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		id, typ, err := webhookmw.StrictEvent(body)
		wantID, wantTyp, ok := slowEvent(body)
		if ok != (err == nil) || id != wantID || typ != wantTyp {
			t.Fatalf("%q: StrictEvent gives %q, %q, %v; want %q, %q, %v", body, id, typ, err, wantID, wantTyp, ok)
		}
		if !bytes.Equal(body, before) {
			t.Fatal("body was changed")
		}
		if err == nil && !utf8.Valid(body) {
			t.Fatalf("%q is not UTF-8", body)
		}
		_, _, err = webhookmw.AnyJSON(body)
		if utf8.Valid(body) && depth(body) <= 1000 && !twice(body) && json.Valid(body) != (err == nil) {
			t.Fatalf("%q: AnyJSON says %v", body, err)
		}
		if err == nil && !json.Valid(body) {
			t.Fatalf("%q: AnyJSON takes it", body)
		}
	})
}

// slowEvent is StrictEvent on top of encoding/json.
func slowEvent(body []byte) (id, typ string, ok bool) {
	if !utf8.Valid(body) || !json.Valid(body) || depth(body) > 1000 || loneSurrogate(body) {
		return "", "", false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var top map[string]json.RawMessage
	if uniqueNames(d) != nil || json.Unmarshal(body, &top) != nil || top == nil {
		return "", "", false
	}
	for name := range top {
		if name != "id" && strings.EqualFold(name, "id") || name != "type" && strings.EqualFold(name, "type") {
			return "", "", false
		}
	}
	var text struct{ id, typ any }
	json.Unmarshal(top["id"], &text.id)
	json.Unmarshal(top["type"], &text.typ)
	id, _ = text.id.(string)
	typ, _ = text.typ.(string)
	if len(id) < 1 || len(id) > 255 || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) || typ == "" {
		return "", "", false
	}
	return id, typ, true
}

type twiceError string

func (e twiceError) Error() string { return "name stands twice: " + string(e) }

// uniqueNames reads one value and reports a name that stands twice in its object.
func uniqueNames(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	var names []string
	for d.More() {
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if slices.Contains(names, name.(string)) {
				return twiceError(name.(string))
			}
			names = append(names, name.(string))
		}
		if err := uniqueNames(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// twice reports whether a top-level id or type stands twice.
func twice(body []byte) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return false
		}
		if text := name.(string); seen[text] && (text == "id" || text == "type") {
			return true
		} else {
			seen[text] = true
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
	}
	return false
}

// depth is how many brackets are open at once, those in strings aside.
func depth(body []byte) (deepest int) {
	open, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}', c == ']':
			open--
		}
	}
	return deepest
}

// loneSurrogate looks at the escapes of a valid document.
func loneSurrogate(body []byte) bool {
	high := false // the escape just before was the first half of a pair
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			if high {
				return true
			}
			continue
		}
		unit := strings.ToUpper(string(body[i+1 : min(i+6, len(body))]))
		isHigh := unit[0] == 'U' && body[i+1] == 'u' && unit[1] == 'D' && strings.ContainsRune("89AB", rune(unit[2]))
		isLow := unit[0] == 'U' && body[i+1] == 'u' && unit[1] == 'D' && strings.ContainsRune("CDEF", rune(unit[2]))
		if high != isLow {
			return true
		}
		high = isHigh
		i++
		if body[i] == 'u' {
			i += 4
		}
	}
	return false
}

// FuzzSignatureHeader: whatever stands in the headers, what verifies holds a signature that the slow reader finds as
// well, and the answer never depends on anything but the headers.
func FuzzSignatureHeader(f *testing.F) {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	good := "t=" + now + ",v1=" + mac(secret, now, plain)
	for _, line := range []string{good, good + ",v2=00", "t=" + now + ",v1=", ",,", "t", good + "," + good, " " + good, "v1=" + good} {
		f.Add(line, "")
		f.Add("", line)
	}
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(plain))
		r.Header["Webhook-Signature"] = []string{first, second}
		r.Header.Set("Webhook-Delivery-Id", "dlv_1")
		d, err := v.Check(r)
		if want := slowHeader(first+","+second, time.Now()); want != (err == nil) {
			t.Fatalf("%q, %q: %v, want %v", first, second, err, want)
		}
		if (d == nil) == (err == nil) {
			t.Fatal("neither or both")
		}
	})
}

// slowHeader reports whether a list of entries signs plain.
func slowHeader(list string, now time.Time) bool {
	var stamps, v1, v2 []string
	for _, entry := range strings.Split(list, ",") {
		name, value, _ := strings.Cut(strings.Trim(entry, " \t"), "=")
		switch name {
		case "t":
			stamps = append(stamps, value)
		case "v1":
			v1 = append(v1, value)
		case "v2":
			v2 = append(v2, value)
		}
	}
	if len(list)-1 > 2048 || len(v1)+len(v2) > 8 || len(stamps) != 1 {
		return false
	}
	inside := false
	for off := -300; off <= 300; off++ {
		inside = inside || stamps[0] == strconv.FormatInt(now.Unix()+int64(off), 10)
	}
	return inside && slices.Contains(v1, mac(secret, stamps[0], plain)) &&
		(len(v2) == 0 || slices.Contains(v2, mac(secret, "dlv_1", stamps[0], plain)))
}

// FuzzHandler: no request is answered 2xx, and no handler runs, without a signature that one of the secrets made; nothing
// panics, and the handler gets the exact bytes.
func FuzzHandler(f *testing.F) {
	f.Add("POST", "", "t=1700000000,v1=00", "dlv_1", []byte(plain), int64(-1), true)
	f.Add("POST", "gzip", "t=1700000000,v1=00", "dlv_1", []byte(plain), int64(10), false)
	f.Add("GET", "", "", "", []byte{}, int64(0), false)
	for _, event := range events {
		if len(event.body) < 1000 {
			f.Add("POST", "", "", "dlv_1", []byte(event.body), int64(len(event.body)), true)
		}
	}
	var ran []byte
	v, err := webhookmw.New(webhookmw.Config{Secrets: []string{secret}, Wait: time.Nanosecond})
	if err != nil {
		f.Fatal(err)
	}
	h := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhookmw.FromContext(r.Context())
		ran = d.Body
	}))
	f.Fuzz(func(t *testing.T, method, encoding, signature, id string, body []byte, length int64, sign bool) {
		r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		r.Method, r.ContentLength = method, length
		r.Header["Webhook-Signature"], r.Header["Webhook-Delivery-Id"] = []string{signature}, []string{id}
		if sign {
			webhookmw.Sign(r.Header, secret, id, time.Now(), body)
		}
		if encoding != "" {
			r.Header.Set("Content-Encoding", encoding)
		}
		ran = nil
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code/100 == 2 || ran != nil {
			_, _, valid := slowEvent(body)
			signed := sign || slowSignature(signature, body)
			if !signed || !valid || method != "POST" || encoding != "" || len(id) == 0 || len(id) > 255 {
				t.Fatalf("answered %d, handler got %q", w.Code, ran)
			}
			if ran != nil && !bytes.Equal(ran, body) {
				t.Fatalf("handler got %q instead of %q", ran, body)
			}
		}
		if w.Code == 200 && ran == nil && w.Header().Get("Webhook-Duplicate") != "true" {
			t.Fatal("answered 200 without a word and without the handler")
		}
	})
}

// slowSignature reports whether any part of the header is what the secret makes of the body.
func slowSignature(header string, body []byte) bool {
	now := time.Now().Unix()
	for off := int64(-301); off <= 301; off++ {
		if strings.Contains(header, mac(secret, strconv.FormatInt(now+off, 10), string(body))) {
			return true
		}
	}
	return false
}
