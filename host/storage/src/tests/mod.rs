//! Every statement of `storage/` on tables of 100,000 rows of ten tenants: it finds its rows by an index, and visits about as many as it
//! returns. `calls` runs each of them once for the largest tenant, `recorder` keeps what was run, and `literals` sees to it that none is
//! forgotten.

mod calls;
mod calls_accounts;
mod calls_booking_life;
mod calls_booking_mail;
mod calls_deliveries;
mod calls_domains;
mod calls_held;
mod calls_item_sets;
mod calls_jobs;
mod calls_keys;
mod calls_mail_sets;
mod calls_operators;
mod calls_organizations;
mod calls_pools;
mod calls_refresh;
mod calls_replays;
mod calls_request_log;
mod calls_scheduling;
mod calls_tokens;
mod calls_usage;
mod calls_watches;
mod calls_webhooks;
mod item_writes;
mod jobs;
mod lanes;
mod literals;
mod migrated;
mod outbox;
mod postgres;
pub mod recorder;
mod seed;
mod seed_deliveries;
mod seed_jobs;
mod seed_operators;
mod seed_request_log;
mod seed_scheduling;
mod sqlite;
mod transactions;
mod webhook_wakes;

use tokio::sync::RwLock;

use crate::tests::recorder::Recorded;

/// Statements on PostgreSQL are recorded whichever test runs them: the test that records holds this for writing, others for reading.
static POSTGRES_RECORDER: RwLock<()> = RwLock::const_new(());

/// Tables that never have more rows than a reader minds, whatever the installation holds.
const SMALL: [(&str, &str); 4] = [
    ("schema_migrations", "one row for each migration"),
    ("hosts", "one row for each process"),
    ("installation", "a few facts"),
    ("purges", "connections that were deleted a moment ago"),
];

/// Statements that have to see a whole table: the start of each, and why.
const WHOLE: [(&str, &str); 8] = [
    ("select * from api_keys where kind = 'key' order by id", "the operator's list of all keys"),
    (
        "select id, organization_id from applications order by id",
        "the clean-up goes through all applications",
    ),
    ("select a.id, a.organization_id, a.name, o.name", "the operator's list of all applications"),
    ("update idempotency set answered_at = null", "only tests take all answers away"),
    ("select surface, count(*) as followed", "the lag over all that is followed, for the metrics"),
    ("select * from jobs where (cast(", "the operator's list of jobs, by any of its columns"),
    ("select class, state, count(*) as jobs", "how many jobs wait, for the metrics"),
    (
        "select f.application_id, f.organization_id from webhook_feeds",
        "the sweep, with a row for each application with webhooks",
    ),
];

/// Statements that visit more than they return: a part of each, why, and how many rows of the seed that is at most.
const WIDE_STATEMENTS: [(&str, &str, i64); 10] = [
    ("select status, count(*) as n from connections", "the connections of one application", 6_000),
    (
        "and is_slow <> $7",
        "the due jobs of a class, beside those of connections that have all their turns",
        10_000,
    ),
    ("select count(*) as n from webhooks", "the webhooks of one application, 10,000 at most", 10_000),
    (
        "count(distinct source_id) as sources",
        "the sources of one collection that a scan has seen, where it has missed some",
        12_000,
    ),
    ("as bytes from item_totals t", "the collections and connections of one application", 12_000),
    ("count(*) over () as total", "the unreadable sources of one surface of one connection", 1_000),
    (
        "|| ' ' || cast(coalesce(sum(i.is_open), 0)",
        "the messages of folders that their providers do not count",
        12_000,
    ),
    (
        "and series_name is not null and series_name",
        "the exceptions of one calendar that name their series, while they are few: of many, PostgreSQL looks each name up",
        500,
    ),
    ("select surface, count(*) as followed", "the lag over all that is followed, for the metrics", 30_000),
    (
        "and kind = 'invite' and roles like $2",
        "the open links of the installation, of which an organization has a hundred at most",
        20_500,
    ),
];

fn is_small(table: &str) -> bool {
    SMALL.iter().any(|(small, _)| *small == table)
}

fn is_whole(sql: &str) -> bool {
    WHOLE.iter().any(|(start, _)| sql.starts_with(start))
}

/// Rows that a statement may visit, and a few for each that it returns or changes.
fn allowed(run: &Recorded) -> i64 {
    let more =
        WIDE_STATEMENTS.iter().filter(|(part, ..)| run.sql.contains(part)).map(|(.., rows)| *rows).max();
    200 + 16 * run.rows + more.unwrap_or(0)
}

/// No exception outlives its statement.
fn exceptions_are_used(runs: &[Recorded]) {
    for (start, _) in WHOLE {
        assert!(runs.iter().any(|run| run.sql.starts_with(start)), "no statement begins with {start:?}");
    }
    for (part, ..) in WIDE_STATEMENTS {
        assert!(runs.iter().any(|run| run.sql.contains(part)), "no statement has {part:?}");
    }
}
