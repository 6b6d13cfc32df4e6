//! What is true of the whole installation, whichever host asks. Table: `migrations/0008_installation.sql`.

use anyhow::Result;

use crate::sql::{Tx, query};

/// The value with this name: the one that is there, or else `value`, which is then kept.
pub async fn settle(tx: &mut Tx, name: &str, value: &str) -> Result<String> {
    query("insert into installation (name, value) values ($1, $2) on conflict (name) do nothing")
        .bind(name)
        .bind(value)
        .execute(tx)
        .await?;
    query("select value from installation where name = $1")
        .bind(name)
        .fetch_one(tx, |row| row.get("value"))
        .await
}
