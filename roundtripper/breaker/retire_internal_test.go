package breaker

// What becomes of a breaker that its group wants to forget, at moments that
// can't be met from outside.

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetire(t *testing.T) {
	for _, tt := range []struct {
		name string
		is   rank
		as   rank
		want bool
	}{
		{"idle", idle, idle, true},
		{"no longer idle", busy, idle, false},
		{"no longer closed", open, idle, false},
		{"busy", busy, busy, true},
		{"idle by now", idle, busy, true},
		{"no longer closed, and was busy", open, busy, false},
		{"open", open, open, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := New(Config{Consecutive: 2})
			var p Permit
			switch tt.is {
			case busy:
				p, _ = b.Allow()
			case open:
				for range 2 {
					p, _ = b.Allow()
					p.Done(Failure, nil)
				}
			}
			before := b.State()
			require.Equal(t, tt.want, b.retire(tt.as))
			if !tt.want {
				assert.Equal(t, before, b.State(), "as if nothing had been")
				p.Done(Failure, errors.New("down"))
				assert.Equal(t, tt.is == busy, b.cause != nil, "a call in progress counts")
				return
			}
			_, err := b.Allow()
			assert.Equal(t, errGone, err)
			p.Done(Failure, errors.New("down"))
			assert.NoError(t, b.cause, "a call in progress counts for nothing")
		})
	}
}
