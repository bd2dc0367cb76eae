package webhookmw_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

func TestExplain(t *testing.T) {
	const body = "{\"id\":\"evt_1\",\"type\":\"a<b\",\r\n\"n\":1}\r\n"
	sign := func(key, body string) http.Header {
		h := http.Header{}
		webhookmw.Sign(h, key, "dlv_1", epoch, []byte(body))
		return h
	}
	reindented := func(f func(dst *bytes.Buffer, src []byte) error) string {
		var b bytes.Buffer
		require.NoError(t, f(&b, []byte(body)))
		return b.String()
	}
	v1 := func(h http.Header) http.Header {
		s, _, _ := strings.Cut(h.Get("Webhook-Signature"), ",v2=")
		h.Set("Webhook-Signature", s)
		return h
	}
	tests := []struct {
		name   string
		header http.Header
		body   string
		now    time.Time
		want   string
	}{
		{"good", sign(secret, body), body, epoch, "It verifies."},
		{"good by the previous secret", sign("previous-secret-0123456789", body), body, epoch, "It verifies."},
		{"wrong secret", sign("another-secret-0123456789", body), body, epoch, "Signature: no secret made it, neither"},
		{"other body", sign(secret, body), plain, epoch, "Signature: no secret made it, neither"},
		{"newline added", sign(secret, body), body + "\n", epoch, "Signature: Secrets[0] made it over the body without its final newline."},
		{"CR LF added", sign(secret, body), body + "\r\n", epoch, "Secrets[0] made it over the body without its final CR LF."},
		{"newline lost", sign(secret, plain+"\n"), plain, epoch, "over the body with a final newline."},
		{"CR LF lost", sign(secret, plain+"\r\n"), plain, epoch, "over the body with a final CR LF."},
		{"CR LF for LF", sign(secret, strings.ReplaceAll(body, "\r\n", "\n")), body, epoch, "over the body with LF for CR LF."},
		{"LF for CR LF", sign(secret, body), strings.ReplaceAll(body, "\r\n", "\n"), epoch, "over the body with CR LF for LF."},
		{"BOM added", sign(secret, body), "\xEF\xBB\xBF" + body, epoch, "over the body without its byte order mark."},
		{"BOM lost", sign(secret, "\xEF\xBB\xBF"+body), body, epoch, "over the body with a byte order mark."},
		{"indented on the way", sign(secret, reindented(json.Compact)), body, epoch, "over the JSON without white space."},
		{"compacted on the way", sign(secret, reindented(func(dst *bytes.Buffer, src []byte) error { return json.Indent(dst, src, "", "  ") })), body, epoch, "over the JSON indented by 2."},
		{"indented by 4", sign(secret, reindented(func(dst *bytes.Buffer, src []byte) error { return json.Indent(dst, src, "", "    ") })), body, epoch, "over the JSON indented by 4."},
		{"unescaped on the way", sign(secret, strings.ReplaceAll(body, "<", `\u003c`)), body, epoch, "over the JSON with <, > and & escaped."},
		{"newline in the sender's secret", sign(secret+"\n", body), body, epoch, "Secrets[0] with a newline at its end made it."},
		{"raw for base64", sign("0123456789abcdef", body), body, epoch, "Secrets[2], taken as base64 instead of text, made it."},
		{"base64 of the secret", sign("d2hzZWNfTURFeU16UTFOamM0T1dGaVkyUmxaZz09", body), body, epoch, "Secrets[2], taken as text instead of base64, made it."},
		{"late", sign(secret, body), body, epoch.Add(6 * time.Minute), "Time: timestamp 6m0s behind this clock, 5m0s allowed."},
		{"late and changed", sign(secret, body), body + "\n", epoch.Add(time.Hour), "Time: timestamp 1h0m0s behind this clock, 5m0s allowed.\nSignature: Secrets[0] made it over the body without its final newline."},
		{"milliseconds", http.Header{"Webhook-Signature": {"t=1700000000000,v1=" + mac(secret, "1700000000000", body)}, "Webhook-Delivery-Id": {"dlv_1"}}, body, epoch, "Time: timestamp looks like milliseconds; seconds belong there."},
		{"content encoding", func() http.Header { h := sign(secret, body); h.Set("Content-Encoding", "gzip"); return h }(), body, epoch, "Headers: body has a content encoding"},
		{"no headers", http.Header{}, body, epoch, "Headers: no signature of a version that the scheme checks."},
		{"another delivery ID", func() http.Header { h := sign(secret, body); h.Set("Webhook-Delivery-Id", "dlv_2"); return h }(), body, epoch, "Signature: v1 matches and v2 does not, so the delivery ID is not the one that was signed."},
		{"without v2 nobody can tell", func() http.Header { h := v1(sign(secret, body)); h.Set("Webhook-Delivery-Id", "dlv_2"); return h }(), body, epoch, "It verifies."},
		{"contract", sign(secret, `{"id":1}`), `{"id":1}`, epoch, `Event: webhookmw: event: "id" is no string`},
		{"not UTF-8", sign(secret, "{\"id\":\"a\xff\"}"), "{\"id\":\"a\xff\"}", epoch, "Event: body is not valid UTF-8."},
		{"too large", sign(secret, strings.Repeat(" ", 131073)), strings.Repeat(" ", 131073), epoch, "Body: 131073 bytes, 131072 allowed."},
		{"emptied", sign(secret, body), "", epoch, "Signature: no secret made it, neither"},
	}
	rec := newReceiver(t, webhookmw.Config{Secrets: []string{secret, "previous-secret-0123456789", "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="}}, nil)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := rec.verifier.Explain(test.header, []byte(test.body), test.now)
			require.Contains(t, got, test.want)
			require.NotContains(t, got, secret)
			require.Equal(t, test.body, string([]byte(test.body)))
		})
	}
}

// It explains the other schemes too.
func TestExplainSchemes(t *testing.T) {
	for _, scheme := range schemes {
		rec := newReceiver(t, webhookmw.Config{Scheme: scheme, Secrets: []string{secretOf(scheme)}}, nil)
		h := http.Header{}
		require.NoError(t, scheme.Sign(h, secretOf(scheme), "dlv_1", epoch, []byte(plain)))
		require.Equal(t, "It verifies.", rec.verifier.Explain(h, []byte(plain), epoch), scheme)
		require.Equal(t, "Signature: Secrets[0] made it over the body without its final newline.", rec.verifier.Explain(h, []byte(plain+"\n"), epoch))
	}
	rec := newReceiver(t, webhookmw.Config{Scheme: webhookmw.StandardWebhooks(), Secrets: []string{standardSecret}}, nil)
	h := http.Header{}
	h.Set("webhook-id", "msg_1")
	h.Set("webhook-timestamp", "1700000000")
	h.Set("webhook-signature", "v1,"+hexToBase64(t, mac(standardSecret, "msg_1", "1700000000", plain)))
	require.Equal(t, "Signature: Secrets[0], taken as text instead of base64, made it.", rec.verifier.Explain(h, []byte(plain), epoch))
}

func hexToBase64(t *testing.T, text string) string {
	b, err := hex.DecodeString(text)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(b)
}
