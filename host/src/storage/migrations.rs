//! The schema's history, applied at start and by `switchboard migrate`.

use anyhow::{Context, Result, bail};
use sqlx::AnyConnection;
use sqlx::SqlSafeStr;
use sqlx::migrate::{Migrate, Migration, MigrationType, Migrator};

const TABLE: &str = "_sqlx_migrations";

const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "tenants and keys", include_str!("../../../migrations/0001_tenants_and_keys.sql")),
    (2, "connections", include_str!("../../../migrations/0002_connections.sql")),
    (3, "items", include_str!("../../../migrations/0003_items.sql")),
    (4, "log", include_str!("../../../migrations/0004_log.sql")),
    (5, "sync states", include_str!("../../../migrations/0005_sync_states.sql")),
    (6, "idempotency", include_str!("../../../migrations/0006_idempotency.sql")),
    (7, "usage", include_str!("../../../migrations/0007_usage.sql")),
    (8, "item error versions", include_str!("../../../migrations/0008_item_error_versions.sql")),
];

fn migrator() -> Migrator {
    let migration = |&(version, name, sql): &(i64, &'static str, &'static str)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(MIGRATIONS.iter().map(migration).collect())
}

/// Brings the schema up to date. Several processes may start at once: one applies, the others wait.
pub async fn apply(connection: &mut AnyConnection) -> Result<()> {
    migrator().run(connection).await.context("cannot bring the database schema up to date")
}

/// Versions that this program knows and the database has not; empty when it is up to date.
/// Fails when the database is newer than the program, or holds a migration that failed half-way.
pub async fn pending(connection: &mut AnyConnection) -> Result<Vec<i64>> {
    connection.ensure_migrations_table(TABLE).await?;
    if let Some(version) = connection.dirty_version(TABLE).await? {
        bail!("migration {version} was applied half-way; restore a backup or repair it by hand");
    }
    let applied: Vec<i64> =
        connection.list_applied_migrations(TABLE).await?.into_iter().map(|m| m.version).collect();
    let known: Vec<i64> = MIGRATIONS.iter().map(|m| m.0).collect();
    if let Some(newer) = applied.iter().find(|v| !known.contains(v)) {
        bail!(
            "the database has schema version {newer}, which this program does not know: it is newer than the program"
        );
    }
    Ok(known.into_iter().filter(|v| !applied.contains(v)).collect())
}

/// Fails unless the schema is exactly this program's.
pub async fn check(connection: &mut AnyConnection) -> Result<()> {
    let pending = pending(connection).await?;
    if !pending.is_empty() {
        bail!("the database lacks migrations {pending:?}: run `switchboard migrate`");
    }
    Ok(())
}
