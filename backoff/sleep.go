package backoff

// The wait itself.

import (
	"context"
	"time"
)

// Sleep waits for d, or until ctx ends if that comes first, and returns
// [context.Cause] of ctx in that case and nil otherwise. If ctx has ended already,
// Sleep returns its cause at once, whatever d is; if d is 0 or negative, it
// returns nil at once. It leaves neither a goroutine nor a timer behind.
func Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil || d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	// Nil unless ctx has ended, be it in the moment in which the wait was over.
	return context.Cause(ctx)
}
