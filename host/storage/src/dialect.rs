//! What differs between SQLite and PostgreSQL in SQL, and nothing else.

use anyhow::{Result, bail};

/// The two engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Reads it off the database URL.
    pub fn of(url: &str) -> Result<Self> {
        match url.split(':').next().unwrap_or_default() {
            "sqlite" => Ok(Dialect::Sqlite),
            "postgres" | "postgresql" => Ok(Dialect::Postgres),
            other => bail!("database URL starts with {other:?}; it must be sqlite:// or postgres://"),
        }
    }

    /// The URL without its password, for messages.
    pub fn shown(self, url: &str) -> String {
        match url::Url::parse(url) {
            Ok(mut parsed) if parsed.password().is_some() => {
                // Cannot fail for a URL that had a password.
                let _ = parsed.set_password(Some("***"));
                parsed.to_string()
            }
            _ => url.to_owned(),
        }
    }

    /// How many tables there are with the name `$1`.
    pub fn count_tables(self) -> &'static str {
        match self {
            Dialect::Sqlite => "select count(*) as n from sqlite_master where type = 'table' and name = $1",
            Dialect::Postgres => {
                "select count(*) as n from pg_catalog.pg_tables where schemaname = current_schema() and tablename = $1"
            }
        }
    }

    /// Lets one process at a time change the schema. SQLite's write transaction does that by itself.
    pub fn lock_schema(self) -> &'static str {
        match self {
            Dialect::Sqlite => "select 1",
            // An arbitrary number of ours, held until the transaction ends.
            Dialect::Postgres => {
                "set local statement_timeout = 0; set local lock_timeout = 0; select pg_advisory_xact_lock(7311952038)"
            }
        }
    }

    /// Settings of the table `jobs`, whose rows change often and live shortly: room for changes in place, and early vacuums.
    pub fn tune_jobs(self) -> &'static str {
        match self {
            Dialect::Sqlite => "select 1",
            Dialect::Postgres => {
                "alter table jobs set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200, \
                 autovacuum_vacuum_cost_delay = 0)"
            }
        }
    }

    /// Jobs of the class `$1` that are queued and due by `$2`, without those of the connections in `$4`, the targets in `$5` (but for those
    /// whose `is_slow` is `$8`) and the applications in `$6`, each a JSON array of texts, and without those whose `is_slow` is `$7`; at most
    /// `$3`.
    pub fn candidates(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "select id, kind, application_id, connection_id, target, is_slow, due_at from jobs \
                 where class = $1 and state = 'queued' and due_at <= $2 and is_slow <> $7 \
                 and coalesce(connection_id, '') not in (select value from json_each($4)) \
                 and (is_slow = $8 or target not in (select value from json_each($5))) \
                 and application_id not in (select value from json_each($6)) order by due_at limit $3"
            }
            Dialect::Postgres => {
                "select id, kind, application_id, connection_id, target, is_slow, due_at from jobs \
                 where class = $1 and state = 'queued' and due_at <= $2 and is_slow <> $7 \
                 and coalesce(connection_id, '') <> all (array(select json_array_elements_text(cast($4 as json)))) \
                 and (is_slow = $8 or target <> all (array(select json_array_elements_text(cast($5 as json))))) \
                 and application_id <> all (array(select json_array_elements_text(cast($6 as json)))) order by due_at limit $3"
            }
        }
    }

    /// What is reserved in the calendars in `$1` by other connections than those in `$5`, each a JSON array of texts: rows that start from
    /// `$3` on and before `$2`, and end after `$4`.
    pub fn reserved_of_calendars(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "select * from reserved_times where start_at < $2 and start_at >= $3 and end_at > $4 \
                 and calendar_id in (select value from json_each($1)) \
                 and connection_id not in (select value from json_each($5))"
            }
            Dialect::Postgres => {
                "select * from reserved_times where start_at < $2 and start_at >= $3 and end_at > $4 \
                 and calendar_id = any(array(select json_array_elements_text(cast($1 as json)))) \
                 and connection_id <> all (array(select json_array_elements_text(cast($5 as json))))"
            }
        }
    }

    /// How many event types use each of the schedules in `$1`, as `own` those that have hosts, all of them among the connections in `$2`, and
    /// as `others` the rest. Both are JSON arrays of texts.
    pub fn schedule_uses(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "select schedule_id, sum(is_own) as own, sum(1 - is_own) as others from (select e.schedule_id, \
                 case when exists (select 1 from event_type_hosts h where h.event_type_id = e.id) and not exists \
                 (select 1 from event_type_hosts h where h.event_type_id = e.id \
                 and h.connection_id not in (select value from json_each($2))) then 1 else 0 end as is_own \
                 from event_types e where e.schedule_id is not null and e.deleted_at is null \
                 and e.schedule_id in (select value from json_each($1))) as u group by schedule_id"
            }
            Dialect::Postgres => {
                "select schedule_id, cast(sum(is_own) as bigint) as own, cast(sum(1 - is_own) as bigint) as others from \
                 (select e.schedule_id, case when exists (select 1 from event_type_hosts h where h.event_type_id = e.id) and not exists \
                 (select 1 from event_type_hosts h where h.event_type_id = e.id \
                 and h.connection_id <> all (array(select json_array_elements_text(cast($2 as json))))) then 1 else 0 end as is_own \
                 from event_types e where e.schedule_id is not null and e.deleted_at is null \
                 and e.schedule_id = any(array(select json_array_elements_text(cast($1 as json))))) as u group by schedule_id"
            }
        }
    }

    /// Tells `$1` to everybody who listens to the channel of this schema, whose name is the other statement's `channel`. None for SQLite, where
    /// there is nobody else.
    pub fn notify(self) -> Option<(&'static str, &'static str)> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some((
                "select pg_notify('switchboard_' || md5(current_schema()), $1)",
                "select 'switchboard_' || md5(current_schema()) as channel",
            )),
        }
    }

    /// What the database's clock shows in milliseconds since 1970, as `now`. None for SQLite, which runs in the host's process.
    pub fn now_ms(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => {
                Some("select cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint) as now")
            }
        }
    }
}

/// The statement of the engine behind a `Reader`, of two that differ only in how they take a JSON array of texts apart: `among!` stands
/// for a list of them, `$n` being the array.
macro_rules! among {
    ($reader:expr, $before:expr, $array:literal, $after:expr) => {
        match $reader.dialect() {
            $crate::dialect::Dialect::Sqlite => {
                concat!($before, "(select value from json_each(", $array, "))", $after)
            }
            $crate::dialect::Dialect::Postgres => {
                concat!($before, "(select json_array_elements_text(cast(", $array, " as json)))", $after)
            }
        }
    };
}

/// The same, for a condition that a column is one of the texts in a JSON array: `one_of!` stands for the comparison. PostgreSQL guesses that
/// a list of unknown length is long, and may read the whole collection to join it; an array it looks up in the index, text by text.
macro_rules! one_of {
    ($reader:expr, $before:expr, $array:literal) => {
        one_of!($reader, $before, $array, "")
    };
    ($reader:expr, $before:expr, $array:literal, $after:expr) => {
        match $reader.dialect() {
            $crate::dialect::Dialect::Sqlite => {
                concat!($before, " in (select value from json_each(", $array, "))", $after)
            }
            $crate::dialect::Dialect::Postgres => {
                concat!(
                    $before,
                    " = any(array(select json_array_elements_text(cast(",
                    $array,
                    " as json))))",
                    $after
                )
            }
        }
    };
}

/// The statement of the engine behind a `Tx` that reads its rows out of a JSON array of objects: `$before` is a select without its `from`, in
/// which `value` is the object.
macro_rules! each_of {
    ($tx:expr, $before:expr, $array:literal, $after:expr) => {
        match $tx.dialect() {
            $crate::dialect::Dialect::Sqlite => concat!($before, " from json_each(", $array, ")", $after),
            $crate::dialect::Dialect::Postgres => {
                concat!($before, " from json_array_elements(cast(", $array, " as json))", $after)
            }
        }
    };
}

/// The same for a JSON array of texts: `value` is the text.
macro_rules! each_text_of {
    ($tx:expr, $before:expr, $array:literal, $after:expr) => {
        match $tx.dialect() {
            $crate::dialect::Dialect::Sqlite => concat!($before, " from json_each(", $array, ")", $after),
            $crate::dialect::Dialect::Postgres => {
                concat!($before, " from json_array_elements_text(cast(", $array, " as json))", $after)
            }
        }
    };
}

/// The statement of the engine behind a `Tx` that changes rows of `$table`: `$before` ends with the column of their ids, `$array` is a JSON
/// array of ids, and `$condition` is what a row has to be. PostgreSQL locks the rows in the order of their ids, and leaves out those that
/// another transaction has locked: two that want the same rows wait for none, and get different ones.
macro_rules! unlocked_among {
    ($tx:expr, $table:literal, $before:expr, $array:literal, $condition:literal, $after:literal) => {
        match $tx.dialect() {
            $crate::dialect::Dialect::Sqlite => {
                concat!($before, " in (select value from json_each(", $array, ")) and ", $condition, $after)
            }
            $crate::dialect::Dialect::Postgres => {
                concat!(
                    $before,
                    " in (select id from ",
                    $table,
                    " where id = any(array(select json_array_elements_text(cast(",
                    $array,
                    " as json)))) and ",
                    $condition,
                    " order by id for update skip locked) and ",
                    $condition,
                    $after
                )
            }
        }
    };
}

/// The same for who has to change all of these rows: PostgreSQL waits for those that another transaction has locked, and locks them in the
/// order of their ids. Two that want the same rows then never wait for each other, whatever order the rows lie in.
macro_rules! in_order_among {
    ($tx:expr, $table:literal, $before:expr, $array:literal) => {
        match $tx.dialect() {
            $crate::dialect::Dialect::Sqlite => {
                concat!($before, " in (select value from json_each(", $array, "))")
            }
            $crate::dialect::Dialect::Postgres => {
                concat!(
                    $before,
                    " = any(array(select id from ",
                    $table,
                    " where id = any(array(select json_array_elements_text(cast(",
                    $array,
                    " as json)))) order by id for no key update))"
                )
            }
        }
    };
}

pub(crate) use {among, each_of, each_text_of, in_order_among, one_of, unlocked_among};
