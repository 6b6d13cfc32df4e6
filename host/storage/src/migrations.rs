//! The schema's history, applied at start and by `switchboard migrate`. Few enough lines to be ours: the runners that exist know
//! one of our two drivers each.

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::db::{Db, Options};
use crate::dialect::Dialect;
use crate::sql::{On, Tx, query};

const TABLE: &str = "schema_migrations";
const CREATE_TABLE: &str = "create table if not exists schema_migrations (version bigint primary key, name text not null, checksum text not null)";

pub(super) const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "tenants and keys", include_str!("../../../migrations/0001_tenants_and_keys.sql")),
    (2, "connections", include_str!("../../../migrations/0002_connections.sql")),
    (3, "items", include_str!("../../../migrations/0003_items.sql")),
    (4, "log", include_str!("../../../migrations/0004_log.sql")),
    (5, "sync states", include_str!("../../../migrations/0005_sync_states.sql")),
    (6, "idempotency", include_str!("../../../migrations/0006_idempotency.sql")),
    (7, "usage", include_str!("../../../migrations/0007_usage.sql")),
    (8, "installation", include_str!("../../../migrations/0008_installation.sql")),
    (9, "item error versions", include_str!("../../../migrations/0009_item_error_versions.sql")),
    (10, "item error connectors", include_str!("../../../migrations/0010_item_error_connectors.sql")),
    (11, "contacts and tasks", include_str!("../../../migrations/0011_contacts_and_tasks.sql")),
    (12, "email", include_str!("../../../migrations/0012_email.sql")),
    (13, "outbox", include_str!("../../../migrations/0013_outbox.sql")),
    (14, "tracking", include_str!("../../../migrations/0014_tracking.sql")),
    (20, "indexes", include_str!("../../../migrations/0020_indexes.sql")),
    (21, "totals", include_str!("../../../migrations/0021_totals.sql")),
    (22, "retention", include_str!("../../../migrations/0022_retention.sql")),
    (30, "superseded reads", include_str!("../../../migrations/0030_superseded_reads.sql")),
    (31, "resumed scans", include_str!("../../../migrations/0031_resumed_scans.sql")),
    (32, "provider throttling", include_str!("../../../migrations/0032_provider_throttling.sql")),
    (33, "sync names", include_str!("../../../migrations/0033_sync_names.sql")),
    (40, "api key families", include_str!("../../../migrations/0040_api_key_families.sql")),
    (41, "tracking event counts", include_str!("../../../migrations/0041_tracking_event_counts.sql")),
    (42, "oauth clients", include_str!("../../../migrations/0042_oauth_clients.sql")),
    (43, "token refresh", include_str!("../../../migrations/0043_token_refresh.sql")),
    (44, "access tokens", include_str!("../../../migrations/0044_access_tokens.sql")),
    (50, "jobs", include_str!("../../../migrations/0050_jobs.sql")),
    (60, "webhooks", include_str!("../../../migrations/0060_webhooks.sql")),
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
    let applied = applied(&mut *tx).await?;
    for (version, name, sql) in missing(&applied)? {
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

async fn applied(on: impl Into<On<'_>>) -> Result<Vec<(i64, String)>> {
    query("select version, checksum from schema_migrations order by version")
        .fetch_all(on, |row| Ok((row.get("version")?, row.get("checksum")?)))
        .await
}

/// What this program knows and the database has not. Fails when the database has what this program does not know.
fn missing(applied: &[(i64, String)]) -> Result<Vec<(i64, &'static str, &'static str)>> {
    for (version, sum) in applied {
        match MIGRATIONS.iter().find(|known| known.0 == *version) {
            None => bail!(
                "the database has schema version {version}, which this program does not know: it is newer than the program"
            ),
            Some(known) if checksum(known.2) != *sum => {
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
    let tables: i64 =
        query(db.dialect().count_tables()).bind(TABLE).fetch_one(db.reader(), |row| row.get("n")).await?;
    let applied = if tables == 0 { Vec::new() } else { applied(db.reader()).await? };
    Ok(missing(&applied)?.into_iter().map(|m| m.0).collect())
}

/// Fails unless the schema is exactly this program's.
pub async fn check(db: &Db) -> Result<()> {
    let pending = pending(db).await?;
    if !pending.is_empty() {
        bail!("the database lacks migrations {pending:?}: run `switchboard migrate`");
    }
    Ok(())
}
