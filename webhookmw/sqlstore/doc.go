// Package sqlstore is a [webhookmw.Store] in PostgreSQL, for receivers on more than one machine. It can commit what a
// handler writes and the note that its delivery is done as one, so that a crash between the two neither loses an event nor
// makes it count twice.
//
//	store, err := sqlstore.New(db, sqlstore.Config{Transactional: true})
//	...
//	receiver, err := webhookmw.New(webhookmw.Config{Secrets: secrets, Store: store})
//	...
//	func orderPaid(w http.ResponseWriter, r *http.Request) {
//		tx, ok := sqlstore.Tx(r.Context())
//		...
//		_, err := tx.ExecContext(r.Context(), "UPDATE orders SET paid = true WHERE id = $1", id)
//		if err != nil {
//			http.Error(w, "", http.StatusInternalServerError)
//		}
//	}
//
// It goes through database/sql, in PostgreSQL's dialect, and imports no driver; it is tested with pgx on PostgreSQL 15, and
// has been tried on 13 and 17. The table comes from [Store.Schema], and [Store.Expire] must be called now and then; there is
// nothing else to look after.
//
// # Which store when
//
//   - One process: webhookmw.NewMemory. It costs a microsecond and no server, and a restart forgets.
//   - Several processes, and handlers whose work may be done twice: package redisstore, or this one where there is no Redis.
//   - Several processes, and handlers whose work is in the same PostgreSQL: this one, with Transactional.
//
// # Transactional
//
// The claim is committed before the handler runs, so that a twin elsewhere is turned away. Then a transaction begins, in
// which the handler writes with [Tx]. A handler that takes the delivery is followed by the note that it is done, in the same
// transaction, and COMMIT. Only then does the sender get the handler's answer. If the commit fails, or the lease has run
// out and another receiver has taken over, everything is undone and the sender is told 503: it comes again. If the
// connection breaks at COMMIT, so that nobody knows, the sender is told 503 as well; where it had been committed, the next
// attempt is a duplicate.
//
// What it costs: one connection for as long as a handler runs, so that the pool must be larger than the number of
// handlers at once, or claims wait; two more round trips, BEGIN and COMMIT; the answer is held in memory until the commit,
// so Flush does nothing and Hijack is not supported. A transaction that is open for long keeps VACUUM from its work.
//
// When not to use it: handlers that call other services, whose work no transaction takes back; that are slow; that
// work in another database. Everything that a handler does outside the transaction is done at least once. And a handler
// must not commit or roll back by itself, nor ask the pool for a second connection while it holds one: what it commits is
// there again after the next attempt, and what an SQL ROLLBACK undoes, other than one to a savepoint, is lost, with the
// delivery done. Nor may it leave a statement running behind it without the request's context: the answer waits for that,
// beyond Timeout.
//
// The note is one more statement of the handler's transaction, under what was set in it: search_path, the role, READ ONLY.
// Where it can't find or write the table the delivery is put off, again and again; Observe is told why. A Table with its
// schema before it minds no search_path.
//
// # What it guarantees
//
// A delivery that was acknowledged has been handled, and with Transactional its writes are there exactly once. Another
// delivery of the same event, such as a replay, is handled too, with Delivery.EventSeen set if the first one was done by
// then: a handler to which the event matters keeps its ID in a unique column, as in the example of [Tx].
//
//	                                  plain            Transactional   what the sender sees
//	receiver dies in the middle       again            once            no answer; then 409 until the lease ends
//	  after its work, before Complete again            once            the same
//	server down, or slower than       not yet          not yet         503 with Retry-After
//	  Timeout, at the claim
//	  at the end                      again, if it is  undone, once    the handler's answer; 503 with Transactional.
//	                                  sent again                       Observe is told ReasonNotRecorded
//	receiver is cut off, or its       again            once            no answer; then 409 until the lease ends, then 503
//	  machine dies                                                     or 5xx while the server holds its transaction
//	server crashes and recovers       once             once            as above
//	failover, synchronous replica     once             once            as above
//	failover, replica that lags       again, if it is  may be lost     the handler's answer
//	                                  sent again
//	partition                         PostgreSQL has one primary; receivers that don't reach it answer 503
//	disk full                         not yet          not yet         503 with Retry-After
//
// A handler whose process was killed has its transaction ended at once. One whose machine has vanished has it open, with
// the rows that it wrote locked, until the server notices: idle_in_transaction_session_timeout bounds that, without which
// it can be hours. Deliveries that need none of those rows go on meanwhile.
//
// "May be lost" is the price of any database whose replica lags: the acknowledged transaction is gone, with the event's
// writes and with the note. With a plain Store the handler's work is elsewhere and stays.
//
// A step that timed out may be taken after all, once a slow server gets to it. Then the delivery stays in work until its
// lease ends, and the sender is told 409.
//
// # Size
//
// A delivery that is done is three rows: itself, its event and the signature it came with. With indexes, the third of each
// page that is left free, and rows that wait for VACUUM they take about 1.0 KB for Config.Retention, beside 160 bytes for
// a plain INSERT of an ID. A million deliveries a day, remembered for a day, are some 1.0 GB.
//
// Each delivery is two commits, each of which waits for the disk, beside a plain INSERT's one, and comes to a quarter of
// its rate with Transactional, and a third without: 4,700 or 6,400 deliveries a second beside 18,500, with a p99 of 9 or
// 7 ms beside 4 ms, from 16 goroutines on a machine of 2 cores that ran the server too. A twin that waits, or a duplicate,
// commits once, if its signature is new; beyond that it only reads.
//
// Call Expire about once a minute from any of the receivers, or have pg_cron run such a statement:
//
//	SELECT cron.schedule('* * * * *', $$
//		DELETE FROM webhook_deliveries WHERE id = ANY(ARRAY(
//			SELECT id FROM webhook_deliveries WHERE expires <= now() ORDER BY expires LIMIT 10000 FOR UPDATE SKIP LOCKED))
//	$$)
//
// # Settings that matter
//
//   - synchronous_commit: on, which is the default. With off, a crash of the server forgets what was committed in the last
//     moments: with Transactional that loses events which were acknowledged; otherwise it makes some run again.
//   - synchronous_standby_names, where a replica may take over, for the same reason. A commit that waits for the replica
//     longer than Timeout is answered 503, but stands: a duplicate may then be told so before the replica has it.
//   - default_transaction_isolation: READ COMMITTED, which is the default. Under a stricter one steps that meet fail, and
//     their deliveries are put off; without Transactional one whose Complete fails keeps its 200, and may run again.
//   - SetMaxOpenConns of the pool: above the number of handlers at once with Transactional; below the server's
//     max_connections in all.
//   - idle_in_transaction_session_timeout, somewhat above the lease, with Transactional: neither a machine that has vanished
//     nor a handler that hangs without a statement, which does not end with its context, then holds its rows for longer.
//   - target_session_attrs=read-write, where the driver is given several hosts: a standby can take no claim, and a receiver
//     that is connected to one answers 503.
//
// A role needs SELECT, INSERT, UPDATE and DELETE on the table. Only its owner can run Schema, also where the table is there.
//
// What a handler changes beyond its transaction, by SET without LOCAL or pg_advisory_lock, stays with the connection and
// comes to deliveries that use it next: after SET synchronous_commit = off they are acknowledged, and a crash forgets them.
// Write SET LOCAL and pg_advisory_xact_lock.
//
// # PgBouncer
//
// With pool_mode = session everything works. Each connection of the Go pool keeps one of the server's, so that the pools of
// all receivers together must be below default_pool_size. With pool_mode = transaction what works is decided by how the
// driver sends a statement, and default_pool_size must be above the number of handlers at once, in place of
// SetMaxOpenConns. What one handler changes beyond its transaction then comes to other programs too. pool_mode = statement
// lets no transaction through: Transactional answers 503 to all, and without it the rest is as for transaction.
//
//	pgx, default_query_exec_mode=    pool_mode = transaction
//	exec, cache_describe,            works
//	  simple_protocol
//	cache_statement, the default     503 to most; works with max_prepared_statements above 0, from PgBouncer 1.21, where a
//	                                 statement that failed in a transaction may cost a later delivery a 503
//	describe_exec                    never: a statement may run with the text of another client's, so that a claim is
//	                                 granted in another Store's table, and no error tells
//
// # lib/pq
//
// It works, but a statement on a connection that hangs is not ended by Timeout or any context: it waits for the network, and
// so does the sender. Through pool_mode = transaction it needs binary_parameters=yes; without that it is as describe_exec.
package sqlstore
