package webhookmw_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

func TestSecrets(t *testing.T) {
	tests := []struct {
		name, secret  string
		raw, standard string // what the error says; empty: usable
	}{
		{"usual", secret, "", "not base64"},
		{"16 bytes", "0123456789abcdef", "", "shorter than 16"},
		{"blanks inside", "It's a Secret to Everybody", "", "not base64"},
		{"whsec", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "", ""},
		{"base64 alone", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "", ""},
		{"16 bytes in base64", "whsec_AAECAwQFBgcICQoLDA0ODw==", "", ""},
		{"empty", "", "empty", "empty"},
		{"blank", "                    ", "empty or blank", "empty or blank"},
		{"15 bytes", "0123456789abcde", "shorter", "not base64"},
		{"whsec_ alone", "whsec_", "shorter", "shorter"},
		{"whsec_ and blanks", "whsec_            ", "white space", "white space"},
		{"newline after", secret + "\n", "white space", "white space"},
		{"newline after base64", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "white space", "white space"},
		{"blank before", " " + secret, "white space", "white space"},
		{"no-break space after", secret + "\u00a0", "white space", "white space"},
		{"NUL inside", "0123456789\x00abcdefgh", "control character", "control character"},
		{"newline inside", "MfKQ9r8GKYqr\nTwjUPD8ILPZIo2LaLaSw", "control character", "control character"},
		{"bad base64", "whsec_xyz!", "shorter", "not base64"},
		{"15 bytes in base64", "whsec_AAECAwQFBgcICQoLDA0O", "", "shorter"},
		{"base64 without padding", "whsec_AAECAwQFBgcICQoLDA0ODw", "", "not base64"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for scheme, want := range map[webhookmw.Scheme]string{
				webhookmw.Signed(): test.raw, webhookmw.Stripe(): test.raw, webhookmw.GitHub(): test.raw, webhookmw.Slack(): test.raw,
				webhookmw.StandardWebhooks(): test.standard, webhookmw.Svix(): test.standard,
			} {
				for position, secrets := range [][]string{{test.secret}, {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", test.secret}} {
					_, err := webhookmw.New(webhookmw.Config{Secrets: secrets, Scheme: scheme})
					if want == "" {
						require.NoError(t, err)
						continue
					}
					require.ErrorContains(t, err, want)
					require.ErrorContains(t, err, "Secrets["+string(rune('0'+position))+"]")
					if len(test.secret) > 6 && strings.TrimSpace(test.secret) != "" {
						require.NotContains(t, err.Error(), test.secret[:7])
					}
				}
			}
			verify := func() { webhookmw.Verify(test.secret) }
			previous := func() { webhookmw.Verify(secret, test.secret) }
			if test.raw == "" {
				require.NotPanics(t, verify)
				require.NotPanics(t, previous)
			} else {
				require.Panics(t, verify)
				require.Panics(t, previous)
			}
		})
	}
	_, err := webhookmw.New(webhookmw.Config{})
	require.Error(t, err)
}

// One text, two keys: as it stands, or what it is the base64 of. Which of the two is the scheme's.
func TestSecretReadings(t *testing.T) {
	const text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	want := map[string]string{
		"Stripe":           "t=1700000000,v1=" + mac(text, "1700000000", plain),
		"StandardWebhooks": "v1,cN9YFP4Htj84MizcWIqLg3Vb++bPwZmz/P9rNVzTmAs=",
	}
	for _, scheme := range []webhookmw.Scheme{webhookmw.Stripe(), webhookmw.StandardWebhooks()} {
		h := map[string][]string{}
		require.NoError(t, scheme.Sign(h, text, "msg_1", epoch, []byte(plain)))
		got := h["Stripe-Signature"]
		if got == nil {
			got = h["Webhook-Signature"]
		}
		require.Equal(t, want[scheme.String()], got[0])
	}
}

// Several mistakes are told at once, each by the name of its field.
func TestNewTellsAll(t *testing.T) {
	_, err := webhookmw.New(webhookmw.Config{
		Scheme: webhookmw.GitHub(), RequireV2: true, MaxBodyBytes: 1<<30 + 1,
		Tolerance: -1, Lease: -1, Retention: -1, Wait: -1, MaxWaiters: -1,
	})
	for _, field := range []string{"Secrets", "RequireV2", "MaxBodyBytes", "Tolerance", "Lease", "Retention", "Wait", "MaxWaiters"} {
		require.ErrorContains(t, err, "webhookmw: "+field+": ")
	}
	_, err = webhookmw.New(webhookmw.Config{Secrets: []string{strings.Repeat("s", 16)}, Retention: time.Minute})
	require.ErrorContains(t, err, "webhookmw: Retention: 1m0s is less than twice")
}
