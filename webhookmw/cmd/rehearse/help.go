package main

// The text of -h.

import (
	"fmt"
	"strings"
)

func help() string {
	var names strings.Builder
	for _, s := range scenarios() {
		fmt.Fprintf(&names, "  %-20s  %s\n", s.name, s.sent)
	}
	return fmt.Sprintf(helpText, names.String())
}

const helpText = `rehearse tries a webhook receiver against what will happen to it.

Usage:

  rehearse [flags] [URL]
  rehearse serve [flags]

With a URL, one signed event is delivered there, in up to three attempts. The
time line goes to standard error, how it ended to standard output. Without a
URL all goes to a receiver on this machine, and where no flag says what to send,
that is all scenarios.

The secret, for a URL and for serve, is what REHEARSE_SECRET holds, or:

  -secret-file file     the file that it is in; a line end after it is not part
                        of it

What is delivered:

  -event file           the event, a JSON object with "id" and "type"; - is
                        standard input (default: one that is made up)
  -events dir           keep the event in this directory, for -replay; it is
                        made if it is not there
  -replay id            an event that was kept, in a new delivery
  -key key              replays under one key are one delivery, in this run
  -times n              how often (default 1); each is a delivery of its own
  -concurrency n        how many at once (default 1), at most as many as -times

What goes wrong:

  -scenario list        all, or names with commas between them: send these, and
                        print what was answered beside what a correct receiver
                        answers

rehearse serve is a receiver. It prints each delivery and its verdict, until it
is interrupted. Without a secret it makes one, and shows it:

  -listen addr          where (default 127.0.0.1:8090)
  -work d               how long it works on each delivery (default 0s)
  -answer list          what it answers: 500,200 is 500 at first and 200 then

The output:

  -quiet                no time line
  -h                    print this, and exit

Exit status: 0 if all was delivered, or all scenarios were answered as a correct
receiver answers them; 1 if not; 2 if the command line can't be meant (nothing
was sent); 130 after an interrupt. An interrupt is how serve ends: 0.

Scenarios:

%s
Examples:

  rehearse                                        see it all, on this machine
  rehearse serve                                  in one terminal; in another:
  REHEARSE_SECRET=... rehearse http://127.0.0.1:8090/
  rehearse -scenario all http://127.0.0.1:8090/   how good is that receiver?
  rehearse -events kept -event paid.json http://127.0.0.1:8090/
  rehearse -events kept -replay evt_1 -key k -times 100 -concurrency 10 \
      http://127.0.0.1:8090/                      100 replays, one delivery
`
