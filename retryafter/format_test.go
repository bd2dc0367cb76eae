package retryafter_test

// Writing the header.

import (
	"math"
	"testing"
	"time"

	"github.com/rebound-go/rebound/retryafter"
)

func TestFormat(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0"},
		{-1, "0"},
		{-time.Hour, "0"},
		{math.MinInt64, "0"},
		{1, "1"},
		{time.Millisecond, "1"},
		{time.Second - 1, "1"},
		{time.Second, "1"},
		{time.Second + 1, "2"},
		{1500 * time.Millisecond, "2"},
		{2 * time.Minute, "120"},
		{9223372036 * time.Second, "9223372036"},
		{9223372036*time.Second + 1, "9223372037"},
		{math.MaxInt64, "9223372037"},
	} {
		if got := retryafter.Format(test.d); got != test.want {
			t.Errorf("Format(%v) = %q, want %q", test.d, got, test.want)
		}
	}
}
