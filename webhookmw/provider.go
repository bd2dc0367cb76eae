package webhookmw

// The schemes of providers that people receive from.

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
)

// Stripe is Stripe's scheme: Stripe-Signature carries t and v1 as [Signed] has them, and there is no delivery ID, so that
// the event's ID alone tells deliveries apart. The secret's text is the key, whsec_ included. Deliveries with a v0 alone
// are refused. Source: https://docs.stripe.com/webhooks#verify-manually
func Stripe() Scheme { return Scheme{&stripe} }

var stripe = rules{
	name: "Stripe",
	key:  rawKey,
	noID: true,
	read: func(h http.Header, e *envelope) *Rejection {
		return readPairs(h["Stripe-Signature"], e, false)
	},
	prefix: func(dst []byte, e *envelope, _ int) []byte {
		return append(append(dst, e.stamp...), '.')
	},
	write: func(h http.Header, e *envelope, sum macFunc) {
		v1 := sum(1)
		h.Set("Stripe-Signature", "t="+e.stamp+",v1="+hex.EncodeToString(v1[:]))
	},
}

// StandardWebhooks is the scheme of https://www.standardwebhooks.com: webhook-id, webhook-timestamp, and in
// webhook-signature one or more "v1,<base64>" with spaces between them, over the ID, a dot, the timestamp, a dot and the
// body. The secret is the base64 of the key, with whsec_ before it or not; [Signed] and [Stripe] would take the same text
// as it stands, which is another key. webhook-id is the delivery ID and also the event ID; the type is the top-level "type"
// of the body, which must be JSON. An ID with a dot in it is refused: the same bytes could be signed for another ID and
// another timestamp. Asymmetric signatures (v1a) are ignored.
func StandardWebhooks() Scheme { return Scheme{&standardWebhooks} }

// Svix is [StandardWebhooks] under the header names that Svix itself sends: svix-id, svix-timestamp, svix-signature.
func Svix() Scheme { return Scheme{&svix} }

var (
	standardWebhooks = standard("StandardWebhooks", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature")
	svix             = standard("Svix", "Svix-Id", "Svix-Timestamp", "Svix-Signature")
)

func standard(name, id, stamp, signature string) rules {
	return rules{
		name:     name,
		key:      base64Key,
		idSigned: true,
		idNoDot:  true,
		contract: typedJSON,
		read: func(h http.Header, e *envelope) *Rejection {
			if rejection := readStandard(h[signature], e); rejection != nil {
				return rejection
			}
			if rejection := e.setStampHeader(h[stamp]); rejection != nil {
				return rejection
			}
			if rejection := e.setDeliveryID(h[id]); rejection != nil {
				return rejection
			}
			if strings.Contains(e.deliveryID, ".") {
				return unauthorized(ReasonDeliveryID, errIDDot)
			}
			return nil
		},
		prefix: func(dst []byte, e *envelope, _ int) []byte {
			dst = append(append(dst, e.deliveryID...), '.')
			return append(append(dst, e.stamp...), '.')
		},
		write: func(h http.Header, e *envelope, sum macFunc) {
			v1 := sum(1)
			h.Set(id, e.deliveryID)
			h.Set(stamp, e.stamp)
			h.Set(signature, "v1,"+base64.StdEncoding.EncodeToString(v1[:]))
		},
	}
}

// readStandard reads lists of "v1,<base64>". What has another version, or a third part, matches nothing.
func readStandard(lines []string, e *envelope) *Rejection {
	if rejection := signatureLines(lines); rejection != nil {
		return rejection
	}
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, " ") {
			// Proxies fold header lines into one, with a comma between them.
			if version, sum, _ := strings.Cut(strings.TrimSuffix(entry, ","), ","); version == "v1" {
				if rejection := e.add(1, sum, decodeBase64); rejection != nil {
					return rejection
				}
			}
		}
	}
	return e.complete()
}

// decodeBase64 reads the 44 characters of 32 bytes.
func decodeBase64(dst *[sha256.Size]byte, text string) bool {
	const size = 44
	var buf [sha256.Size + 1]byte // The decoder wants room for the padding too.
	if len(text) != size {
		return false
	}
	n, err := base64.StdEncoding.Strict().Decode(buf[:], []byte(text))
	copy(dst[:], buf[:])
	return err == nil && n == len(dst)
}

// typedJSON is a Contract for JSON whose ID stands in the headers.
func typedJSON(body []byte) (id, typ string, err error) {
	_, typ, err = AnyJSON(body)
	return "", typ, err
}

// GitHub is GitHub's scheme: X-Hub-Signature-256 is "sha256=" and the hex of a MAC over the body, and nothing but the
// body. No time is signed, so there is no window, and a delivery that somebody has recorded stays valid for ever: what
// keeps it from running twice is that it is remembered, for [Config.Retention]. X-GitHub-Delivery is the delivery ID and
// also the event ID, and X-GitHub-Event the type; neither is signed. A recording that comes again under another delivery
// ID is a new delivery with [Delivery.SignatureReused] set, and a handler that must not run twice for it should refuse it.
// The body may be JSON or a form. X-Hub-Signature, which is SHA-1, is ignored.
// Source: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
func GitHub() Scheme { return Scheme{&gitHub} }

var gitHub = rules{
	name:     "GitHub",
	key:      rawKey,
	untimed:  true,
	contract: AnyBody,
	read: func(h http.Header, e *envelope) *Rejection {
		if rejection := readPrefixed(h["X-Hub-Signature-256"], "sha256=", e); rejection != nil {
			return rejection
		}
		typ, repeated := single(h["X-Github-Event"])
		if repeated {
			return unauthorized(ReasonRepeated, errTwoTypes)
		}
		e.typ = typ
		return e.setDeliveryID(h["X-Github-Delivery"])
	},
	prefix: func(dst []byte, _ *envelope, _ int) []byte { return dst },
	write: func(h http.Header, e *envelope, sum macFunc) {
		v1 := sum(1)
		h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(v1[:]))
		h.Set("X-Github-Delivery", e.deliveryID)
	},
}

// Slack is Slack's scheme: X-Slack-Signature is "v0=" and the hex of a MAC over "v0:", the timestamp in
// X-Slack-Request-Timestamp, a colon and the body. There is no delivery ID. The event ID is the top-level "event_id" of a
// body that is JSON and has one, as those of the Events API do; for the rest, such as the forms of slash commands, it is
// the SHA-256 of the body, in which Slack's trigger_id differs each time.
// Source: https://api.slack.com/authentication/verifying-requests-from-slack
func Slack() Scheme { return Scheme{&slack} }

var slack = rules{
	name:     "Slack",
	key:      rawKey,
	noID:     true,
	contract: slackEvent,
	read: func(h http.Header, e *envelope) *Rejection {
		if rejection := readPrefixed(h["X-Slack-Signature"], "v0=", e); rejection != nil {
			return rejection
		}
		return e.setStampHeader(h["X-Slack-Request-Timestamp"])
	},
	prefix: func(dst []byte, e *envelope, _ int) []byte {
		return append(append(append(dst, "v0:"...), e.stamp...), ':')
	},
	write: func(h http.Header, e *envelope, sum macFunc) {
		v0 := sum(1)
		h.Set("X-Slack-Request-Timestamp", e.stamp)
		h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(v0[:]))
	},
}

// slackEvent is the Contract for what Slack sends: events as JSON, commands and interactions as forms.
func slackEvent(body []byte) (id, typ string, err error) {
	if !bytes.HasPrefix(body, []byte("{")) {
		return "", "", nil
	}
	err = scan(body, false, "event_id", func(s *scanner) error {
		id, typ = s.strings()
		return nil
	})
	return id, typ, err
}

// readPrefixed reads signatures that are a fixed text and then hex.
func readPrefixed(lines []string, prefix string, e *envelope) *Rejection {
	if rejection := signatureLines(lines); rejection != nil {
		return rejection
	}
	rejection := elements(lines, func(entry string) *Rejection {
		if sum, ok := strings.CutPrefix(entry, prefix); ok {
			return e.add(1, sum, decodeHex)
		}
		return nil
	})
	if rejection != nil {
		return rejection
	}
	return e.complete()
}
