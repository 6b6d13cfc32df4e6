//! The plans and the costs on PostgreSQL, which plans by statistics.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::Entropy;
use serde_json::Value;

use crate::Db;
use crate::Options;
use crate::PoolLimits;
use crate::sql::{Query, Reader};
use crate::tests::recorder::{POSTGRES, Recorded};
use crate::tests::{
    POSTGRES_RECORDER, allowed, calls, is_whole, recorder, seed, seed_deliveries, seed_jobs, seed_operators,
    seed_request_log, seed_scheduling,
};

/// How often a read is looked at: lists have a dozen ways to be asked for.
const RUNS: usize = 24;
/// Tables with fewer rows may be read whole: that is the quickest way then.
const LARGE: i64 = 4_000;

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index() {
    let Ok(url) = std::env::var("POSTGRES_URL") else {
        assert_ne!(std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(), Ok("1"), "POSTGRES_URL is not set");
        eprintln!("not run: POSTGRES_URL is not set");
        return;
    };
    let _alone = POSTGRES_RECORDER.write().await;
    let schema = format!("plans{:032x}", u128::from_be_bytes(Entropy::system().bytes::<16>()));
    let db = Db::connect(&Options::for_url(url.as_str())).await.unwrap();
    run(&db, format!("create schema {schema}")).await;
    db.close().await;
    let sign = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{sign}options[search_path]={schema}");
    // The seed writes 100,000 rows with one statement, on a machine that runs other tests beside.
    let pools = PoolLimits { statement_ms: 600_000, ..PoolLimits::default() };
    let db = Db::open(&Options { pools, ..Options::for_url(url) }).await.unwrap();
    for sql in seed::STATEMENTS
        .iter()
        .chain(seed_jobs::STATEMENTS)
        .chain(seed_deliveries::STATEMENTS)
        .chain(seed_operators::STATEMENTS)
        .chain(seed_request_log::STATEMENTS)
        .chain(seed_scheduling::STATEMENTS)
    {
        run(&db, (*sql).to_owned()).await;
    }
    // Of the whole database it would lock the tables of all tests that run beside this one.
    run(&db, format!("analyze {}", tables(&db).await.join(", "))).await;
    recorder::start(POSTGRES.as_ref());
    calls::all(&db).await.unwrap();
    let runs = recorder::stop(POSTGRES.as_ref());

    let large = large_tables(&db).await;
    assert!(large.contains("items") && large.contains("log"), "{large:?}");
    let (mut faults, mut known) = (Vec::new(), BTreeMap::new());
    for run in runs {
        let is_read = run.sql.starts_with("select ");
        // A read is run once more, for each of its parameters; of the same change one plan is enough.
        let values = if is_read { format!("{:?}", run.values) } else { String::new() };
        let of_sql: &mut BTreeSet<String> = known.entry(run.sql).or_default();
        if !is_statement(&run) || of_sql.len() >= RUNS || !of_sql.insert(values) {
            continue;
        }
        let plan = explained(&db, &run, is_read).await;
        let mut visited = Visited::default();
        visited.add(&plan, &large);
        // A read that returns most of a table is quickest that way; what it visits says whether it does.
        if !is_read && !visited.whole.is_empty() && !is_whole(run.sql) {
            faults.push(format!("reads all of {:?}: {} {:?}", visited.whole, run.sql, run.values));
        }
        let run = Recorded { rows: plan["Actual Rows"].as_i64().unwrap_or(0), ..run };
        if is_read && visited.rows > allowed(&run) && !is_whole(run.sql) {
            faults.push(format!(
                "{} rows visited for {}: {} {:?}",
                visited.rows, run.rows, run.sql, run.values
            ));
        }
    }
    run(&db, format!("drop schema {schema} cascade")).await;
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

fn is_statement(run: &Recorded) -> bool {
    ["select ", "insert ", "update ", "delete "].iter().any(|verb| run.sql.starts_with(verb))
}

/// Statements are fixed text everywhere else; these are a few bytes of a test's memory.
async fn run(db: &Db, sql: String) {
    let sql: &'static str = sql.leak();
    let done = db.write(move |tx| {
        Box::pin(async move { tx.batch(sql).await.map_err(|e: anyhow::Error| e.context(sql)) })
    });
    done.await.unwrap();
}

async fn tables(db: &Db) -> Vec<String> {
    let sql = "select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'";
    crate::sql::query(sql).fetch_all(db.reader(), |row| row.get("name")).await.unwrap()
}

async fn large_tables(db: &Db) -> BTreeSet<String> {
    let sql = "select relname as name, cast(reltuples as bigint) as n from pg_class where relnamespace = current_schema()::regnamespace \
               and relkind = 'r'";
    let counts = crate::sql::query(sql)
        .fetch_all(db.reader(), |row| Ok((row.get::<String>("name")?, row.get::<i64>("n")?)))
        .await;
    let counts: BTreeMap<String, i64> = counts.unwrap().into_iter().collect();
    counts.into_iter().filter(|(_, n)| *n >= LARGE).map(|(name, _)| name).collect()
}

async fn explained(db: &Db, run: &Recorded, is_read: bool) -> Value {
    let Reader::Postgres(pools) = db.reader() else { panic!("it is PostgreSQL") };
    let analyze = if is_read { "analyze, " } else { "" };
    let sql: &'static str = format!("explain ({analyze}format json) {}", run.sql).leak();
    let explain = Query { sql, values: run.values.clone(), is_endless: false, max_bytes: usize::MAX };
    let rows = pools.rows(explain).await.unwrap().rows;
    let raw = sqlx::Row::try_get_raw(&rows[0], 0).unwrap();
    let plans: Value = serde_json::from_str(raw.as_str().unwrap()).unwrap();
    plans[0]["Plan"].clone()
}

/// The tables and indexes that a plan reads.
#[derive(Default)]
struct Visited {
    rows: i64,
    /// Large tables that are read from one end to the other.
    whole: BTreeSet<String>,
}

impl Visited {
    fn add(&mut self, node: &Value, large: &BTreeSet<String>) {
        let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
        if let Some(table) = node["Relation Name"].as_str() {
            let each = number("Actual Rows")
                + number("Rows Removed by Filter")
                + number("Rows Removed by Index Recheck");
            self.rows += (each * number("Actual Loops").max(1.0)) as i64;
            if node["Node Type"] == "Seq Scan" && large.contains(table) {
                self.whole.insert(table.to_owned());
            }
        }
        for child in node["Plans"].as_array().into_iter().flatten() {
            self.add(child, large);
        }
    }
}
