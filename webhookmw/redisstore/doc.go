// Package redisstore is a [webhookmw.Store] in Redis, for receivers on more than one machine.
//
//	client := redis.NewClient(&redis.Options{Addr: "redis:6379", ContextTimeoutEnabled: true})
//	store, err := redisstore.New(client, redisstore.Config{})
//	...
//	receiver, err := webhookmw.New(webhookmw.Config{Secrets: secrets, Store: store})
//
// The client may be one for a single server, for Sentinel or for a cluster: everything that implements
// redis.UniversalClient. It needs ContextTimeoutEnabled, without which go-redis minds no deadline. A redis.Ring does too, but
// goes to another of its servers when one does not answer, each receiver by its own judgment: that forgets, or splits, as
// the table below says.
//
// # Which store when
//
//   - One process: webhookmw.NewMemory. It costs a microsecond and no server, and a restart forgets.
//   - Several processes, and handlers whose work may be done twice, or that note the event's ID themselves: this one.
//   - Several processes, and handlers whose work is in a PostgreSQL database: package sqlstore, which can commit the work
//     and the note that it is done as one.
//
// # What it guarantees
//
// Each step is a script, so that it is taken as a whole or not at all, on the server's clock. Every key expires. An event
// that was acknowledged has been handled, whatever happens. How often depends:
//
//	                                  handled          what the sender sees
//	receiver dies in the middle       again            no answer; then 409 until the lease ends, then the handler's answer
//	  after its work, before Complete again            the same
//	Redis is down, or slower than     not yet          503 with Retry-After
//	  Timeout, at the claim
//	  at the end                      again, if it is  the handler's answer; Observe is told ReasonNotRecorded
//	                                  sent again
//	Redis restarts without its data,  again, if it is  the handler's answer each time
//	  or a replica that lags takes    sent again
//	  over
//	partition, both sides accept      on both sides    the handler's answer from each
//	  writes
//	partition, the side without       on one side      503 with Retry-After from the other
//	  a replica does not
//	a cluster moves the slot to       not yet          503 with Retry-After for every delivery that is new, until the
//	  another node, at the claim                       last key is there
//	  at the end                      again, if it is  the handler's answer; Observe is told ReasonNotRecorded
//	                                  sent again
//	Redis is out of memory            not yet          503 with Retry-After; what was claimed can still be completed,
//	                                                   and a duplicate is told so
//
// Nothing needs a restart of the receiver: each delivery tries anew, and in a cluster a step that fails makes the client
// look who is the master now. How soon it finds out about one that hangs is for the client's timeouts, see below. A client
// that repeats a step because its connection broke does no harm: the claim is granted to its owner again; at worst Observe
// is told of [webhookmw.ErrNotOwner] for a delivery that had been completed by the first of two attempts.
//
// A step that timed out may be taken after all, once a slow server gets to it. Then the delivery stays in work until its
// lease ends, and the sender is told 409.
//
// # Size
//
// A delivery that is done takes about 530 bytes for Config.Retention, in three keys: the delivery, its event and the
// signature it came with. Each further attempt adds one for its signature. A plain SET NX takes 180. So a million
// deliveries a day, remembered for a day, are some 530 MB.
//
// A delivery costs two scripts, Claim and Complete, beside the one command of a plain SET NX, and comes to about two fifths
// of its rate: 30,000 deliveries a second beside 82,000, with a p99 of 1.9 ms beside 1.6 ms, from 16 goroutines on a machine
// of 2 cores that ran the server too.
//
// All keys of a Store are in one slot, since a delivery, its event and its signature are looked at together and none of them
// tells the others' names. A cluster therefore spreads Stores over its nodes, not one Store; where one node is not enough,
// give receivers Prefixes of their own. Move a slot when it is quiet: 184,000 keys, of 60,000 deliveries, took
// 13 seconds.
//
// # Settings that matter
//
//   - maxmemory-policy noeviction: any other one lets Redis forget deliveries before their time, and then they run again.
//   - appendonly yes, with appendfsync everysec: a restart forgets at most about a second.
//   - min-replicas-to-write 1 and min-replicas-max-lag, where a replica takes over: a server that was cut off stops accepting
//     claims after so many seconds, and deliveries that reach it are answered 503. Have two replicas: one that takes over
//     alone accepts nothing until it has a replica itself. Servers before Redis 7 don't ask this of scripts.
//   - In a cluster, the client's DialTimeout, ReadTimeout and WriteTimeout no longer than Config.Timeout, and DialerRetries
//     1: a client that looks for the new master may ask the one that is gone, and waits for it. Where a host answered
//     nothing any more half of the clients were back half a minute after the replica had taken over with go-redis's own
//     settings, and all of them within 2 seconds with these.
//   - With Sentinel, DialTimeout no longer than Config.Timeout, ReadTimeout and WriteTimeout a quarter of that, DialerRetries
//     1 and MaxRetries -1: a client keeps to one sentinel, and where that one hangs together with the master, as on one
//     host, it may not get to the others before its time is up. One in five was back after a minute and a half with
//     go-redis's own settings, and all of them within 2 seconds with these.
//   - A second of Config.Timeout is meant for a server nearby. Two steps of it are the longest that a sender waits to hear
//     503; keep that below the sender's own timeout.
//   - Redis 5 is the oldest whose commands and replication of scripts will do. It is tested on Redis 7.0.
//   - Clocks: a lease ends on the clock of the server that answers. After a failover it is longer or shorter by as much as
//     the two differ.
package redisstore
