package webhookmw

// Why a request that was stored does not verify, for the person who has to find out.

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Explain says why a request with these headers and this exact body, received at that time, verifies or does not, in
// sentences on lines of their own. Where the signature does not match it tries what usually went wrong on the way: a
// newline added or lost, other line ends, a byte order mark, JSON that was written anew, a secret read in another way.
// It is for tools and terminals, over requests that were kept for the purpose, and never for an answer: what it says
// would help a forger. It quotes no secret and no signature, but is not constant in time. The method is not looked at.
func (v *Verifier) Explain(h http.Header, body []byte, received time.Time) string {
	var e envelope
	if rejection := v.readHeaders(h, &e); rejection != nil {
		return "Headers: " + rejection.Err.Error() + "."
	}
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if len(h["Content-Encoding"]) > 0 {
		say("Headers: %v.", errEncoding)
	}
	if !v.rules.untimed {
		if rejection := judgeTime(received, e.unix, v.config.Tolerance); rejection != nil {
			say("Time: %v.", rejection.Err)
		}
	}
	if int64(len(body)) > v.config.MaxBodyBytes {
		say("Body: %d bytes, %d allowed.", len(body), v.config.MaxBodyBytes)
	}
	if cause := v.explainSignature(&e, body); cause != "" {
		say("Signature: %s.", cause)
	} else if _, _, rejection := v.checkEvent(body); rejection != nil {
		say("Event: %v.", rejection.Err)
	}
	if lines == nil {
		return "It verifies."
	}
	return strings.Join(lines, "\n")
}

// explainSignature returns what is wrong with the signature; nothing: it is good.
func (v *Verifier) explainSignature(e *envelope, body []byte) string {
	versions := []int{1}
	if e.wantV2 {
		versions = []int{1, 2}
	}
	for _, version := range versions {
		cause := v.explainVersion(e, version, body)
		if cause != "" && version == 2 {
			return "v1 matches and v2 does not, so the delivery ID is not the one that was signed"
		}
		if cause != "" {
			return cause
		}
	}
	return ""
}

func (v *Verifier) explainVersion(e *envelope, version int, body []byte) string {
	prefix := v.rules.prefix(nil, e, version)
	for _, change := range changes {
		changed := change.apply(body)
		if changed == nil && len(body) > 0 {
			continue
		}
		for i, key := range v.keys {
			for _, reading := range readings(key) {
				if !e.has(version, newMAC(reading.key).sum(prefix, changed)) {
					continue
				}
				cause := fmt.Sprintf("Secrets[%d]%s made it%s", i, reading.how, change.how)
				if reading.how == "" && change.how == "" {
					return ""
				}
				return cause
			}
		}
	}
	return "no secret made it, neither over this body nor over one that was changed in a usual way: it is another secret, or another body"
}

func (e *envelope) has(version int, sum [sha256.Size]byte) bool {
	return slices.ContainsFunc(e.macs[:e.n], func(m mac) bool {
		return m.version == version && hmac.Equal(m.sum[:], sum[:])
	})
}

// reading is a key that a sender may have made of the same secret.
type reading struct {
	how string
	key []byte
}

func readings(key []byte) []reading {
	text := base64.StdEncoding.EncodeToString(key)
	all := []reading{
		{"", key},
		{" with a newline at its end", append(slices.Clip(key), '\n')},
		{", taken as text instead of base64,", []byte(text)},
		{", taken as text instead of base64,", []byte("whsec_" + text)},
	}
	if decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(key), "whsec_")); err == nil {
		all = append(all, reading{", taken as base64 instead of text,", decoded})
	}
	return all
}

// changes are what happens to bodies between the sender's signature and the receiver. Each undoes one; nil: it can't have
// happened to this body.
var changes = []struct {
	how   string
	apply func(body []byte) []byte
}{
	{"", func(b []byte) []byte { return b }},
	{" over the body without its final newline", func(b []byte) []byte { return cutSuffix(b, "\n") }},
	{" over the body without its final CR LF", func(b []byte) []byte { return cutSuffix(b, "\r\n") }},
	{" over the body with a final newline", func(b []byte) []byte { return append(slices.Clip(b), '\n') }},
	{" over the body with a final CR LF", func(b []byte) []byte { return append(slices.Clip(b), "\r\n"...) }},
	{" over the body with LF for CR LF", func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }},
	{" over the body with CR LF for LF", func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) }},
	{" over the body without its byte order mark", func(b []byte) []byte { return cutPrefix(b, byteOrderMark) }},
	{" over the body with a byte order mark", func(b []byte) []byte { return append(slices.Clip(byteOrderMark), b...) }},
	{" over the JSON without white space", func(b []byte) []byte { return rewrite(b, json.Compact) }},
	{" over the JSON indented by 2", func(b []byte) []byte { return rewrite(b, indent("  ")) }},
	{" over the JSON indented by 4", func(b []byte) []byte { return rewrite(b, indent("    ")) }},
	{" over the JSON with <, > and & escaped", func(b []byte) []byte {
		return rewrite(b, func(dst *bytes.Buffer, b []byte) error { json.HTMLEscape(dst, b); return nil })
	}},
}

func cutSuffix(b []byte, suffix string) []byte {
	if rest, ok := bytes.CutSuffix(b, []byte(suffix)); ok {
		return rest
	}
	return nil
}

func cutPrefix(b, prefix []byte) []byte {
	if rest, ok := bytes.CutPrefix(b, prefix); ok {
		return rest
	}
	return nil
}

func rewrite(b []byte, write func(dst *bytes.Buffer, b []byte) error) []byte {
	var dst bytes.Buffer
	if err := write(&dst, b); err != nil {
		return nil
	}
	return dst.Bytes()
}

func indent(by string) func(dst *bytes.Buffer, b []byte) error {
	return func(dst *bytes.Buffer, b []byte) error { return json.Indent(dst, b, "", by) }
}
