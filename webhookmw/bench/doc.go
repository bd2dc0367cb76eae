// Package bench holds webhookmw against the libraries of those who send webhooks, and against what receivers remember
// deliveries with: deliveries that they signed verify here, ours verify there, and the cost of both is measured in one
// run, each time in another order. It is a module of its own, so that nobody who uses webhookmw downloads any of them.
//
//	go test ./...
//	go test -run '^$' -bench 'Verify|Refuse|Hold' -count 5 | benchstat -col /impl -
//	go test -run '^$' -bench Remember -benchtime 1000000x -count 5 | benchstat -col /impl -
package bench
