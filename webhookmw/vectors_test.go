package webhookmw_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

// The published signatures: testdata/signatures.json for the default scheme, testdata/providers.json for the others.

type signatureVector struct {
	Name, Secret, Timestamp, Signature, Why string
	Now                                     int64
	Body                                    []byte `json:"body_base64"`
	Rule                                    *struct {
		Prefix, Repeat, Suffix string
		Length                 int
	} `json:"body_rule"`
	Accepted bool
	Status   int
}

func (v signatureVector) body() []byte {
	if v.Rule == nil {
		return v.Body
	}
	fill := v.Rule.Length - len(v.Rule.Prefix) - len(v.Rule.Suffix)
	return []byte(v.Rule.Prefix + string(bytes.Repeat([]byte(v.Rule.Repeat), fill)) + v.Rule.Suffix)
}

func readVectors[V any](t testing.TB, name string) (vectors []V) {
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.NotEmpty(t, vectors)
	return vectors
}

func TestSignatureVectors(t *testing.T) {
	for _, vector := range readVectors[signatureVector](t, "signatures.json") {
		t.Run(vector.Name, func(t *testing.T) {
			at(t, time.Unix(vector.Now, 0), func(t *testing.T) {
				body, ran := vector.body(), false
				h := webhookmw.Verify(vector.Secret)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					ran = true
					d, ok := webhookmw.FromContext(r.Context())
					require.True(t, ok)
					require.Equal(t, body, d.Body)
				}))
				r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
				r.Header.Set("Webhook-Signature", "t="+vector.Timestamp+",v1="+vector.Signature)
				r.Header.Set("Webhook-Delivery-Id", "dlv_1")
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				want := vector.Status
				if vector.Accepted {
					want = http.StatusOK
				} else if want == 0 {
					want = http.StatusUnauthorized
				}
				require.Equal(t, want, w.Code, w.Body)
				require.Equal(t, vector.Accepted, ran)
			})
		})
	}
}

// Our own signatures are the published ones wherever those are good.
func TestSignVectors(t *testing.T) {
	for _, vector := range readVectors[signatureVector](t, "signatures.json") {
		if !vector.Accepted {
			continue
		}
		h := http.Header{}
		webhookmw.Sign(h, vector.Secret, "dlv_1", epoch, vector.body())
		require.Contains(t, h.Get("Webhook-Signature"), "t="+vector.Timestamp+",v1="+vector.Signature+",v2=", vector.Name)
	}
}

type providerVector struct {
	Scheme, Secret string
	Now            int64
	Headers        map[string]string
	Body           string
}

var schemes = []webhookmw.Scheme{
	webhookmw.Signed(), webhookmw.Stripe(), webhookmw.StandardWebhooks(), webhookmw.Svix(), webhookmw.GitHub(), webhookmw.Slack(),
}

func schemeNamed(t *testing.T, name string) webhookmw.Scheme {
	for _, s := range schemes {
		if s.String() == name {
			return s
		}
	}
	t.Fatalf("no scheme %q", name)
	return webhookmw.Scheme{}
}

func TestProviderVectors(t *testing.T) {
	want := map[string]webhookmw.Delivery{
		"StandardWebhooks": {EventID: "msg_p5jXN8AQM9LWM0D4loKWxJek", DeliveryID: "msg_p5jXN8AQM9LWM0D4loKWxJek", Timestamp: time.Unix(1614265330, 0)},
		"GitHub":           {EventID: "72d3162e-cc78-11e3-81ab-4c9367dc0958", DeliveryID: "72d3162e-cc78-11e3-81ab-4c9367dc0958", Type: "push"},
		"Slack":            {EventID: "sha256:390eeeff8d0cb7c9f6ecf8a88c3df6452fea0914eb02f64844369f3758d8d330", Timestamp: time.Unix(1531420618, 0)},
	}
	for _, vector := range readVectors[providerVector](t, "providers.json") {
		t.Run(vector.Scheme, func(t *testing.T) {
			at(t, time.Unix(vector.Now, 0), func(t *testing.T) {
				v, err := webhookmw.New(webhookmw.Config{Secrets: []string{vector.Secret}, Scheme: schemeNamed(t, vector.Scheme)})
				require.NoError(t, err)
				r := httptest.NewRequest("POST", "/", bytes.NewReader([]byte(vector.Body)))
				for name, value := range vector.Headers {
					r.Header.Set(name, value)
				}
				got, err := v.Check(r)
				require.NoError(t, err)
				want := want[vector.Scheme]
				want.Body = []byte(vector.Body)
				require.Equal(t, want, *got)

				r.Body = httptest.NewRequest("POST", "/", bytes.NewReader([]byte(vector.Body+"\n"))).Body
				r.ContentLength++
				_, err = v.Check(r)
				require.Error(t, err)
			})
		})
	}
}
