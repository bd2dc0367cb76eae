// Package bench holds webhookmw against the libraries of those who send webhooks: deliveries that they signed verify
// here, ours verify there, and the cost of both is measured in one run. It is a module of its own, so that nobody who
// uses webhookmw downloads any of them.
//
//	go test ./...
//	go test -run '^$' -bench . -count 5 | benchstat -col /by -
package bench
