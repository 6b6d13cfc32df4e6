//! The connections of one account of a provider. Table: `migrations/0002_connections.sql`.

use anyhow::{Context, Result};
use base::tenant::Tenant;
use serde_json::{Map, Value};

use crate::json;
use crate::sql::{On, Row, query};

/// Connections of one account that are read.
const MAX_CONNECTIONS: i64 = 50;

/// A live connection of an account, as far as it says at which server the account is.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountConnection {
    pub id: String,
    pub settings: Map<String, Value>,
    /// Whether the provider refuses its credentials.
    pub is_refused: bool,
    /// Whether it was made by OAuth.
    pub is_by_oauth: bool,
    pub granted_scopes: Vec<String>,
}

/// Live connections of the tenant to this account of the provider, in id order. Connections whose credentials the provider refuses are left
/// out, since the account has to be connected again.
pub async fn of_account(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    provider: &str,
    external_account_id: &str,
) -> Result<Vec<AccountConnection>> {
    let sql = "select id, settings, status, granted_scopes, grant_client from connections where application_id = $1 and provider = $2 \
               and external_account_id = $3 and deleted_at is null and organization_id = $4 \
               and status <> 'reauth_required' order by id limit $5";
    let query = query(sql).bind(&tenant.application_id).bind(provider).bind(external_account_id);
    query.bind(&tenant.organization_id).bind(MAX_CONNECTIONS).fetch_all(on, from_row).await
}

/// All live connections of the tenant to this account of the provider, in id order.
pub async fn all_of_account(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    provider: &str,
    external_account_id: &str,
) -> Result<Vec<AccountConnection>> {
    let sql = "select id, settings, status, granted_scopes, grant_client from connections where application_id = $1 and provider = $2 \
               and external_account_id = $3 and deleted_at is null and organization_id = $4 \
               order by id limit $5";
    let query = query(sql).bind(&tenant.application_id).bind(provider).bind(external_account_id);
    query.bind(&tenant.organization_id).bind(MAX_CONNECTIONS).fetch_all(on, from_row).await
}

fn from_row(row: &Row<'_>) -> Result<AccountConnection> {
    let settings: String = row.get("settings")?;
    let settings = serde_json::from_str(&settings).context("the settings of a connection are not JSON")?;
    let status: String = row.get("status")?;
    let grant_client: Option<String> = row.get("grant_client")?;
    Ok(AccountConnection {
        id: row.get("id")?,
        settings,
        is_refused: status == "reauth_required",
        is_by_oauth: grant_client.is_some(),
        granted_scopes: json(row, "granted_scopes")?,
    })
}
