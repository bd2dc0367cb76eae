// Package offline holds calls back while there is no network.
//
// Without a network every attempt fails within milliseconds, so a call uses up
// its retries before the train has left the tunnel. A [Gate] notices that
// attempts find no path out of this machine, and then lets calls wait, without
// using up anything, until one of them gets through.
//
// # Use
//
// Let one Gate serve all the calls of a process: the network is lost for all
// of them at once. Enter before each attempt, and report what came of it
// before anything else is told about it:
//
//	pass, err := gate.Enter(ctx, host)
//	if err != nil {
//		return err // ctx ended, or ErrOffline
//	}
//	defer pass.Done(offline.Unknown) // for panics; a second Done does nothing
//	resp, err := attempt()
//	if !pass.Done(offline.Classify(err)) {
//		// The network is away: this attempt uses no retry, and says nothing
//		// about the service. Go back to Enter.
//	}
//
// # How it tells
//
// It asks nobody: the calls themselves show how things are. Three attempts in
// a row, to whatever hosts, that found no path ([NoPath]) mean that there is
// no network; anything that came from a peer ([Reached]), a refusal too, means
// that there is one. [Classify] tells these apart by the types of errors.
//
// While it is offline, one attempt at a time is let through as a probe: first
// after half a second to a second, then at intervals that double up to
// MaxProbe. Whichever call is waiting or arrives when it is time makes the
// probe. If its caller gives up, the next one goes at once; if it stays silent
// for the Lease, the next one goes too. There is no goroutine and no address
// that is polled, so nothing is sent while there is nothing to send. When a
// probe gets through, those that waited leave spread over Resume.
//
// A [Hint] may tell the gate what the system knows. It makes the gate quicker
// and never more than that: a hint that is wrong can't keep calls waiting, for
// a probe is let through all the same. [Interfaces] is one.
//
// # Pitfalls
//
// Hosts on this machine (127.0.0.0/8, ::1, localhost) are never held back and
// prove nothing. A proxy is the peer, so give the gate the proxy's name.
//
// When the caller's own context has ended, the attempt says nothing, whatever
// its error is: report [Unknown] then and don't ask [Classify].
//
// A call whose context has no deadline waits for at most MaxWait in one Enter.
// To bound the waits of a call as a whole, give later ones a context whose
// time is what remains of [Gate.MaxWait], with [ErrOffline] as its cause.
//
// Timers stand still while a machine is suspended, on some systems, and the
// gate doesn't notice when it wakes: the next probe may then come MaxProbe
// later. A hint that changes, or a poll of one, makes it come sooner.
package offline
