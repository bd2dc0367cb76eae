# Sourced by run: the servers that the stores are tested on.

# The stores are tested on a Redis and a PostgreSQL, and start others of their own. Servers that answer are used as they
# are; in place of those that don't, this starts some and ends them with the script. Debian's own PostgreSQL lets nobody in
# without a password, so that it is not taken for one that answers.
servers() {
	export REBOUND_REDIS_ADDR=${REBOUND_REDIS_ADDR:-127.0.0.1:6379}
	export REBOUND_POSTGRES_URL=${REBOUND_POSTGRES_URL:-postgres://postgres@127.0.0.1:5432/test}
	command -v redis-server >/dev/null || install redis-server
	postgres_bin >/dev/null || install postgresql
	if redis_answers; then
		echo "Redis answers at $REBOUND_REDIS_ADDR"
	else
		say "starting a Redis"
		redis-server --daemonize yes --save '' --dir /tmp --bind "${REBOUND_REDIS_ADDR%:*}" --port "${REBOUND_REDIS_ADDR##*:}"
		on_exit 'redis-cli -h "${REBOUND_REDIS_ADDR%:*}" -p "${REBOUND_REDIS_ADDR##*:}" shutdown nosave'
		for _ in {1..100}; do
			redis_answers && break
			sleep 0.1
		done
		redis_answers
	fi
	if postgres_answers; then
		echo "PostgreSQL answers at $REBOUND_POSTGRES_URL"
	else
		say "starting a PostgreSQL"
		start_postgres
	fi
}

redis_answers() { redis-cli -h "${REBOUND_REDIS_ADDR%:*}" -p "${REBOUND_REDIS_ADDR##*:}" ping 2>/dev/null | grep -q PONG; }

postgres_answers() { PGCONNECT_TIMEOUT=5 psql -w "$REBOUND_POSTGRES_URL" -c 'SELECT' >/dev/null 2>&1; }

# Where initdb and pg_ctl are: Debian keeps them off the path.
postgres_bin() {
	local initdb
	initdb=$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -n 1)
	[ -n "$initdb" ] && dirname "$initdb"
}

# A cluster of this script's own, on a port of its own. It does not run as root.
start_postgres() {
	local bin as=() port=$((20000 + RANDOM % 10000))
	bin=$(postgres_bin)
	postgres_dir=$(mktemp -d /tmp/rebound-postgres.XXXXXX)
	if [ "$(id -u)" = 0 ]; then
		chown postgres "$postgres_dir"
		as=(runuser -u postgres --)
	fi
	on_exit "cd '$postgres_dir' && ${as[*]} '$bin/pg_ctl' -D data -m immediate stop >/dev/null 2>&1; rm -r '$postgres_dir'"
	(
		cd "$postgres_dir"
		"${as[@]}" "$bin/initdb" -D data -U postgres -A trust -E UTF8 --no-sync >/dev/null
		"${as[@]}" "$bin/pg_ctl" -D data -w -l log -o "-h 127.0.0.1 -p $port -k $postgres_dir" start >/dev/null || { cat log; exit 1; }
		psql -q -h 127.0.0.1 -p "$port" -U postgres -c 'CREATE DATABASE test'
	)
	export REBOUND_POSTGRES_URL=postgres://postgres@127.0.0.1:$port/test
}

# on_exit adds a command to those that end what was started. One that fails, since its server is gone already, keeps none
# of the others from running.
at_exit=
on_exit() {
	at_exit="$1; $at_exit"
	trap 'set +e; eval "$at_exit"' EXIT
}
