//! The schema's history, applied at start and by `switchboard migrate`. Own code, because it is short: the existing runners know
//! one of our two drivers each.

use anyhow::{Context, Result, bail};
use base::clock::Entropy;
use sha2::{Digest, Sha256};

use crate::db::{Db, Options};
use crate::dialect::Dialect;
use crate::installation;
use crate::sql::{On, Tx, query};

const TABLE: &str = "schema_migrations";
/// Random bytes of the row that finds out whether a database can be written again: eight pages of SQLite as hex.
const PROBE_BYTES: usize = 16 << 10;
const CREATE_TABLE: &str = "create table if not exists schema_migrations (version bigint primary key, name text not null, checksum text not null)";

/// The text of a migration.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sql {
    /// The same on both engines.
    Both(&'static str),
    /// Statements that differ between the engines.
    Each { sqlite: &'static str, postgres: &'static str },
}

impl Sql {
    /// Returns the statements for an engine, whose checksum is stored.
    pub(super) fn on(self, dialect: Dialect) -> &'static str {
        match (self, dialect) {
            (Sql::Both(text), _) => text,
            (Sql::Each { sqlite, .. }, Dialect::Sqlite) => sqlite,
            (Sql::Each { postgres, .. }, Dialect::Postgres) => postgres,
        }
    }
}

pub(super) const MIGRATIONS: &[(i64, &str, Sql)] = &[
    (1, "tenants and keys", Sql::Both(include_str!("../../../migrations/0001_tenants_and_keys.sql"))),
    (2, "connections", Sql::Both(include_str!("../../../migrations/0002_connections.sql"))),
    (3, "items", Sql::Both(include_str!("../../../migrations/0003_items.sql"))),
    (4, "log", Sql::Both(include_str!("../../../migrations/0004_log.sql"))),
    (5, "sync states", Sql::Both(include_str!("../../../migrations/0005_sync_states.sql"))),
    (6, "idempotency", Sql::Both(include_str!("../../../migrations/0006_idempotency.sql"))),
    (7, "usage", Sql::Both(include_str!("../../../migrations/0007_usage.sql"))),
    (8, "installation", Sql::Both(include_str!("../../../migrations/0008_installation.sql"))),
    (9, "item error versions", Sql::Both(include_str!("../../../migrations/0009_item_error_versions.sql"))),
    (
        10,
        "item error connectors",
        Sql::Both(include_str!("../../../migrations/0010_item_error_connectors.sql")),
    ),
    (11, "contacts and tasks", Sql::Both(include_str!("../../../migrations/0011_contacts_and_tasks.sql"))),
    (12, "email", Sql::Both(include_str!("../../../migrations/0012_email.sql"))),
    (13, "outbox", Sql::Both(include_str!("../../../migrations/0013_outbox.sql"))),
    (14, "tracking", Sql::Both(include_str!("../../../migrations/0014_tracking.sql"))),
    (20, "indexes", Sql::Both(include_str!("../../../migrations/0020_indexes.sql"))),
    (21, "totals", Sql::Both(include_str!("../../../migrations/0021_totals.sql"))),
    (22, "retention", Sql::Both(include_str!("../../../migrations/0022_retention.sql"))),
    (30, "superseded reads", Sql::Both(include_str!("../../../migrations/0030_superseded_reads.sql"))),
    (31, "resumed scans", Sql::Both(include_str!("../../../migrations/0031_resumed_scans.sql"))),
    (32, "provider throttling", Sql::Both(include_str!("../../../migrations/0032_provider_throttling.sql"))),
    (33, "sync names", Sql::Both(include_str!("../../../migrations/0033_sync_names.sql"))),
    (
        34,
        "item departures",
        Sql::Each {
            sqlite: include_str!("../../../migrations/0034_item_departures.sqlite.sql"),
            postgres: include_str!("../../../migrations/0034_item_departures.postgres.sql"),
        },
    ),
    (40, "api key families", Sql::Both(include_str!("../../../migrations/0040_api_key_families.sql"))),
    (
        41,
        "tracking event counts",
        Sql::Both(include_str!("../../../migrations/0041_tracking_event_counts.sql")),
    ),
    (42, "oauth clients", Sql::Both(include_str!("../../../migrations/0042_oauth_clients.sql"))),
    (43, "token refresh", Sql::Both(include_str!("../../../migrations/0043_token_refresh.sql"))),
    (44, "access tokens", Sql::Both(include_str!("../../../migrations/0044_access_tokens.sql"))),
    (50, "jobs", Sql::Both(include_str!("../../../migrations/0050_jobs.sql"))),
    (51, "sending", Sql::Both(include_str!("../../../migrations/0051_sending.sql"))),
    (52, "pulls", Sql::Both(include_str!("../../../migrations/0052_pulls.sql"))),
    (60, "webhooks", Sql::Both(include_str!("../../../migrations/0060_webhooks.sql"))),
    (61, "watches", Sql::Both(include_str!("../../../migrations/0061_watches.sql"))),
    (62, "webhook replays", Sql::Both(include_str!("../../../migrations/0062_webhook_replays.sql"))),
    (
        63,
        "webhook replay filters",
        Sql::Both(include_str!("../../../migrations/0063_webhook_replay_filters.sql")),
    ),
    (65, "held deliveries", Sql::Both(include_str!("../../../migrations/0065_held_deliveries.sql"))),
    (70, "scheduling", Sql::Both(include_str!("../../../migrations/0070_scheduling.sql"))),
    (
        71,
        "reserved times",
        Sql::Each {
            sqlite: include_str!("../../../migrations/0071_reserved_times.sqlite.sql"),
            postgres: include_str!("../../../migrations/0071_reserved_times.postgres.sql"),
        },
    ),
    (72, "booking life", Sql::Both(include_str!("../../../migrations/0072_booking_life.sql"))),
    (73, "pools", Sql::Both(include_str!("../../../migrations/0073_pools.sql"))),
    (
        74,
        "api key domains",
        Sql::Each {
            sqlite: include_str!("../../../migrations/0074_api_key_domains.sqlite.sql"),
            postgres: include_str!("../../../migrations/0074_api_key_domains.postgres.sql"),
        },
    ),
    (75, "bookings made", Sql::Both(include_str!("../../../migrations/0075_bookings_made.sql"))),
    (76, "ended links", Sql::Both(include_str!("../../../migrations/0076_ended_links.sql"))),
    (77, "replay rows", Sql::Both(include_str!("../../../migrations/0077_replay_rows.sql"))),
    (78, "booking mail", Sql::Both(include_str!("../../../migrations/0078_booking_mail.sql"))),
    (79, "booking notices", Sql::Both(include_str!("../../../migrations/0079_booking_notices.sql"))),
    (80, "host calendars", Sql::Both(include_str!("../../../migrations/0080_host_calendars.sql"))),
    (81, "pending deliveries", Sql::Both(include_str!("../../../migrations/0081_pending_deliveries.sql"))),
    (82, "webhook keys", Sql::Both(include_str!("../../../migrations/0082_webhook_keys.sql"))),
    (83, "bound keys", Sql::Both(include_str!("../../../migrations/0083_bound_keys.sql"))),
    (84, "pending accounts", Sql::Both(include_str!("../../../migrations/0084_pending_accounts.sql"))),
    (85, "booking addresses", Sql::Both(include_str!("../../../migrations/0085_booking_addresses.sql"))),
    (86, "returned contents", Sql::Both(include_str!("../../../migrations/0086_returned_contents.sql"))),
    (87, "doubted scans", Sql::Both(include_str!("../../../migrations/0087_doubted_scans.sql"))),
    (88, "booking clocks", Sql::Both(include_str!("../../../migrations/0088_booking_clocks.sql"))),
    (89, "booking decisions", Sql::Both(include_str!("../../../migrations/0089_booking_decisions.sql"))),
    (90, "series names", Sql::Both(include_str!("../../../migrations/0090_series_names.sql"))),
    (
        91,
        "registrations of a provider",
        Sql::Both(include_str!("../../../migrations/0091_registrations_of_provider.sql")),
    ),
    (
        92,
        "connection throttles",
        Sql::Both(include_str!("../../../migrations/0092_connection_throttles.sql")),
    ),
    (
        93,
        "provider units and times",
        Sql::Both(include_str!("../../../migrations/0093_provider_units_and_times.sql")),
    ),
    (94, "operators", Sql::Both(include_str!("../../../migrations/0094_operators.sql"))),
    (95, "audit log", Sql::Both(include_str!("../../../migrations/0095_audit_log.sql"))),
    (
        96,
        "old secrets of api keys",
        Sql::Both(include_str!("../../../migrations/0096_api_key_old_secrets.sql")),
    ),
    (97, "connection lists", Sql::Both(include_str!("../../../migrations/0097_connection_lists.sql"))),
    (98, "request log", Sql::Both(include_str!("../../../migrations/0098_request_log.sql"))),
    (
        99,
        "connections by account",
        Sql::Both(include_str!("../../../migrations/0099_connections_by_account.sql")),
    ),
    (100, "test applications", Sql::Both(include_str!("../../../migrations/0100_test_applications.sql"))),
    (101, "agent policy", Sql::Both(include_str!("../../../migrations/0101_agent_policy.sql"))),
];

impl Db {
    /// Opens the database, makes the SQLite file if it is missing, and applies the migrations.
    /// Fails on a schema that is newer than this program.
    pub async fn open(options: &Options) -> Result<Db> {
        let db = Db::connect(options).await?;
        apply(&db).await?;
        Ok(db)
    }

    /// Whether the database answers and has this program's schema.
    pub async fn check(&self) -> Result<()> {
        check(self).await
    }

    /// The same, and that it can be written where the last write failed because it could not.
    pub async fn check_usable(&self) -> Result<()> {
        check(self).await?;
        if !self.is_unwritable() {
            return Ok(());
        }
        // Compressed or not, it differs from the last one and needs new pages.
        let value = hex::encode(Entropy::system().bytes::<PROBE_BYTES>());
        self.write(move |tx| Box::pin(async move { installation::write_probe(tx, &value).await })).await
    }
}

/// The version of the schema that this program brings databases to.
pub fn latest() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.0).max().unwrap_or(0)
}

/// The version of the database's schema; 0 where it has none.
pub async fn version(db: &Db) -> Result<i64> {
    let applied = applied_in(db).await?;
    Ok(applied.into_iter().map(|(version, _)| version).max().unwrap_or(0))
}

/// The migrations that a database has, which may have no schema at all.
async fn applied_in(db: &Db) -> Result<Vec<(i64, String)>> {
    let tables: i64 =
        query(db.dialect().count_tables()).bind(TABLE).fetch_one(db.reader(), |row| row.get("n")).await?;
    if tables == 0 { Ok(Vec::new()) } else { list_applied(db.reader()).await }
}

/// Brings the schema up to date, all of it in one transaction. Several processes may start at once: one applies, the others
/// wait and find nothing to do.
pub async fn apply(db: &Db) -> Result<()> {
    if pending(db).await?.is_empty() {
        return Ok(());
    }
    let dialect = db.dialect();
    let applied = db.write(move |tx| Box::pin(async move { apply_in(tx, dialect).await })).await;
    applied.context("cannot bring the database schema up to date")
}

async fn apply_in(tx: &mut Tx, dialect: Dialect) -> Result<()> {
    tx.batch(dialect.lock_schema()).await?;
    tx.batch(CREATE_TABLE).await?;
    let applied = list_applied(&mut *tx).await?;
    for (version, name, sql) in missing(&applied, dialect)? {
        let sql = sql.on(dialect);
        tx.batch(sql).await.with_context(|| format!("migration {version} ({name})"))?;
        query("insert into schema_migrations (version, name, checksum) values ($1, $2, $3)")
            .bind(version)
            .bind(name)
            .bind(checksum(sql))
            .execute(tx)
            .await?;
    }
    tx.batch(dialect.tune_jobs()).await
}

async fn list_applied(on: impl Into<On<'_>>) -> Result<Vec<(i64, String)>> {
    query("select version, checksum from schema_migrations order by version")
        .fetch_all(on, |row| Ok((row.get("version")?, row.get("checksum")?)))
        .await
}

/// Returns the migrations that the database lacks. Fails when it has one that this program does not know.
fn missing(applied: &[(i64, String)], dialect: Dialect) -> Result<Vec<(i64, &'static str, Sql)>> {
    for (version, sum) in applied {
        match MIGRATIONS.iter().find(|known| known.0 == *version) {
            None => bail!(
                "the database has schema version {version}, which this program does not know: it is newer than the program"
            ),
            Some(known) if checksum(known.2.on(dialect)) != *sum => {
                bail!("migration {version} of the database is another than this program's")
            }
            Some(_) => {}
        }
    }
    Ok(MIGRATIONS.iter().filter(|known| applied.iter().all(|(v, _)| *v != known.0)).copied().collect())
}

fn checksum(sql: &str) -> String {
    hex::encode(Sha256::digest(sql.as_bytes()))
}

/// Versions that this program knows and the database has not; empty when it is up to date.
/// Fails when the database is newer than the program.
pub async fn pending(db: &Db) -> Result<Vec<i64>> {
    let applied = applied_in(db).await?;
    Ok(missing(&applied, db.dialect())?.into_iter().map(|m| m.0).collect())
}

/// Fails unless the schema is exactly this program's.
pub async fn check(db: &Db) -> Result<()> {
    let pending = pending(db).await?;
    if !pending.is_empty() {
        bail!("the database lacks migrations {pending:?}: run `switchboard migrate`");
    }
    Ok(())
}
