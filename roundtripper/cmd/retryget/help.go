package main

// This file holds the text of -h.

const help = `retryget fetches a URL under a retry policy and shows each attempt, each wait
and why it stopped.

Usage:

  retryget [flags] [URL]

The body goes to standard output, the time line to standard error. Without a
URL, retryget starts a flaky server on this machine and fetches from that.

The request:

  -X method             the method (default GET, with -d POST)
  -H 'Name: value'      a header; may be given several times
  -d data               the body: data itself, @file for the content of a file,
                        - or @- for standard input, read to its end first
  -key key              an idempotency key, the same on every attempt: a request
                        that carries one may be repeated, whatever its method;
                        new makes one and shows it
  -redirects n          how many redirects to follow (default 10); each one
                        begins a call of its own

The policy; each flag but the first replaces one field of the preset:

  -policy name          headless, for a client that only reads (the default);
                        standard, for reads and writes;
                        transfer, for uploads, downloads and streams
  -retries n            attempts after the first
  -statuses list        the statuses that may heal, like 429,503, or none
  -attempt-timeout d    limit of one attempt, its body included; 0 is none
  -idle-timeout d       limit of the silence within an attempt; 0 is none
  -total-timeout d      limit of the call, waits and body included; 0 is none
  -max-delay d          the longest wait; 0 is no waits
  -retry-after rule     what to make of a Retry-After header:
                        honor: wait as long and the backoff on top of it; stop
                        if it is above -max-delay;
                        clamp: wait as long, -max-delay at most;
                        ignore: wait as if there were none

The output:

  -o file               a 2xx body goes to this file, whole or not at all
  -quiet                no time line; a failure is told in one line
  -explain              print the policy that the flags make, and exit
  -h                    print this, and exit

Exit status: 0 after a 2xx that arrived whole, 1 after any other fetch, 2 if
the command line can't be meant (nothing was sent), 130 after an interrupt.

Examples:

  retryget                                       the flaky server
  retryget https://example.com/data.json         three attempts at most
  retryget -policy transfer -o big.iso https://example.com/big.iso
  retryget -policy standard -d @order.json -H 'Content-Type: application/json' \
      -key new https://example.com/orders        a write, safe to repeat
  retryget -policy standard -retries 5 -explain  what would that do?
`
