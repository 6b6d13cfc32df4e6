//! Effects of migrations on existing rows.

use rusqlite::Connection;

use crate::dialect::Dialect;
use crate::items::span_of;
use crate::migrations::MIGRATIONS;

const DAY_MS: i64 = 86_400_000;

fn apply(connection: &Connection, versions: std::ops::RangeInclusive<i64>) {
    for (_, name, sql) in MIGRATIONS.iter().filter(|(version, ..)| versions.contains(version)) {
        connection.execute_batch(sql.on(Dialect::Sqlite)).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// The lengths that events have in this test, and whether they are series.
fn lengths() -> Vec<(bool, i64)> {
    let lengths = [0, 1, 2, 3, 8, 9, 32, 33, 128, 129, 512, 513, 1024, 1025, 2048, 2049, 90_000];
    [false, true].into_iter().flat_map(|is_series| lengths.map(|days| (is_series, days * DAY_MS))).collect()
}

/// A database of an early version, with one connection.
fn with_a_connection() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    apply(&connection, 1..=19);
    connection
        .execute_batch(
            "insert into organizations values ('o', 'o', 0); insert into applications values ('a', 'o', 'a', 9, 0);
             insert into connections (id, organization_id, application_id, provider, connector_version, status, status_changed_at,
             external_account_id, addresses, surfaces, requested_scopes, granted_scopes, provider_scopes, settings, credentials,
             credentials_version, tags, metadata, etag, created_at, updated_at)
             values ('c', 'o', 'a', 'p', '1', 'active', 0, 'x', '', '', '', '', '', '', '', 1, '', '', '', 0, 0)",
        )
        .unwrap();
    connection
}

#[test]
fn what_was_there_is_classed_and_counted() {
    let connection = with_a_connection();
    let item = "insert into items (id, organization_id, application_id, connection_id, kind, parent_id, external_id, source_id, etag, hash, \
                body, metadata, is_series, sort_at, until_at, sequence, created_at, updated_at, deleted_at, sort_text, is_open) \
                values (?1, 'o', 'a', 'c', ?2, 'p', ?1, ?1, '', '', ?3, '{\"own\":1}', ?4, 0, ?5, 1, 0, 0, ?6, ?7, ?8)";
    for (n, (is_series, length)) in lengths().into_iter().enumerate() {
        let id = format!("evt_{n}");
        connection.execute(item, (&id, "event", "{}", is_series, length, None::<i64>, "", 0)).unwrap();
    }
    connection.execute(item, ("t1", "task", "äöü", 0, 0, None::<i64>, "a", 1)).unwrap();
    connection.execute(item, ("t2", "task", "{}", 0, 0, None::<i64>, "b", 0)).unwrap();
    connection.execute(item, ("t3", "task", "gone", 0, 0, Some(7), "c", 1)).unwrap();
    // An entry each on some days of many years, leap days among them, at the first and the last moment of each.
    let line = "insert into log (application_id, sequence, id, organization_id, type, change_type, resource_type, resource_id, parent_id, \
                origin, at) values ('a', ?1, 'l' || ?1, 'o', '', '', '', '', '', '', ?2)";
    let days: Vec<i64> = (0..40_000).step_by(97).chain([59, 789, 11_016, 20_513, 20_514]).collect();
    for (n, day) in days.iter().enumerate() {
        connection.execute(line, (2 * n as i64, day * DAY_MS)).unwrap();
        connection.execute(line, (2 * n as i64 + 1, day * DAY_MS + DAY_MS - 1)).unwrap();
    }
    apply(&connection, 20..=i64::MAX);

    for (n, (is_series, length)) in lengths().into_iter().enumerate() {
        let sql = "select span from items where id = 'evt_' || ?1";
        let span: i64 = connection.query_row(sql, [n as i64], |row| row.get(0)).unwrap();
        assert_eq!(span, span_of(is_series, 0, length), "{is_series} {length}");
    }
    let sql = "select items, open, bytes from item_totals where kind = 'task'";
    let totals = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    assert_eq!(totals.unwrap(), (2, 1, 8));
    let sql = "select body, metadata, sort_text from items where id = 't3'";
    let gone = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    assert_eq!(gone.unwrap(), ("{}".to_owned(), "{}".to_owned(), String::new()));
    let mut sql =
        connection.prepare("select day, requests from usage where outcome = 'change' order by day").unwrap();
    let counted = sql.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let counted: Vec<(String, i64)> = counted.map(Result::unwrap).collect();
    let date = |ms: i64| model::Instant::from_millis(ms).timestamp().strftime("%Y-%m-%d").to_string();
    let mut expected: Vec<(String, i64)> = days.iter().map(|day| (date(day * DAY_MS), 2)).collect();
    expected.sort();
    assert_eq!(counted, expected);
}

/// An item whose name changed is found by the `uid` of this version, whichever version stored it.
#[test]
fn what_was_there_is_known_by_its_uid() {
    let connection = with_a_connection();
    apply(&connection, 20..=33);
    let item = "insert into items (id, organization_id, application_id, connection_id, kind, parent_id, external_id, source_id, etag, hash, \
                body, metadata, is_series, sort_at, until_at, sequence, created_at, updated_at, deleted_at, uid) \
                values (?1, 'o', 'a', 'c', ?2, 'p', ?3, ?4, '', '', ?5, '{}', 0, 0, 0, 1, 0, 0, ?6, ?7)";
    let long = format!("{{\"iCalUid\":\"{}\"}}", "x".repeat(1_000));
    let (live, gone) = (None::<i64>, Some(1));
    let rows = [
        ("series", "event", "/a.ics", "/a.ics", r#"{"iCalUid":"u","recurrenceId":null}"#, live, None),
        ("once", "event", "/a.ics#2026", "/a.ics", r#"{"iCalUid":"u","recurrenceId":"2026"}"#, live, None),
        ("nameless", "event", "/b.ics", "/b.ics", "{}", live, None),
        ("moved", "event", "elsewhere", "/c.ics", r#"{"iCalUid":"u"}"#, live, None),
        ("long", "event", "/d.ics", "/d.ics", long.as_str(), live, None),
        ("gone", "event", "/e.ics", "/e.ics", r#"{"iCalUid":"u"}"#, gone, None),
        ("card", "contact", "/a.vcf", "/a.vcf", "{}", live, Some("u")),
        ("unnamed", "task", "/t.ics", "/t.ics", "{}", live, Some("/t.ics")),
    ];
    for (id, kind, external, source, body, deleted_at, uid) in rows {
        connection.execute(item, (id, kind, external, source, body, deleted_at, uid)).unwrap();
    }
    apply(&connection, 34..=34);
    let mut sql = connection.prepare("select id, fingerprint from items order by id").unwrap();
    let found = sql.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let found: Vec<(String, Option<String>)> = found.map(Result::unwrap).collect();
    let known: Vec<(&str, &str)> =
        found.iter().filter_map(|(id, print)| Some((id.as_str(), print.as_deref()?))).collect();
    assert_eq!(known, [("card", "contact:\nu"), ("once", "event:2026#2026\nu"), ("series", "event:\nu")]);
}

#[test]
fn messages_that_wait_are_sent_by_jobs() {
    let connection = Connection::open_in_memory().unwrap();
    apply(&connection, 1..=50);
    connection
        .execute_batch(
            "insert into organizations (id, name, created_at) values ('o', 'o', 0);
             insert into applications (id, organization_id, name, last_sequence, created_at) values ('a', 'o', 'a', 0, 0);
             insert into connections (id, organization_id, application_id, provider, connector_version, status, status_changed_at,
             external_account_id, addresses, surfaces, requested_scopes, granted_scopes, provider_scopes, settings, credentials,
             credentials_version, tags, metadata, etag, created_at, updated_at)
             values ('c', 'o', 'a', 'p', '1', 'active', 0, 'x', '', '', '', '', '', '', '', 1, '', '', '', 0, 0)",
        )
        .unwrap();
    let row = "insert into outbox (id, organization_id, application_id, connection_id, state, internet_message_id, options, recipients, \
               next_attempt_at, attempts, created_at, updated_at) values (?1, 'o', 'a', 'c', ?2, ?1, '{}', ?3, ?4, 1, 5, 6)";
    let open = r#"[{"status":"queued"}]"#;
    let some = r#"[{"status":"accepted"},{"status":"deferred"}]"#;
    connection.execute(row, ("waits", "queued", open, Some(70))).unwrap();
    connection.execute(row, ("partly", "queued", some, Some(80))).unwrap();
    connection.execute(row, ("sent", "sent", r#"[{"status":"accepted"}]"#, None::<i64>)).unwrap();
    apply(&connection, 51..=i64::MAX);

    let sql = "select id, class, application_id, connection_id, state, due_at from jobs where kind = 'send' order by due_at";
    let mut sql = connection.prepare(sql).unwrap();
    let jobs = sql.query_map([], |row| {
        let texts: [String; 5] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
        Ok((texts.join(" "), row.get(5)?))
    });
    let jobs: Vec<(String, i64)> = jobs.unwrap().map(Result::unwrap).collect();
    let waits = ("send:waits send a c queued".to_owned(), 70);
    assert_eq!(jobs, [waits, ("send:partly send a c queued".to_owned(), 80)]);
    let accepted = |id: &str| -> Option<i64> {
        connection.query_row("select accepted_at from outbox where id = ?1", [id], |row| row.get(0)).unwrap()
    };
    // Some have it already: it cannot be taken back any more.
    assert_eq!((accepted("waits"), accepted("partly")), (None, Some(5)));
}

#[test]
fn sites_of_keys_that_work_are_known() {
    let connection = Connection::open_in_memory().unwrap();
    apply(&connection, 1..=73);
    connection
        .execute_batch(
            "insert into organizations (id, name, created_at) values ('o', 'o', 0);
             insert into applications (id, organization_id, name, last_sequence, created_at) values ('a', 'o', 'a', 0, 0)",
        )
        .unwrap();
    let key = "insert into api_keys (id, organization_id, application_id, name, prefix, last4, hash, scopes, allowed_domains, allowed_ips, \
               connection_ids, rate_limit_per_minute, expires_at, revoked_at, created_at) \
               values (?1, 'o', 'a', '', '', '', ?1, '[]', ?2, '[]', '[]', 1, ?3, ?4, 0)";
    let none = None::<i64>;
    connection.execute(key, ("lasts", r#"["a.test","b.test","a.test"]"#, none, none)).unwrap();
    connection.execute(key, ("ends", r#"["a.test"]"#, Some(7), none)).unwrap();
    connection.execute(key, ("revoked", r#"["c.test"]"#, none, Some(1))).unwrap();
    connection.execute(key, ("of a server", "[]", none, none)).unwrap();
    apply(&connection, 74..=i64::MAX);

    let sql = "select key_id || ' ' || domain, live_until from api_key_domains order by 1";
    let mut sql = connection.prepare(sql).unwrap();
    let found = sql.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let found: Vec<(String, i64)> = found.map(Result::unwrap).collect();
    let [ends, first, second] = ["ends a.test", "lasts a.test", "lasts b.test"].map(str::to_owned);
    assert_eq!(found, [(ends, 7), (first, i64::MAX), (second, i64::MAX)]);
}
