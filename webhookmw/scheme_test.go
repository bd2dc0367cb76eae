package webhookmw_test

import (
	"bytes"
	"crypto/subtle"
	"hash/crc32"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// The schemes of providers, on the one engine.

const standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// secretOf is one that the scheme can use.
func secretOf(s webhookmw.Scheme) string {
	if s == webhookmw.StandardWebhooks() || s == webhookmw.Svix() {
		return standardSecret
	}
	return secret
}

// signedBy is a request in that scheme, signed now.
func signedBy(t testing.TB, s webhookmw.Scheme, deliveryID, body string) *http.Request {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	require.NoError(t, s.Sign(r.Header, secretOf(s), deliveryID, time.Now(), []byte(body)))
	return r
}

// timed are the schemes that sign a time.
var timed = slices.DeleteFunc(slices.Clone(schemes), func(s webhookmw.Scheme) bool { return s == webhookmw.GitHub() })

func TestSchemesRoundTrip(t *testing.T) {
	for _, scheme := range schemes {
		t.Run(scheme.String(), func(t *testing.T) {
			config := webhookmw.Config{Scheme: scheme, Secrets: []string{secretOf(scheme)}}
			rec := newReceiver(t, config, nil)
			send := func(change func(r *http.Request)) int {
				r := signedBy(t, scheme, "dlv_1", plain)
				change(r)
				return rec.send(r).Code
			}
			require.Equal(t, 200, send(func(*http.Request) {}))
			require.Equal(t, 1, rec.ran())
			require.Equal(t, 200, send(func(*http.Request) {}))
			require.Equal(t, 1, rec.ran(), "the second is a duplicate")

			require.Equal(t, 401, send(func(r *http.Request) {
				r.Body = httptest.NewRequest("POST", "/", strings.NewReader("z"+plain[1:])).Body
			}))
			for name := range signedBy(t, scheme, "dlv_1", plain).Header {
				require.Equal(t, 401, send(func(r *http.Request) { r.Header.Del(name) }), name)
			}

			config.Secrets = []string{strings.Replace(secretOf(scheme), "a", "b", 1)}
			other := newReceiver(t, config, nil)
			require.Equal(t, 401, other.send(signedBy(t, scheme, "dlv_1", plain)).Code)
			config.Secrets = append(config.Secrets, secretOf(scheme))
			other = newReceiver(t, config, nil)
			require.Equal(t, 200, other.send(signedBy(t, scheme, "dlv_1", plain)).Code)
		})
	}
}

func TestSchemesKeepTheWindow(t *testing.T) {
	for _, scheme := range timed {
		for off, want := range map[time.Duration]int{0: 200, -300e9: 200, 300e9: 200, -301e9: 401, 301e9: 401} {
			at(t, epoch, func(t *testing.T) {
				rec := newReceiver(t, webhookmw.Config{Scheme: scheme, Secrets: []string{secretOf(scheme)}}, nil)
				r := httptest.NewRequest("POST", "/", strings.NewReader(plain))
				require.NoError(t, scheme.Sign(r.Header, secretOf(scheme), "dlv_1", epoch.Add(off), []byte(plain)))
				require.Equal(t, want, rec.send(r).Code, "%v %v", scheme, off)
				if want == 200 {
					require.True(t, epoch.Add(off).Equal(rec.runs[0].Timestamp))
				}
			})
		}
	}
}

func TestSchemeSignRefuses(t *testing.T) {
	for _, scheme := range schemes {
		h := http.Header{}
		require.Error(t, scheme.Sign(h, "", "dlv_1", epoch, nil))
		require.Error(t, scheme.Sign(h, "short", "dlv_1", epoch, nil))
		require.Empty(t, h)
	}
	for _, scheme := range []webhookmw.Scheme{webhookmw.Signed(), webhookmw.StandardWebhooks(), webhookmw.Svix(), webhookmw.GitHub()} {
		for _, id := range []string{"", "é", "a\n", strings.Repeat("x", 256)} {
			h := http.Header{}
			require.Error(t, scheme.Sign(h, secretOf(scheme), id, epoch, nil))
			require.Empty(t, h)
		}
	}
	for _, scheme := range []webhookmw.Scheme{webhookmw.Signed(), webhookmw.StandardWebhooks(), webhookmw.Slack(), webhookmw.Stripe()} {
		h := http.Header{}
		require.Error(t, scheme.Sign(h, secretOf(scheme), "dlv_1", time.Time{}, nil), scheme)
		require.Error(t, scheme.Sign(h, secretOf(scheme), "dlv_1", time.Unix(0, 0), nil), scheme)
		require.Empty(t, h)
		require.NoError(t, scheme.Sign(h, secretOf(scheme), "dlv_1", time.Unix(1, 0), nil), scheme)
	}
	require.NoError(t, webhookmw.GitHub().Sign(http.Header{}, secretOf(webhookmw.GitHub()), "dlv_1", time.Time{}, nil))
	require.Error(t, webhookmw.StandardWebhooks().Sign(http.Header{}, standardSecret, "a.b", epoch, nil))
	require.NoError(t, webhookmw.Signed().Sign(http.Header{}, secret, "a.b", epoch, nil))
}

// A v2 covers ID, time and body with dots between, a v1 time and body: where the ID is a time, they are the same.
func TestDeliveryIDThatIsATime(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		const body = `5`
		for _, id := range []string{"1700000001", "1700000001.25", "1700000001.", "1000000000", "9999999999.x"} {
			_, rest, _ := strings.Cut(id+".", ".")
			forged := rest + "1700000000." + body

			h := http.Header{}
			require.Error(t, webhookmw.Signed().Sign(h, secret, id, epoch, []byte(body)), id)
			require.Error(t, webhookmw.Scheme{}.Sign(h, secret, id, epoch, []byte(body)), id)
			require.Empty(t, h)
			webhookmw.Sign(h, secret, id, epoch, []byte(body))
			require.Equal(t, "t=1700000000,v1="+mac(secret, "1700000000", body), h.Get("Webhook-Signature"), "v1 and nothing else")

			// The receiver refuses it as well, with v2 or without, so that no other sender gets used to it.
			stamp, _, _ := strings.Cut(id, ".")
			v2 := mac(secret, id, "1700000000", body)
			require.Equal(t, mac(secret, stamp, forged), v2, "this is what it is about")
			for _, signature := range []string{h.Get("Webhook-Signature"), h.Get("Webhook-Signature") + ",v2=" + v2} {
				rec := newReceiver(t, webhookmw.Config{Contract: webhookmw.AnyBody}, nil)
				r := httptest.NewRequest("POST", "/", strings.NewReader(body))
				r.Header.Set("Webhook-Delivery-Id", id)
				r.Header.Set("Webhook-Signature", signature)
				require.Equal(t, 401, rec.send(r).Code, id)
				require.Equal(t, webhookmw.ReasonDeliveryID, rec.last().Reason)
			}
		}
		for _, id := range []string{"0", "01700000001", "+1700000001", "1700000001a", "d1700000001", "1700000001-2", ".1700000001", "9223372036854775808"} {
			require.NoError(t, webhookmw.Signed().Sign(http.Header{}, secret, id, epoch, []byte(body)), id)
			rec := newReceiver(t, webhookmw.Config{}, nil)
			require.Equal(t, 200, rec.send(signed(id, plain)).Code, id)
		}
		for _, scheme := range []webhookmw.Scheme{webhookmw.StandardWebhooks(), webhookmw.Svix(), webhookmw.GitHub(), webhookmw.Stripe(), webhookmw.Slack()} {
			require.NoError(t, scheme.Sign(http.Header{}, secretOf(scheme), "1700000001", epoch, []byte(body)), "its signatures can't be taken for another's")
		}
	})
}

// The forgery itself: what an honest sender sent under such an ID, taken apart and put together anew.
func TestForgedFromADeliveryID(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		for _, id := range []string{"1700000001", "1700000001.123"} {
			const body = `amount=5`
			h := http.Header{}
			webhookmw.Sign(h, secret, id, epoch, []byte(body))
			for entry := range strings.SplitSeq(h.Get("Webhook-Signature"), ",") {
				_, sum, _ := strings.Cut(entry, "=")
				_, rest, _ := strings.Cut(id+".", ".")
				r := httptest.NewRequest("POST", "/", strings.NewReader(rest+"1700000000."+body))
				r.Header.Set("Webhook-Signature", "t=1700000001,v1="+sum)
				r.Header.Set("Webhook-Delivery-Id", "anything")
				rec := newReceiver(t, webhookmw.Config{Contract: webhookmw.AnyBody}, nil)
				require.Equal(t, 401, rec.send(r).Code, id)
			}
		}
	})
}

func TestZeroSchemeIsSigned(t *testing.T) {
	require.Equal(t, "Signed", webhookmw.Scheme{}.String())
	h := http.Header{}
	require.NoError(t, webhookmw.Scheme{}.Sign(h, secret, "dlv_1", epoch, []byte(plain)))
	want := http.Header{}
	webhookmw.Sign(want, secret, "dlv_1", epoch, []byte(plain))
	require.Equal(t, want, h)
}

func TestStandardWebhooksHeaders(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		base := signedBy(t, webhookmw.StandardWebhooks(), "msg_1", plain).Header
		good := base.Get("webhook-signature")
		bad := "v1," + strings.Repeat("A", 43) + "="
		tests := []struct {
			name   string
			change func(h http.Header)
			reason webhookmw.Reason
		}{
			{"as sent", func(h http.Header) {}, ""},
			{"bad then good", func(h http.Header) { h.Set("webhook-signature", bad+" "+good) }, ""},
			{"good then bad", func(h http.Header) { h.Set("webhook-signature", good+"  "+bad) }, ""},
			{"good on the second line", func(h http.Header) { h["Webhook-Signature"] = []string{bad, good} }, ""},
			{"two lines folded into one", func(h http.Header) { h.Set("webhook-signature", good+", "+bad) }, ""},
			{"two lines folded into one, good last", func(h http.Header) { h.Set("webhook-signature", bad+", "+good) }, ""},
			{"an asymmetric one beside it", func(h http.Header) { h.Set("webhook-signature", "v1a,xxx "+good) }, ""},
			{"unknown version", func(h http.Header) { h.Set("webhook-signature", "v2"+good[2:]) }, webhookmw.ReasonNoSignature},
			{"any version", func(h http.Header) { h.Set("webhook-signature", "anything"+good[2:]) }, webhookmw.ReasonNoSignature},
			{"no version", func(h http.Header) { h.Set("webhook-signature", good[3:]) }, webhookmw.ReasonNoSignature},
			{"a third part", func(h http.Header) { h.Set("webhook-signature", good+",extra") }, webhookmw.ReasonSyntax},
			{"no padding", func(h http.Header) { h.Set("webhook-signature", good[:len(good)-1]) }, webhookmw.ReasonSyntax},
			{"loose bits", func(h http.Header) { h.Set("webhook-signature", looseBits(good)) }, webhookmw.ReasonSyntax},
			{"not base64", func(h http.Header) { h.Set("webhook-signature", "v1,"+strings.Repeat("*", 44)) }, webhookmw.ReasonSyntax},
			{"empty", func(h http.Header) { h.Set("webhook-signature", "v1,") }, webhookmw.ReasonSyntax},
			{"wrong", func(h http.Header) { h.Set("webhook-signature", bad) }, webhookmw.ReasonSignature},
			{"nine", func(h http.Header) { h.Set("webhook-signature", strings.Repeat(bad+" ", 9)) }, webhookmw.ReasonSignatures},
			{"two timestamps", func(h http.Header) { h.Add("webhook-timestamp", "1700000000") }, webhookmw.ReasonRepeated},
			{"two IDs", func(h http.Header) { h.Add("webhook-id", "msg_1") }, webhookmw.ReasonRepeated},
			{"another ID", func(h http.Header) { h.Set("webhook-id", "msg_2") }, webhookmw.ReasonSignature},
			{"a dot in the ID", func(h http.Header) { h.Set("webhook-id", "msg.1") }, webhookmw.ReasonDeliveryID},
			{"another timestamp", func(h http.Header) { h.Set("webhook-timestamp", "1700000001") }, webhookmw.ReasonSignature},
			{"milliseconds", func(h http.Header) { h.Set("webhook-timestamp", "1700000000000") }, webhookmw.ReasonMilliseconds},
		}
		for _, test := range tests {
			rec := newReceiver(t, webhookmw.Config{Scheme: webhookmw.StandardWebhooks(), Secrets: []string{standardSecret}}, nil)
			r := httptest.NewRequest("POST", "/", strings.NewReader(plain))
			r.Header = base.Clone()
			test.change(r.Header)
			code := rec.send(r).Code
			if test.reason == "" {
				require.Equal(t, 200, code, test.name)
				continue
			}
			require.Equal(t, 401, code, test.name)
			require.Equal(t, test.reason, rec.last().Reason, test.name)
		}
	})
}

// looseBits changes the last digit of base64 in the bits that don't count.
func looseBits(signature string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	i := len(signature) - 2
	return signature[:i] + string(digits[strings.IndexByte(digits, signature[i])+1]) + "="
}

func TestStandardWebhooksEvents(t *testing.T) {
	rec := newReceiver(t, webhookmw.Config{Scheme: webhookmw.StandardWebhooks(), Secrets: []string{standardSecret}}, nil)
	send := func(id, body string) int { return rec.send(signedBy(t, webhookmw.StandardWebhooks(), id, body)).Code }
	require.Equal(t, 200, send("msg_1", `{"type":"contact.created","data":{"id":"c_1"},"id":"c_1"}`))
	require.Equal(t, "msg_1", rec.runs[0].EventID, "not the contact's")
	require.Equal(t, "contact.created", rec.runs[0].Type)
	require.Equal(t, 422, send("msg_1", `{"type":"contact.created","data":{"id":"c_2"}}`))
	require.Equal(t, 422, send("msg_2", "hello"))
	require.Equal(t, 200, send("msg_3", `{"type":"contact.created","data":{"id":"c_1"},"id":"c_1"}`))
	require.False(t, rec.runs[1].SignatureReused, "the signature covers the ID")

	rec = newReceiver(t, webhookmw.Config{Scheme: webhookmw.StandardWebhooks(), Secrets: []string{standardSecret}, Contract: webhookmw.StrictEvent}, nil)
	require.Equal(t, 200, rec.send(signedBy(t, webhookmw.StandardWebhooks(), "msg_1", plain)).Code)
	require.Equal(t, "evt_1", rec.runs[0].EventID)
	require.Equal(t, "msg_1", rec.runs[0].DeliveryID)
}

func TestGitHubHeaders(t *testing.T) {
	scheme := webhookmw.GitHub()
	base := signedBy(t, scheme, "guid-1", plain).Header
	good := base.Get("X-Hub-Signature-256")
	tests := []struct {
		name   string
		change func(h http.Header)
		reason webhookmw.Reason
	}{
		{"as sent", func(h http.Header) {}, ""},
		{"two of them", func(h http.Header) { h["X-Hub-Signature-256"] = []string{"sha256=00", good} }, ""},
		{"sha1 alone", func(h http.Header) { h.Del("X-Hub-Signature-256"); h.Set("X-Hub-Signature", "sha1=00") }, webhookmw.ReasonNoSignature},
		{"sha1 in the place of sha256", func(h http.Header) { h.Set("X-Hub-Signature-256", "sha1="+good[7:]) }, webhookmw.ReasonNoSignature},
		{"no prefix", func(h http.Header) { h.Set("X-Hub-Signature-256", good[7:]) }, webhookmw.ReasonNoSignature},
		{"upper case", func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256="+strings.ToUpper(good[7:])) }, webhookmw.ReasonSyntax},
		{"no delivery", func(h http.Header) { h.Del("X-GitHub-Delivery") }, webhookmw.ReasonDeliveryID},
		{"two deliveries", func(h http.Header) { h.Add("X-GitHub-Delivery", "guid-2") }, webhookmw.ReasonRepeated},
		{"two types", func(h http.Header) { h["X-Github-Event"] = []string{"push", "ping"} }, webhookmw.ReasonRepeated},
	}
	for _, test := range tests {
		rec := newReceiver(t, webhookmw.Config{Scheme: scheme}, nil)
		r := httptest.NewRequest("POST", "/", strings.NewReader(plain))
		r.Header = base.Clone()
		test.change(r.Header)
		code := rec.send(r).Code
		if test.reason == "" {
			require.Equal(t, 200, code, test.name)
			continue
		}
		require.Equal(t, 401, code, test.name)
		require.Equal(t, test.reason, rec.last().Reason, test.name)
	}
}

// No time is signed: it is what is remembered that keeps a recording from running twice.
func TestGitHubReplay(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{Scheme: webhookmw.GitHub()}, nil)
		r := signedBy(t, webhookmw.GitHub(), "guid-1", "payload=%7B%7D")
		r.Header.Set("X-GitHub-Event", "push")
		require.Equal(t, 200, rec.send(r).Code)
		require.Equal(t, "guid-1", rec.runs[0].EventID)
		require.Equal(t, "push", rec.runs[0].Type)
		require.True(t, rec.runs[0].Timestamp.IsZero())
		time.Sleep(23 * time.Hour)
		require.Equal(t, "true", rec.send(signedBy(t, webhookmw.GitHub(), "guid-1", "payload=%7B%7D")).Header().Get("Webhook-Duplicate"))
		require.Equal(t, 200, rec.send(signedBy(t, webhookmw.GitHub(), "guid-2", "payload=%7B%7D")).Code)
		require.True(t, rec.runs[1].SignatureReused)
		require.Equal(t, 422, rec.send(signedBy(t, webhookmw.GitHub(), "guid-1", "payload=%7B1%7D")).Code)
	})
}

// Two bodies whose checksums are the same, CRC-32 and CRC-32C both, are two bodies.
func TestGitHubTellsBodiesApart(t *testing.T) {
	x, y := sameChecksums(t)
	rec := newReceiver(t, webhookmw.Config{Scheme: webhookmw.GitHub()}, nil)
	require.Equal(t, 200, rec.send(signedBy(t, webhookmw.GitHub(), "g1", x)).Code)
	require.Equal(t, 200, rec.send(signedBy(t, webhookmw.GitHub(), "g2", y)).Code)
	require.Equal(t, 422, rec.send(signedBy(t, webhookmw.GitHub(), "g1", y)).Code)
	require.False(t, rec.runs[1].SignatureReused)
	require.Equal(t, 200, rec.send(signedBy(t, webhookmw.GitHub(), "g3", x)).Code)
	require.True(t, rec.runs[2].SignatureReused)
}

// sameChecksums finds two texts of one length with the same CRC-32 and CRC-32C: checksums are linear, so among more than
// 64 bits that may be flipped there are some that cancel out.
func sameChecksums(t *testing.T) (x, y string) {
	base := []byte(strings.Repeat("a", 65))
	sums := func(b []byte) uint64 {
		return uint64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))<<32 | uint64(crc32.ChecksumIEEE(b))
	}
	type row struct {
		sum   uint64
		flips []byte // per place, 0x20 to flip
	}
	pivots := map[int]row{} // by the highest bit of the sum
	for i := range base {
		flipped := bytes.Clone(base)
		flipped[i] ^= 0x20
		r := row{sums(flipped) ^ sums(base), make([]byte, len(base))}
		r.flips[i] = 0x20
		for r.sum != 0 {
			p, ok := pivots[bits.Len64(r.sum)]
			if !ok {
				pivots[bits.Len64(r.sum)] = r
				break
			}
			r.sum ^= p.sum
			subtle.XORBytes(r.flips, r.flips, p.flips)
		}
		if r.sum == 0 {
			other := make([]byte, len(base))
			subtle.XORBytes(other, base, r.flips)
			require.NotEqual(t, base, other)
			require.Equal(t, sums(base), sums(other))
			return string(base), string(other)
		}
	}
	t.Fatal("65 vectors of 64 bits are never independent")
	return "", ""
}

func TestSlackEvents(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{Scheme: webhookmw.Slack()}, nil)
		send := func(body string) int { return rec.send(signedBy(t, webhookmw.Slack(), "", body)).Code }
		event := `{"type":"event_callback","event_id":"Ev08MFMKH6","event":{"event_id":"x","type":"message"}}`
		require.Equal(t, 200, send(event))
		require.Equal(t, "Ev08MFMKH6", rec.runs[0].EventID)
		require.Equal(t, "event_callback", rec.runs[0].Type)
		time.Sleep(time.Minute) // Slack tries again, signed anew.
		require.Equal(t, 200, send(event))
		require.Equal(t, 1, rec.ran())
		require.Equal(t, 200, send(`{"type":"url_verification","challenge":"c1"}`))
		require.Equal(t, 200, send(`{"type":"url_verification","challenge":"c2"}`))
		require.Equal(t, 3, rec.ran())
		require.True(t, strings.HasPrefix(rec.runs[1].EventID, "sha256:"))
		require.Equal(t, 422, send(`{"type":`))

		r := signedBy(t, webhookmw.Slack(), "", event)
		r.Header.Set("X-Slack-Signature", "v1"+r.Header.Get("X-Slack-Signature")[2:])
		require.Equal(t, 401, rec.send(r).Code)
		r = signedBy(t, webhookmw.Slack(), "", event)
		r.Header.Add("X-Slack-Request-Timestamp", "1700000060")
		require.Equal(t, 401, rec.send(r).Code)
	})
}

func TestStripeEvents(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{Scheme: webhookmw.Stripe()}, nil)
		require.Equal(t, 200, rec.send(signedBy(t, webhookmw.Stripe(), "ignored", plain)).Code)
		require.Empty(t, rec.runs[0].DeliveryID)
		time.Sleep(time.Minute)
		require.Equal(t, "true", rec.send(signedBy(t, webhookmw.Stripe(), "", plain)).Header().Get("Webhook-Duplicate"))
		r := signedBy(t, webhookmw.Stripe(), "", plain)
		r.Header.Set("Stripe-Signature", strings.Replace(r.Header.Get("Stripe-Signature"), "v1=", "v0=", 1))
		require.Equal(t, 401, rec.send(r).Code)
		require.Equal(t, webhookmw.ReasonNoSignature, rec.last().Reason)
	})
}
