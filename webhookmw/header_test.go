package webhookmw_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// Headers and signatures, in the default scheme.

// mac is what a sender computes.
func mac(secret string, parts ...string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(strings.Join(parts, ".")))
	return hex.EncodeToString(h.Sum(nil))
}

func TestSignatureHeader(t *testing.T) {
	const now = "1700000000"
	good, bad := mac(secret, now, plain), mac("another-secret-0123456789", now, plain)
	good2, bad2 := mac(secret, "dlv_1", now, plain), mac(secret, "dlv_2", now, plain)
	tests := []struct {
		name   string
		lines  []string
		reason webhookmw.Reason // empty: accepted
	}{
		{"as sent", []string{"t=" + now + ",v1=" + good}, ""},
		{"in another order", []string{"v1=" + good + ",t=" + now}, ""},
		{"space after the comma", []string{"t=" + now + ", v1=" + good}, ""},
		{"space and tab around", []string{" t=" + now + " ,\tv1=" + good + " "}, ""},
		{"empty entries", []string{",t=" + now + ",,v1=" + good + ","}, ""},
		{"on two lines", []string{"t=" + now, "v1=" + good}, ""},
		{"good signature on the second line", []string{"t=" + now + ",v1=" + bad, "v1=" + good}, ""},
		{"good then bad", []string{"t=" + now + ",v1=" + good + ",v1=" + bad}, ""},
		{"bad then good", []string{"t=" + now + ",v1=" + bad + ",v1=" + good}, ""},
		{"malformed then good", []string{"t=" + now + ",v1=abc,v1=" + good}, ""},
		{"an unknown version beside it", []string{"t=" + now + ",v0=" + bad + ",v3=x,v1=" + good + ",flag"}, ""},
		{"eighth of eight", []string{"t=" + now + strings.Repeat(",v1="+bad, 7) + ",v1=" + good}, ""},
		{"v2 as well", []string{"t=" + now + ",v1=" + good + ",v2=" + good2}, ""},
		{"two v2", []string{"t=" + now + ",v1=" + good + ",v2=" + bad2 + ",v2=" + good2}, ""},

		{"none", nil, webhookmw.ReasonNoSignature},
		{"an empty one", []string{""}, webhookmw.ReasonNoSignature},
		{"wrong secret", []string{"t=" + now + ",v1=" + bad}, webhookmw.ReasonSignature},
		{"no timestamp", []string{"v1=" + good}, webhookmw.ReasonNoTimestamp},
		{"empty timestamp", []string{"t=,v1=" + good}, webhookmw.ReasonNoTimestamp},
		{"a name alone", []string{"t,v1=" + good}, webhookmw.ReasonNoTimestamp},
		{"names alone", []string{"t,v1="}, webhookmw.ReasonNoTimestamp},
		{"commas alone", []string{",,"}, webhookmw.ReasonNoTimestamp},
		{"t alone", []string{"t"}, webhookmw.ReasonNoTimestamp},
		{"two timestamps", []string{"t=" + now + ",v1=" + good + ",t=" + now}, webhookmw.ReasonRepeated},
		{"two timestamps on two lines", []string{"t=" + now + ",v1=" + good, "t=" + now}, webhookmw.ReasonRepeated},
		{"only v0", []string{"t=" + now + ",v0=" + good}, webhookmw.ReasonNoSignature},
		{"only v2", []string{"t=" + now + ",v2=" + good2}, webhookmw.ReasonSyntax},
		{"version in other letters", []string{"t=" + now + ",V1=" + good}, webhookmw.ReasonNoSignature},
		{"space inside the name", []string{"t=" + now + ",v1 =" + good}, webhookmw.ReasonNoSignature},
		{"empty", []string{"t=" + now + ",v1="}, webhookmw.ReasonSyntax},
		{"63 digits", []string{"t=" + now + ",v1=" + good[1:]}, webhookmw.ReasonSyntax},
		{"65 digits", []string{"t=" + now + ",v1=" + good + "0"}, webhookmw.ReasonSyntax},
		{"66 digits", []string{"t=" + now + ",v1=" + good + "00"}, webhookmw.ReasonSyntax},
		{"not hex", []string{"t=" + now + ",v1=" + strings.Repeat("zz", 32)}, webhookmw.ReasonSyntax},
		{"upper case", []string{"t=" + now + ",v1=" + strings.ToUpper(good)}, webhookmw.ReasonSyntax},
		{"space inside the value", []string{"t=" + now + ",v1= " + good[1:]}, webhookmw.ReasonSyntax},
		{"wrong v2", []string{"t=" + now + ",v1=" + good + ",v2=" + bad2}, webhookmw.ReasonSignature},
		{"v1 as v2", []string{"t=" + now + ",v1=" + good + ",v2=" + good}, webhookmw.ReasonSignature},
		{"malformed v2", []string{"t=" + now + ",v1=" + good + ",v2=abc"}, webhookmw.ReasonSignature},
		{"wrong v1, good v2", []string{"t=" + now + ",v1=" + bad + ",v2=" + good2}, webhookmw.ReasonSignature},
		{"ninth", []string{"t=" + now + strings.Repeat(",v1="+bad, 8) + ",v1=" + good}, webhookmw.ReasonSignatures},
		{"over 2 KiB", []string{"t=" + now + ",v1=" + good + ",x=" + strings.Repeat("x", 2048)}, webhookmw.ReasonSignatures},
	}
	answers := map[string]bool{}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			at(t, epoch, func(t *testing.T) {
				rec := newReceiver(t, webhookmw.Config{}, nil)
				r := signed("dlv_1", plain)
				body := &chunkedReader{Reader: r.Body}
				r.Body = body
				r.Header["Webhook-Signature"] = test.lines
				w := rec.send(r)
				if test.reason == "" {
					require.Equal(t, 200, w.Code, rec.last().Err)
					require.Equal(t, 1, rec.ran())
					return
				}
				require.Equal(t, 401, w.Code)
				require.Equal(t, test.reason, rec.last().Reason)
				require.Zero(t, rec.ran())
				if test.reason != webhookmw.ReasonSignature {
					require.Zero(t, body.read, "the headers were enough")
					require.Equal(t, "close", w.Header().Get("Connection"))
				}
				answers[w.Body.String()] = true
			})
		})
	}
	require.Len(t, answers, 1, "one text for all of them")
}

func TestDeliveryIDHeader(t *testing.T) {
	tests := []struct {
		name   string
		lines  []string
		reason webhookmw.Reason
	}{
		{"one", []string{"dlv_1"}, ""},
		{"the longest", []string{strings.Repeat("x", 255)}, ""},
		{"with a blank", []string{"a b"}, ""},
		{"none", nil, webhookmw.ReasonDeliveryID},
		{"empty", []string{""}, webhookmw.ReasonDeliveryID},
		{"too long", []string{strings.Repeat("x", 256)}, webhookmw.ReasonDeliveryID},
		{"a tab", []string{"a\tb"}, webhookmw.ReasonDeliveryID},
		{"not ASCII", []string{"dlv_é"}, webhookmw.ReasonDeliveryID},
		{"DEL", []string{"dlv\x7f"}, webhookmw.ReasonDeliveryID},
		{"two", []string{"dlv_1", "dlv_2"}, webhookmw.ReasonRepeated},
		{"twice the same", []string{"dlv_1", "dlv_1"}, webhookmw.ReasonRepeated},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{}, nil)
			r := v1Only(signed("dlv_1", plain))
			r.Header["Webhook-Delivery-Id"] = test.lines
			w := rec.send(r)
			if test.reason == "" {
				require.Equal(t, 200, w.Code)
				require.Equal(t, test.lines[0], rec.runs[0].DeliveryID)
				return
			}
			require.Equal(t, 401, w.Code)
			require.Equal(t, test.reason, rec.last().Reason)
			require.Zero(t, rec.ran())
		})
	}
}

// A recorded delivery whose v2 was stripped runs again under fresh IDs, unless v2 is required.
func TestStrippedV2(t *testing.T) {
	for _, required := range []bool{false, true} {
		rec := newReceiver(t, webhookmw.Config{RequireV2: required}, nil)
		require.Equal(t, 200, rec.send(signed("dlv_1", plain)).Code)
		stripped := v1Only(signed("dlv_1", plain))
		stripped.Header.Set("Webhook-Delivery-Id", "dlv_fresh")
		w := rec.send(stripped)
		if !required {
			require.Equal(t, 200, w.Code)
			require.Equal(t, 2, rec.ran())
			require.True(t, rec.runs[1].EventSeen)
			continue
		}
		require.Equal(t, 401, w.Code)
		require.Equal(t, webhookmw.ReasonNoSignature, rec.last().Reason)
		require.Contains(t, rec.verifier.Explain(stripped.Header, []byte(plain), time.Now()), "RequireV2")
		require.Equal(t, 1, rec.ran())
	}
}

func TestRequestLineAndEncoding(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{}, nil)
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "post"} {
		r := signed("dlv_1", plain)
		r.Method = method
		w := rec.send(r)
		require.Equal(t, 405, w.Code, method)
		require.Equal(t, "POST", w.Header().Get("Allow"))
		require.Equal(t, webhookmw.ReasonMethod, rec.last().Reason)
	}
	for _, encoding := range []string{"gzip", "br", "gzip, identity"} {
		r := signed("dlv_1", plain)
		r.Header.Set("Content-Encoding", encoding)
		w := rec.send(r)
		require.Equal(t, 415, w.Code, encoding)
		require.Equal(t, "identity", w.Header().Get("Accept-Encoding"))
		require.Equal(t, "close", w.Header().Get("Connection"))
	}
	require.Zero(t, rec.ran())
}

// Whatever is wrong, up to and with the signature: the same answer to the letter, so that nobody learns from it.
func TestOneAnswerForAllThatIsNotVerified(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{}, nil)
		stale := signedAt(epoch.Add(-301e9), "dlv_1", plain)
		missing := signed("dlv_1", plain)
		missing.Header.Del("Webhook-Signature")
		malformed := signed("dlv_1", plain)
		malformed.Header.Set("Webhook-Signature", "t=x")
		noID := signed("dlv_1", plain)
		noID.Header.Del("Webhook-Delivery-Id")
		first := rec.send(stale)
		require.Equal(t, 401, first.Code)
		for _, r := range []*http.Request{missing, malformed, noID} {
			w := rec.send(r)
			require.Equal(t, first.Code, w.Code)
			require.Equal(t, first.Body.String(), w.Body.String())
			require.Equal(t, first.Header(), w.Header())
		}
		require.Len(t, rec.reasons(), 4)
	})
}

// What the operator is told names no secret and no signature that would have been right.
func TestNothingDisclosesTheSignature(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{}, nil)
		r := signed("dlv_1", plain)
		r.Header.Set("Webhook-Signature", "t=1700000000,v1="+strings.Repeat("0", 64))
		w := rec.send(r)
		require.Equal(t, 401, w.Code)
		_, err := rec.verifier.Check(signedAt(epoch, "dlv_1", plain+" "))
		require.NoError(t, err)
		r.Body = http.NoBody
		_, err = rec.verifier.Check(r)
		told := err.Error() + w.Body.String()
		for _, e := range rec.events {
			told += string(e.Reason)
			if e.Err != nil {
				told += e.Err.Error()
			}
		}
		require.NotContains(t, told, secret)
		require.NotContains(t, told, mac(secret, "1700000000", plain)[:8])
	})
}

// Signed by whom? Any of the secrets, in any order, and no longer once it is taken off the list.
func TestRotation(t *testing.T) {
	const a, b, c = "secret-a-0123456789", "secret-b-0123456789", "secret-c-0123456789"
	at(t, epoch, func(t *testing.T) {
		for _, order := range [][]string{{a, b, c}, {b, c, a}, {c, a, b}} {
			for _, signer := range order {
				rec := newReceiver(t, webhookmw.Config{Secrets: order}, nil)
				r := signed("dlv_1", plain)
				webhookmw.Sign(r.Header, signer, "dlv_1", epoch, []byte(plain))
				require.Equal(t, 200, rec.send(r).Code)
			}
		}
		store := webhookmw.NewMemory(webhookmw.MemoryConfig{})
		before := newReceiver(t, webhookmw.Config{Secrets: []string{a}, Store: store}, nil)
		after := newReceiver(t, webhookmw.Config{Secrets: []string{b}, Store: store}, nil)
		r := signed("dlv_1", plain)
		webhookmw.Sign(r.Header, a, "dlv_1", epoch, []byte(plain))
		require.Equal(t, 200, before.send(r).Code)
		r = signed("dlv_1", plain)
		webhookmw.Sign(r.Header, a, "dlv_1", epoch, []byte(plain))
		require.Equal(t, 401, after.send(r).Code)
		r = signed("dlv_1", plain)
		webhookmw.Sign(r.Header, b, "dlv_1", epoch, []byte(plain))
		w := after.send(r)
		require.Equal(t, 200, w.Code)
		require.Equal(t, "true", w.Header().Get("Webhook-Duplicate"), "rotation forgets nothing")
		require.Zero(t, after.ran())
	})
}
