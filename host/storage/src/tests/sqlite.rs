//! The plans and the costs on SQLite, which keeps no statistics here: it plans by the indexes alone.

use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::Db;
use crate::Options;
use crate::tests::recorder::Recorded;
use crate::tests::{
    allowed, calls, exceptions_are_used, is_small, is_whole, literals, recorder, seed, seed_deliveries,
    seed_jobs, seed_operators, seed_request_log, seed_scheduling,
};

/// Steps of the virtual machine that a visited row takes, generously: two dozen columns, each compared or copied.
const STEPS_PER_ROW: i64 = 60;

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plans.db");
    recorder::start(&file);
    let url = format!("sqlite://{}", file.display());
    let db = Db::open(&Options { group_commit: false, readers: 1, ..Options::for_url(url) }).await.unwrap();
    let seeded = db.write(|tx| {
        Box::pin(async move {
            for sql in seed::STATEMENTS
                .iter()
                .chain(seed_jobs::STATEMENTS)
                .chain(seed_deliveries::STATEMENTS)
                .chain(seed_operators::STATEMENTS)
                .chain(seed_request_log::STATEMENTS)
                .chain(seed_scheduling::STATEMENTS)
            {
                tx.batch(sql).await.map_err(|e| e.context(*sql))?;
            }
            Ok::<_, anyhow::Error>(())
        })
    });
    seeded.await.unwrap();
    let connection = crate::sqlite_files::open(&file).unwrap();
    let items: i64 = connection.query_row("select count(*) from items", [], |row| row.get(0)).unwrap();
    assert!(items >= seed::ROWS);
    calls::all(&db).await.unwrap();
    let runs: Vec<Recorded> = recorder::stop(&file).into_iter().filter(is_statement).collect();
    exceptions_are_used(&runs);

    let mut faults = Vec::new();
    let distinct: BTreeSet<&str> = runs.iter().map(|run| run.sql).collect();
    for sql in &distinct {
        faults.extend(scans(&connection, sql).into_iter().map(|scan| format!("{scan}: {sql}")));
    }
    for run in &runs {
        let visited = run.steps / STEPS_PER_ROW;
        if visited > allowed(run) && !is_whole(run.sql) {
            let plan = plan(&connection, run.sql).join("; ");
            faults.push(format!(
                "some {visited} rows visited for {}: {} {:?}\n{plan}",
                run.rows, run.sql, run.values
            ));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));

    for (name, piece) in literals::pieces() {
        assert!(
            runs.iter().any(|run| run.sql.contains(&piece)),
            "{name}: no statement that was run has {piece:?}"
        );
    }
}

fn is_statement(run: &Recorded) -> bool {
    ["select ", "insert ", "update ", "delete ", "with "].iter().any(|verb| run.sql.starts_with(verb))
}

/// Returns the lines of SQLite's query plan.
fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("explain query plan {sql}")).unwrap();
    let mut rows = statement.raw_query();
    let mut details: Vec<String> = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        details.push(row.get("detail").unwrap());
    }
    details
}

/// Large tables that a statement goes through from one end to the other.
fn scans(connection: &Connection, sql: &str) -> Vec<String> {
    let details = plan(connection, sql);
    let is_fault = |detail: &String| {
        let name = detail.strip_prefix("SCAN ").and_then(|rest| rest.split_whitespace().next());
        name.and_then(|name| table(connection, sql, name)).is_some_and(|table| !is_small(&table))
    };
    details.iter().filter(|detail| is_fault(detail) && !is_whole(sql)).cloned().collect()
}

/// The table that a statement calls so; none where that is rows that it computed itself.
fn table(connection: &Connection, sql: &str, name: &str) -> Option<String> {
    let mut tables = connection.prepare("select name from sqlite_master where type = 'table'").unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let words: Vec<&str> =
        sql.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    tables
        .into_iter()
        .find(|table| table == name || words.windows(2).any(|two| two == [table.as_str(), name]))
}
