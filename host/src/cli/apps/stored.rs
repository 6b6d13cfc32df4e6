//! Applications and registrations as the store has them.

use anyhow::Result;
use serde_json::Value;
use service::manage::providers;
use storage::Db;
use storage::api_keys::{self, Application};
use storage::oauth_clients::OAuthClient;

use crate::cli::refusal::failure;
use crate::cli::store;

/// The application with this id. The error says where ids are shown.
pub async fn application(db: &Db, id: &str) -> Result<Application> {
    store::ensure_schema(db).await?;
    let all = api_keys::applications(db.reader()).await?;
    let found = all.into_iter().find(|application| application.tenant.application_id == id);
    found.ok_or_else(|| {
        failure(
            format!("there is no application {id}"),
            "`switchboard apps list` shows the ids of all applications",
        )
    })
}

/// A registration as `--json` prints it; the secret is not in it.
pub fn render_client(client: &OAuthClient) -> Value {
    providers::json(client)
}
