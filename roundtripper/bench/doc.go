// Package bench holds the parts of a client against what others offer for the
// same task, and against the least that would be written by hand: what a call, a
// write, a stream and a retry cost, how many connections a hundred failures use
// up, how much of a large body is kept, and what the small parts take. It is a
// module of its own, so that nobody who uses rebound downloads any of them.
//
// Every benchmark has its floor in the same run, and its order is another one in
// each. The tests show that what is measured is what is claimed: that those that
// are to retry do, and that a timeout said to be in force is.
//
//	go test ./...
//	go test -run '^$' -bench Call .
//
// From the root of the repository, .ci/bench prints all of it as tables.
package bench
