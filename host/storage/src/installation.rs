//! Values of the whole installation, the same for every host. Table: `migrations/0008_installation.sql`.

use anyhow::{Context, Result};

use crate::sql::{On, Tx, query};

/// A condition: the organization whose id is in `$column` is not the installation's own.
macro_rules! of_tenants {
    ($column:literal) => {
        concat!(
            $column,
            " <> coalesce((select value from installation where name = 'operator_organization'), '')"
        )
    };
}
pub(crate) use of_tenants;

/// The value with this name: the one that is there, or else `value`, which is then kept.
pub async fn settle(tx: &mut Tx, name: &str, value: &str) -> Result<String> {
    query("insert into installation (name, value) values ($1, $2) on conflict (name) do nothing")
        .bind(name)
        .bind(value)
        .execute(tx)
        .await?;
    find(tx, name).await?.context("a value of the installation is gone")
}

/// The value with this name.
pub async fn find(on: impl Into<On<'_>>, name: &str) -> Result<Option<String>> {
    query("select value from installation where name = $1")
        .bind(name)
        .fetch_optional(on, |row| row.get("value"))
        .await
}

/// Writes a row whose size a full disk cannot take. Each call needs another value, so that the row is really written.
pub async fn write_probe(tx: &mut Tx, value: &str) -> Result<()> {
    query("insert into installation (name, value) values ('write_probe', $1) on conflict (name) do update set value = excluded.value")
        .bind(value)
        .execute(tx)
        .await?;
    Ok(())
}
