package webhookmw

// What a receiver asks of the thing that remembers deliveries.

import (
	"context"
	"errors"
	"time"
)

// Store remembers deliveries, so that one that comes twice is handled once. Each method is one atomic step. Package
// storetest checks every promise made here.
//
// A delivery is in one of three states: unknown, in work under a lease, done. An owner's Claim takes it from unknown to in
// work; Complete takes it to done, for Claim.Retain; Release takes it back to unknown. A lease that has run out frees it
// for the next Claim; as long as none comes its owner may still settle it, for at least Claim.Retain unless the room is
// needed. A Store never forgets a delivery that is done, or in work under a lease: if it has no room for another one,
// it refuses the claim with an error that is [ErrFull].
//
// Beside deliveries a Store remembers, from every Claim, the signature and the delivery that it first came with, and from
// every Complete the event; both for at least Claim.Retain. A claim that is refused for want of room leaves nothing behind.
// Where signatures take too much room a Store lets go of the oldest, and refuses no delivery for them.
//
// An error from any method means that nothing is known: the step may have been taken or not. A Store is safe for use by
// many goroutines at once, and limits by itself how long it lets them wait.
type Store interface {
	// Claim takes the delivery c.Key for the owner c.Token, if it is unknown, or in work under a lease that has run out.
	// The Status says whether it did, and otherwise why not.
	Claim(ctx context.Context, c Claim) (Status, error)

	// Complete says that c.Key is done. Only the owner can: for anybody else the error is ErrNotOwner.
	Complete(ctx context.Context, c Claim) error

	// Release gives c.Key back, as if it had never been claimed; only its signature stays known. Only the owner can: for
	// anybody else the error is ErrNotOwner.
	Release(ctx context.Context, c Claim) error
}

// Claim is what a Store is told of a delivery: hashes and checksums of fixed size, so that nothing of its content is
// stored. They hold no secret and do not depend on any. Two claims with the same Key have the same Event.
type Claim struct {
	Key         [32]byte // scope, delivery and event
	Event       [32]byte // scope and event
	Signature   [32]byte // scope, timestamp and body: what the sender's signature covers
	Fingerprint [32]byte // the body, to tell two of one delivery apart; checksums, which a sender can make equal, except where no time is signed
	Token       string   // the owner, unique to one claim
	Lease       time.Duration
	Retain      time.Duration
}

// Status is a Store's answer to a Claim.
type Status struct {
	State           State
	EventSeen       bool // the event was completed before, under any delivery
	SignatureReused bool // the signature came before, with another delivery
}

// State is where a delivery stands.
type State int

const (
	Claimed   State = iota // it is the caller's now
	InFlight               // it is another owner's
	Completed              // it is done
	Mismatch               // it is in work or done with another body
)

var stateNames = [...]string{"claimed", "in flight", "completed", "mismatch"}

// String returns "claimed", "in flight", "completed" or "mismatch".
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return "unknown state"
	}
	return stateNames[s]
}

var (
	// ErrFull is the error of a Store that would have to forget a delivery to take another one.
	ErrFull = errors.New("webhookmw: store is full")

	// ErrNotOwner is the error of a Store that is told to complete or release what is not in work under that token: the
	// lease ran out and another one took over, or it has been settled already.
	ErrNotOwner = errors.New("webhookmw: delivery is not in work under this claim")
)
