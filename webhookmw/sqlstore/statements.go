package sqlstore

// The table and the statements. They run on the server's clock, and each of them is right by itself under READ COMMITTED.
//
// One table holds three kinds of rows, told apart by the first byte of their id: deliveries, events and signatures. A
// delivery's value is its fingerprint, and owner and lease are there while it is in work. A signature's value is the
// delivery that it first came with.

import "strings"

type statements struct{ schema, claim, complete, release, expire string }

func statementsFor(table string) statements {
	name := table[strings.IndexByte(table, '.')+1:]
	quoted := `"` + strings.ReplaceAll(table, ".", `"."`) + `"` // A word of the language's own is a name too.
	fill := strings.NewReplacer("{table}", quoted, "{index}", `"`+name+`_expires"`, "{lock}", "'"+table+"'").Replace
	return statements{fill(schemaSQL), fill(claimSQL), fill(completeSQL), fill(releaseSQL), fill(expireSQL)}
}

// The lock is for receivers that start at once: IF NOT EXISTS alone lets the later ones fail. The table leaves a third of
// each page free, so that a row which changes stays on its page.
const schemaSQL = `SELECT pg_advisory_xact_lock(hashtext({lock}));
CREATE TABLE IF NOT EXISTS {table} (
	expires timestamptz NOT NULL,
	lease   timestamptz,
	id      bytea PRIMARY KEY,
	value   bytea,
	owner   text
) WITH (fillfactor = 70);
CREATE INDEX IF NOT EXISTS {index} ON {table} (expires);
`

// claimSQL sees the table as it was when it began, except where INSERT meets a row of its own id: then it waits for
// whoever is writing it and judges the newest version. What follows from that:
//
//   - A delivery that was held is held: that is read, and nothing is locked. So a twin that asks again and again neither
//     writes nor waits for the owner's commit.
//   - One that was not is inserted. If that takes nothing, somebody has taken it since, and "in flight" is right; the twin
//     asks again.
//   - A signature that another delivery brought is always updated, so that it is always returned.
//   - The delivery's row is locked before the signature's, and completeSQL locks it before the event's: no two steps wait
//     for each other.
//
// A signature is kept for an eighth longer than asked, so that it is written once for a twin that asks again and again.
const claimSQL = `WITH clock AS (
	SELECT statement_timestamp() AS now, $7::bigint * interval '1 microsecond' AS lease,
		$8::bigint * interval '1 microsecond' AS retain
), held AS (
	SELECT CASE WHEN value <> $5::bytea THEN 3 WHEN lease IS NULL THEN 2 ELSE 1 END AS state
	FROM {table} WHERE id = $1::bytea AND expires > statement_timestamp()
	AND (lease IS NULL OR lease > statement_timestamp() AND owner <> $6::text)
), taken AS (
	INSERT INTO {table} AS d (id, value, owner, lease, expires)
	SELECT $1::bytea, $5::bytea, $6::text, now + lease, now + lease + retain FROM clock WHERE NOT EXISTS (SELECT FROM held)
	ON CONFLICT (id) DO UPDATE
	SET value = excluded.value, owner = excluded.owner, lease = excluded.lease, expires = excluded.expires
	WHERE d.expires <= statement_timestamp() OR d.lease <= statement_timestamp() OR d.owner = excluded.owner
	RETURNING 0 AS state
), signature AS (
	INSERT INTO {table} AS s (id, value, expires)
	SELECT $3::bytea, $4::bytea, now + retain * 1.125 FROM clock WHERE NOT EXISTS (
		SELECT FROM {table} WHERE id = $3::bytea AND value = $4::bytea AND expires >= clock.now + clock.retain
	)
	ON CONFLICT (id) DO UPDATE
	SET value = CASE WHEN s.expires <= statement_timestamp() THEN excluded.value ELSE s.value END,
		expires = greatest(s.expires, excluded.expires)
	WHERE s.value <> excluded.value OR s.expires < excluded.expires
	RETURNING value
)
SELECT
	coalesce((SELECT state FROM held), (SELECT state FROM taken), 1),
	EXISTS (SELECT FROM {table} WHERE id = $2::bytea AND expires > statement_timestamp()),
	EXISTS (SELECT FROM signature WHERE value <> $4::bytea)`

const completeSQL = `WITH done AS (
	UPDATE {table} SET owner = NULL, lease = NULL, expires = statement_timestamp() + $4::bigint * interval '1 microsecond'
	WHERE id = $1::bytea AND owner = $3::text
	RETURNING expires
)
INSERT INTO {table} AS e (id, expires) SELECT $2::bytea, expires FROM done
ON CONFLICT (id) DO UPDATE SET expires = greatest(e.expires, excluded.expires)`

const releaseSQL = `DELETE FROM {table} WHERE id = $1::bytea AND owner = $2::text`

const expireSQL = `DELETE FROM {table} WHERE id = ANY(ARRAY(
	SELECT id FROM {table} WHERE expires <= statement_timestamp() ORDER BY expires LIMIT $1 FOR UPDATE SKIP LOCKED
))`
