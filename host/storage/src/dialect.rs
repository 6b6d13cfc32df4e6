//! The differences between the SQL of SQLite and of PostgreSQL.

use anyhow::{Result, bail};

/// The two engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Returns the engine of a database URL.
    pub fn from_url(url: &str) -> Result<Self> {
        match url.split(':').next().unwrap_or_default() {
            "sqlite" => Ok(Dialect::Sqlite),
            "postgres" | "postgresql" => Ok(Dialect::Postgres),
            other => bail!("database URL starts with {other:?}; it must be sqlite:// or postgres://"),
        }
    }

    /// Returns the URL without its password, for messages. If it cannot be parsed, or an `@` does not end a password, everything before the
    /// last `@` is hidden: the password may have characters that should be percent-encoded.
    pub fn redact_url(self, url: &str) -> String {
        match self {
            // A path.
            Dialect::Sqlite => url.to_owned(),
            Dialect::Postgres => shown_in_parts(url).unwrap_or_else(|| {
                let scheme = url.split(':').next().unwrap_or_default();
                let host = url.rsplit_once('@').and_then(|(_, rest)| rest.split('?').next());
                host.map_or_else(|| format!("{scheme}://***"), |host| format!("{scheme}://***@{host}"))
            }),
        }
    }

    /// Counts the tables with the name `$1`, as `n`.
    pub fn count_tables(self) -> &'static str {
        match self {
            Dialect::Sqlite => "select count(*) as n from sqlite_master where type = 'table' and name = $1",
            Dialect::Postgres => {
                "select count(*) as n from pg_catalog.pg_tables where schemaname = current_schema() and tablename = $1"
            }
        }
    }

    /// Lets one process at a time change the schema. SQLite's write transaction ensures that by itself.
    pub fn lock_schema(self) -> &'static str {
        match self {
            Dialect::Sqlite => "select 1",
            // An arbitrary lock number of Switchboard; the lock is held until the transaction ends.
            Dialect::Postgres => {
                "set local statement_timeout = 0; set local lock_timeout = 0; \
                 set local idle_in_transaction_session_timeout = 0; select pg_advisory_xact_lock(7311952038)"
            }
        }
    }

    /// Settings of the table `jobs`, whose rows change often and are short-lived: room for in-place updates, and early vacuums.
    pub fn tune_jobs(self) -> &'static str {
        match self {
            Dialect::Sqlite => "select 1",
            Dialect::Postgres => {
                "alter table jobs set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200, \
                 autovacuum_vacuum_cost_delay = 0)"
            }
        }
    }

    /// Selects at most `$3` queued jobs of the class `$1` that are due by `$2`. Excluded, each as a JSON array of texts: the connections
    /// `$4`; the targets `$5`, except for jobs whose `is_slow` is `$8`; the applications `$6`, of slow jobs also `$9`, of fast ones also
    /// `$10`. Jobs whose `is_slow` is `$7` are excluded too.
    pub fn candidates(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "select id, kind, application_id, connection_id, target, is_slow, due_at from jobs \
                 where class = $1 and state = 'queued' and due_at <= $2 and is_slow <> $7 \
                 and coalesce(connection_id, '') not in (select value from json_each($4)) \
                 and (is_slow = $8 or target not in (select value from json_each($5))) \
                 and application_id not in (select value from json_each($6)) \
                 and (is_slow = 0 or application_id not in (select value from json_each($9))) \
                 and (is_slow = 1 or application_id not in (select value from json_each($10))) order by due_at limit $3"
            }
            Dialect::Postgres => {
                "select id, kind, application_id, connection_id, target, is_slow, due_at from jobs \
                 where class = $1 and state = 'queued' and due_at <= $2 and is_slow <> $7 \
                 and coalesce(connection_id, '') <> all (array(select json_array_elements_text(cast($4 as json)))) \
                 and (is_slow = $8 or target <> all (array(select json_array_elements_text(cast($5 as json))))) \
                 and application_id <> all (array(select json_array_elements_text(cast($6 as json)))) \
                 and (is_slow = 0 or application_id <> all (array(select json_array_elements_text(cast($9 as json))))) \
                 and (is_slow = 1 or application_id <> all (array(select json_array_elements_text(cast($10 as json))))) \
                 order by due_at limit $3"
            }
        }
    }

    /// Selects the reservations in the calendars `$1` of connections other than `$5` (both JSON arrays of texts): rows that start from `$3`
    /// and before `$2`, and end after `$4`.
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

    /// Counts the event types that use each of the schedules in `$1`: as `own` those whose hosts are all among the connections in `$2`, as
    /// `others` the rest. Both parameters are JSON arrays of texts.
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

    /// Statements that notify the listeners of this schema's channel of `$1`; the second one returns the channel's name as `channel`. None
    /// for SQLite, which has no other hosts.
    pub fn notify(self) -> Option<(&'static str, &'static str)> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some((
                "select pg_notify('switchboard_' || md5(current_schema()), $1)",
                "select 'switchboard_' || md5(current_schema()) as channel",
            )),
        }
    }

    /// The schema of the tables as `schema_name` and the server's version as `version_number`. None for SQLite.
    pub fn server_facts(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some(
                "select cast(current_schema() as text) as schema_name, \
                 cast(current_setting('server_version_num') as bigint) as version_number",
            ),
        }
    }

    /// Selects the size of the database on disk, as `bytes`.
    pub fn database_size(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()"
            }
            Dialect::Postgres => "select cast(pg_database_size(current_database()) as bigint) as bytes",
        }
    }

    /// Selects the time of the database's clock (Unix ms) as `now`. None for SQLite, which runs in the host's process.
    pub fn now_ms(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => {
                Some("select cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint) as now")
            }
        }
    }
}

/// Returns a URL with `***` in place of its password; none if it is unclear where the password ends.
fn shown_in_parts(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let (_, path) = rest.split_at_checked(rest.find(['/', '?', '#']).unwrap_or(rest.len()))?;
    let mut parsed = url::Url::parse(url).ok().filter(|_| !path.contains('@'))?;
    if parsed.password().is_some() {
        parsed.set_password(Some("***")).ok()?;
    }
    let pairs: Vec<(String, String)> = parsed.query_pairs().into_owned().collect();
    let is_secret = |name: &str| {
        ["password", "sslpassword", "passfile"].iter().any(|known| name.eq_ignore_ascii_case(known))
    };
    if pairs.iter().any(|(name, _)| is_secret(name)) {
        let hidden = pairs
            .iter()
            .map(|(name, value)| (name.as_str(), if is_secret(name) { "***" } else { value.as_str() }));
        parsed.query_pairs_mut().clear().extend_pairs(hidden);
    }
    Some(if parsed.as_str().contains("***") { parsed.to_string() } else { url.to_owned() })
}

/// The statement for the engine of a `Reader`. The engines differ only in how they unpack a JSON array of texts: the macro inserts a
/// subquery for the array `$n`.
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

/// The statement with the condition that a column is one of the texts in a JSON array; each further array stands before `$rest`. PostgreSQL
/// assumes that a list of unknown length is long and may read the whole table to join it; with an array it looks up each text in the index.
macro_rules! one_of {
    ($reader:expr, $before:expr, $array:literal) => {
        one_of!($reader, $before, $array, "")
    };
    ($reader:expr, $before:expr, $array:literal, $after:expr $(, $other:literal, $rest:expr)*) => {
        match $reader.dialect() {
            $crate::dialect::Dialect::Sqlite => {
                concat!(
                    $before,
                    " in (select value from json_each(",
                    $array,
                    "))",
                    $after
                    $(, " in (select value from json_each(", $other, "))", $rest)*
                )
            }
            $crate::dialect::Dialect::Postgres => {
                concat!(
                    $before,
                    " = any(array(select json_array_elements_text(cast(",
                    $array,
                    " as json))))",
                    $after
                    $(, " = any(array(select json_array_elements_text(cast(", $other, " as json))))", $rest)*
                )
            }
        }
    };
}

/// The statement for the engine of a `Tx` that reads rows from a JSON array of objects: `$before` is a select without its `from`, in which
/// `value` is the object.
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

/// As `each_of`, for a JSON array of texts: `value` is the text.
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

/// The statement for the engine of a `Tx` that inserts rows into `$table`, for `statement_rows::execute`: each column with its parameter
/// and its PostgreSQL type.
macro_rules! insert_rows {
    ($tx:expr, $table:literal, [$first:ident $number:literal $type:literal $(, $column:ident $n:literal $t:literal)* $(,)?], $after:literal) => {
        match $tx.dialect() {
            $crate::dialect::Dialect::Sqlite => concat!(
                "insert into ", $table, " (", stringify!($first), $(", ", stringify!($column),)* ") values (",
                $number, $(", ", $n,)* ")", $after
            ),
            $crate::dialect::Dialect::Postgres => concat!(
                "insert into ", $table, " (", stringify!($first), $(", ", stringify!($column),)* ") select * from unnest(cast(",
                $number, " as ", $type, "[])", $(", cast(", $n, " as ", $t, "[])",)* ") as given", $after
            ),
        }
    };
}

/// The statement for the engine of a `Tx` that sets columns of rows of `$table`, each found by its `$key`, for `statement_rows::execute`.
macro_rules! update_rows {
    ($tx:expr, $table:literal, [$first:ident $f:literal $type:literal $(, $column:ident $n:literal $t:literal)* $(,)?], $key:ident $number:literal) => {
        match $tx.dialect() {
            $crate::dialect::Dialect::Sqlite => concat!(
                "update ", $table, " set ", stringify!($first), " = ", $f, $(", ", stringify!($column), " = ", $n,)*
                " where ", stringify!($key), " = ", $number
            ),
            $crate::dialect::Dialect::Postgres => concat!(
                "update ", $table, " set ", stringify!($first), " = given.", stringify!($first),
                $(", ", stringify!($column), " = given.", stringify!($column),)*
                " from unnest(cast(", $f, " as ", $type, "[]), ", $("cast(", $n, " as ", $t, "[]), ",)*
                "cast(", $number, " as text[])) as given(", stringify!($first), $(", ", stringify!($column),)* ", ", stringify!($key),
                ") where ", $table, ".", stringify!($key), " = given.", stringify!($key)
            ),
        }
    };
}

/// The statement for the engine of a `Tx` that changes rows of `$table`: `$before` ends with the id column, `$array` is a JSON array of
/// ids, `$condition` filters the rows. PostgreSQL locks the rows in id order and skips locked ones: concurrent callers get different rows
/// and do not wait.
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

/// As `unlocked_among`, for callers that must change all of these rows: PostgreSQL waits for locked rows, and locks in id order, so that
/// two callers with the same rows cannot deadlock.
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

pub(crate) use {
    among, each_of, each_text_of, in_order_among, insert_rows, one_of, unlocked_among, update_rows,
};

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn a_url_is_shown_without_its_password_whatever_is_in_it() {
        for (url, shown) in [
            (
                "postgres://sb:hunter2@db:5433/sb?sslmode=require",
                "postgres://sb:***@db:5433/sb?sslmode=require",
            ),
            ("postgres://sb@db/sb", "postgres://sb@db/sb"),
            ("postgres://db/sb?Password=hunter2&user=sb", "postgres://db/sb?Password=***&user=sb"),
            ("postgres://db/sb?sslpassword=hunter2", "postgres://db/sb?sslpassword=***"),
            ("postgresql://sb:wron#hunter2@127.0.0.1:18300/sb", "postgresql://***@127.0.0.1:18300/sb"),
            ("postgresql://sb:wron hunter/2@db/sb", "postgresql://***@db/sb"),
            ("postgres://sb:12#hunter2@db/sb", "postgres://***@db/sb"),
            ("postgres://sb:1@2/hunter2@db/sb", "postgres://***@db/sb"),
            ("postgres://sb:hunter2@db:notaport/sb?password=hunter2", "postgres://***@db:notaport/sb"),
            ("postgres://sb:hunter2", "postgres://***"),
            ("postgres:sb:hunter2", "postgres://***"),
        ] {
            assert_eq!(Dialect::Postgres.redact_url(url), shown);
            assert_eq!(Dialect::Postgres.redact_url(shown), shown, "what has none stays as it is");
        }
        let file = "sqlite:///srv/a@b/switchboard.db";
        assert_eq!(Dialect::Sqlite.redact_url(file), file);
    }
}
