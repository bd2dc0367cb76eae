// Package toxic holds what a caller must see of a bad network: between a client and a server, both real, stands a
// proxy that delays, throttles, cuts and resets what goes through it, in each direction, and every preset of
// roundtripper is put in front of it. It is a module of its own, so that nobody who uses roundtripper downloads the
// proxy.
//
//	go test -race ./...
package toxic
