package webhookmw

// Stores that commit what a handler did together with the end of its claim, and the answer that waits for that.

import (
	"bytes"
	"context"
	"maps"
	"net/http"
)

// A Committer is a [Store] that can make a handler's own work and the end of its claim one: either both are there
// afterwards, or neither is. Package sqlstore has one, whose handlers write in its transaction.
type Committer interface {
	Store

	// Begin is called for each delivery that was claimed, before its handler. The handler's context, and those of the
	// Complete or Release that follows, hold the values of the context that it returns. Complete commits what the handler
	// did in it; Release undoes that. The handler's answer is withheld until Complete has returned: where that fails,
	// Release is called and the sender is told 503 in its place, so that it comes again.
	//
	// A nil context without an error means that there is nothing to commit, and the delivery is handled as with any other
	// Store. An error gives the delivery back and answers 503.
	//
	// A Store that wraps a Committer must have a Begin that calls the inner one, or nothing is committed together.
	Begin(ctx context.Context, c Claim) (context.Context, error)
}

// begin asks a store that commits to begin, and then withholds the answer.
func (c *call) begin(ctx context.Context, claim *Claim) *Rejection {
	committer, ok := c.v.config.Store.(Committer)
	if !ok {
		return nil
	}
	begun, err := committer.Begin(ctx, *claim)
	switch {
	case err != nil:
		return c.giveBack(claim, err)
	case begun != nil:
		c.request = c.request.WithContext(begun)
		c.response.withheld = &withheld{before: c.response.Header().Clone()}
	}
	return nil
}

// withheld is an answer that the sender must not see yet.
type withheld struct {
	before http.Header // what stood in the header before the handler
	after  http.Header // what the handler's status went with; nil: it wrote nothing
	body   bytes.Buffer
}

// send lets go of an answer that was withheld. What the handler set after its status stands in the header again once that
// is out, since a trailer may be among it.
func (r *response) send() {
	held := r.withheld
	r.withheld = nil
	if held == nil || held.after == nil {
		return
	}
	late := r.Header().Clone()
	replace(r.Header(), held.after)
	r.ResponseWriter.WriteHeader(r.status)
	r.ResponseWriter.Write(held.body.Bytes()) // The sender may be gone; there is nobody else to tell.
	replace(r.Header(), late)
}

// takeBack answers 503 in place of an answer that was withheld.
func (r *response) takeBack() {
	replace(r.Header(), r.withheld.before)
	r.withheld, r.status = nil, 0
	r.unavailable()
}

func replace(header, with http.Header) {
	clear(header)
	maps.Copy(header, with)
}
