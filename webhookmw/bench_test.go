package webhookmw_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rebound-go/rebound/webhookmw"
)

// The shapes that bodies have: one long text; many small members, as an API's own events; the same, indented.
var shapes = []string{"text", "members", "indented"}

// eventOf returns an event of about size bytes. Its ID begins at the seventh byte and is 12 bytes long.
func eventOf(shape string, size int) []byte {
	const head = `{"id":"evt_00000000","type":"order.paid","data":`
	if shape == "text" {
		return append(append([]byte(head+`"`), bytes.Repeat([]byte("a"), size-len(head)-3)...), `"}`...)
	}
	const member = `{"id":"ch_3MmlLrLkdIwHu7ix","object":"charge","amount":1099,"captured":true,"application":null,` +
		`"billing":{"city":null,"country":"DE","line1":null},"created":1679090539,"currency":"usd","metadata":{},` +
		`"outcome":{"network":"approved","risk_level":"normal","risk_score":32,"message":"Payment complete."}}`
	var b bytes.Buffer
	b.WriteString(head + "[" + member)
	for b.Len() < size-len(member) {
		b.WriteString("," + member)
	}
	b.WriteString("]}")
	if shape == "members" {
		return b.Bytes()
	}
	var indented bytes.Buffer
	json.Indent(&indented, b.Bytes()[:], "", " ")
	return append([]byte(`{"id":"evt_00000000"`), indented.Bytes()[bytes.IndexByte(indented.Bytes(), ','):]...)
}

func BenchmarkStrictEvent(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 128 << 10} {
		for _, shape := range shapes {
			body := eventOf(shape, size)
			b.Run(fmt.Sprintf("size=%d/shape=%s", size, shape), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					if _, _, err := webhookmw.StrictEvent(body); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
