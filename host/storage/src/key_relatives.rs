//! Names of keys, and the keys and access tokens that a key has made. Table: `migrations/0001_tenants_and_keys.sql`.

use std::collections::HashMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::api_keys::{ApiKey, api_key};
use crate::dialect::one_of;
use crate::json_text;
use crate::sql::{Reader, query};

/// The names of these keys of the application, by id.
pub async fn names_of(reader: &Reader, tenant: &Tenant, ids: &[&str]) -> Result<HashMap<String, String>> {
    // As expressions, so that rows are found by their ids and not among all of the application.
    let sql = one_of!(
        reader,
        "select id, name from api_keys where organization_id || '' = $1 and application_id || '' = $2 and id",
        "$3"
    );
    let found = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(json_text(ids))
        .fetch_all(reader, |row| Ok((row.get("id")?, row.get("name")?)))
        .await?;
    Ok(found.into_iter().collect())
}

/// Keys and access tokens that a key of the application has made, in no order; `limit` at most. Keys that those made are not among them.
pub async fn made_by(reader: &Reader, tenant: &Tenant, maker_id: &str, limit: i64) -> Result<Vec<ApiKey>> {
    let sql = "select * from api_keys where application_id = $1 and created_by = $2 and organization_id = $3 limit $4";
    query(sql)
        .bind(&tenant.application_id)
        .bind(maker_id)
        .bind(&tenant.organization_id)
        .bind(limit)
        .fetch_all(reader, api_key)
        .await
}
