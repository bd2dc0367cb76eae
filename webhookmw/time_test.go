package webhookmw_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rebound-go/rebound/webhookmw"
)

func TestWindow(t *testing.T) {
	tests := []struct {
		name      string
		tolerance time.Duration
		off       time.Duration // of the timestamp
		reason    webhookmw.Reason
	}{
		{"now", 0, 0, ""},
		{"oldest", 0, -300 * time.Second, ""},
		{"too old", 0, -301 * time.Second, webhookmw.ReasonStale},
		{"newest", 0, 300 * time.Second, ""},
		{"too new", 0, 301 * time.Second, webhookmw.ReasonFuture},
		{"oldest of a minute", time.Minute, -time.Minute, ""},
		{"too old for a minute", time.Minute, -61 * time.Second, webhookmw.ReasonStale},
		{"part of a second", 1500 * time.Millisecond, -2 * time.Second, webhookmw.ReasonStale},
		{"centuries ago", 0, 1e9 - 1_700_000_000e9, webhookmw.ReasonStale},
	}
	for _, test := range tests {
		for _, fraction := range []time.Duration{0, 999_999_999} { // The clock's own fraction never matters.
			t.Run(test.name, func(t *testing.T) {
				at(t, epoch.Add(fraction), func(t *testing.T) {
					rec := newReceiver(t, webhookmw.Config{Tolerance: test.tolerance}, nil)
					w := rec.send(signedAt(epoch.Add(test.off), "dlv_1", plain))
					if test.reason == "" {
						require.Equal(t, 200, w.Code)
						require.True(t, epoch.Add(test.off).Equal(rec.runs[0].Timestamp))
						return
					}
					require.Equal(t, 401, w.Code)
					require.Equal(t, test.reason, rec.last().Reason)
				})
			})
		}
	}
}

func TestWindowSaysHowFarOff(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{}, nil)
		rec.send(signedAt(epoch.Add(-6*time.Minute), "dlv_1", plain))
		require.ErrorContains(t, rec.last().Err, "6m0s behind this clock, 5m0s allowed")
		rec.send(signedAt(epoch.Add(2*time.Hour), "dlv_1", plain))
		require.ErrorContains(t, rec.last().Err, "2h0m0s ahead of this clock")
		rec.send(signedAt(time.Unix(9e18, 0), "dlv_1", plain))
		require.ErrorContains(t, rec.last().Err, "ahead of")
	})
}

// A timestamp has one spelling. Each of these is signed as it stands, so that the spelling alone is what is refused.
func TestTimestampSpelling(t *testing.T) {
	seconds := strconv.FormatInt(epoch.Unix(), 10)
	tests := []struct {
		text   string
		reason webhookmw.Reason
	}{
		{seconds, ""},
		{"1700000000000", webhookmw.ReasonMilliseconds},
		{"1700000000123", webhookmw.ReasonMilliseconds},
		{"1700000000000000", webhookmw.ReasonFuture},
		{"abc", webhookmw.ReasonTimestamp},
		{"1.7e9", webhookmw.ReasonTimestamp},
		{"0x6553f100", webhookmw.ReasonTimestamp},
		{"Infinity", webhookmw.ReasonTimestamp},
		{"NaN", webhookmw.ReasonTimestamp},
		{"1700000000.5", webhookmw.ReasonTimestamp},
		{"+1700000000", webhookmw.ReasonTimestamp},
		{"01700000000", webhookmw.ReasonTimestamp},
		{"0001700000000", webhookmw.ReasonTimestamp},
		{"-1", webhookmw.ReasonTimestamp},
		{"0", webhookmw.ReasonTimestamp},
		{"1_700_000_000", webhookmw.ReasonTimestamp},
		{"１７００００００００", webhookmw.ReasonTimestamp},
		{" 1700000000", webhookmw.ReasonTimestamp},
		{"1700000000 0", webhookmw.ReasonTimestamp},
		{"99999999999999999999", webhookmw.ReasonTimestamp},
		{"", webhookmw.ReasonNoTimestamp},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			at(t, epoch, func(t *testing.T) {
				rec := newReceiver(t, webhookmw.Config{}, nil)
				r := signed("dlv_1", plain)
				r.Header.Set("Webhook-Signature", "t="+test.text+",v1="+mac(secret, test.text, plain))
				w := rec.send(r)
				if test.reason == "" {
					require.Equal(t, 200, w.Code)
					return
				}
				require.Equal(t, 401, w.Code)
				require.Equal(t, test.reason, rec.last().Reason)
				require.Zero(t, rec.ran())
			})
		})
	}
}

// The signature covers the text, not the number: one time spelled anew is another text.
func TestTimestampRespelled(t *testing.T) {
	at(t, epoch, func(t *testing.T) {
		rec := newReceiver(t, webhookmw.Config{}, nil)
		r := signed("dlv_1", plain)
		r.Header.Set("Webhook-Signature", "t=1700000001,v1="+mac(secret, "1700000000", plain))
		require.Equal(t, 401, rec.send(r).Code)
		require.Equal(t, webhookmw.ReasonSignature, rec.last().Reason)
	})
}

// A signature is good for twice the tolerance and a second; what came with it is remembered for longer.
func TestReplayAtTheEndOfTheWindow(t *testing.T) {
	for _, retention := range []time.Duration{0, 10 * time.Minute} {
		at(t, epoch, func(t *testing.T) {
			rec := newReceiver(t, webhookmw.Config{Retention: retention}, nil)
			stamp := epoch.Add(300 * time.Second)
			require.Equal(t, 200, rec.send(signedAt(stamp, "dlv_1", plain)).Code)
			time.Sleep(600*time.Second + 999*time.Millisecond)
			w := rec.send(signedAt(stamp, "dlv_1", plain))
			require.Equal(t, 200, w.Code)
			require.Equal(t, "true", w.Header().Get("Webhook-Duplicate"))
			require.Equal(t, 1, rec.ran())
			time.Sleep(time.Millisecond)
			require.Equal(t, 401, rec.send(signedAt(stamp, "dlv_1", plain)).Code)
		})
	}
}

func TestConfigBounds(t *testing.T) {
	usable := []webhookmw.Config{
		{Tolerance: 12 * time.Hour},
		{MaxBodyBytes: 1 << 30},
		{Tolerance: time.Minute, Retention: 2 * time.Minute},
		{Retention: 1<<63 - 1, Tolerance: 1<<61 - 1},
	}
	for _, config := range usable {
		config.Secrets = []string{secret}
		_, err := webhookmw.New(config)
		require.NoError(t, err)
	}
	unusable := []webhookmw.Config{
		{Retention: 5 * time.Second},
		{Retention: 10*time.Minute - 1},
		{Tolerance: 12*time.Hour + 1},
		{Tolerance: 1<<63 - 1, Retention: 1<<63 - 1},
		{Tolerance: -1}, {MaxBodyBytes: -1}, {Lease: -1}, {Retention: -1}, {Wait: -1}, {MaxWaiters: -1},
		{RequireV2: true, Scheme: webhookmw.Stripe()}, {RequireV2: true, Scheme: webhookmw.StandardWebhooks()},
		{MaxBodyBytes: 1<<63 - 1}, {MaxBodyBytes: 1<<30 + 1},
	}
	for _, config := range unusable {
		config.Secrets = []string{secret}
		v, err := webhookmw.New(config)
		require.Error(t, err)
		require.Nil(t, v)
	}
}
