//! The state of an application: for the first hour of its developers, and in a few figures later.

use base::error::Result;
use base::tenant::Tenant;
use model::webhook::WebhookStatus;
use storage::api_keys::{self, ApiKey, KeyKind};
use storage::{connections, usage, webhooks};

use crate::app::App;
use crate::app::usage::day;
use crate::manage::keys;

/// Keys and webhooks that are looked at.
const LOOKED_AT: i64 = 100;
/// Outcomes of requests among the counts of a day.
const REQUEST_OUTCOMES: [&str; 4] = ["success", "clientError", "serverError", "rateLimited"];

/// The state of an application.
#[derive(Clone, Debug, Default)]
pub struct ApplicationOverview {
    /// Keys that work, 100 at most.
    pub keys: i64,
    /// A key was used.
    pub has_called: bool,
    /// Connected accounts, and those of them that are not active.
    pub accounts: i64,
    pub accounts_in_trouble: i64,
    /// Webhooks, 100 at most, and those of them that are not active.
    pub webhooks: i64,
    pub webhooks_not_active: i64,
    /// An event has arrived at a webhook.
    pub has_received: bool,
    /// Requests since midnight, UTC.
    pub requests_today: i64,
}

/// Reads what an application has.
pub async fn load(app: &App, tenant: &Tenant) -> Result<ApplicationOverview> {
    let (reader, now) = (app.db.reader(), app.now());
    let found = api_keys::list(reader, tenant, None, KeyKind::Key, ("", LOOKED_AT)).await?;
    let by_status = connections::count_by_status(reader, tenant).await?;
    let accounts: i64 = by_status.values().sum();
    let active = by_status.get("active").copied().unwrap_or_default();
    let hooks = webhooks::list(reader, tenant, "", LOOKED_AT).await?;
    let is_active = |hook: &&webhooks::Webhook| hook.status == WebhookStatus::Active;
    let today = day(now);
    let counts = usage::list(reader, tenant, &today, &today).await?;
    let is_request = |bucket: &usage::Bucket| {
        !bucket.key_id.is_empty() && REQUEST_OUTCOMES.contains(&bucket.outcome.as_str())
    };
    let requests_today: i64 =
        counts.iter().filter(|(bucket, _)| is_request(bucket)).map(|(_, count)| count).sum();
    let works = |key: &&ApiKey| keys::state(key, now) == "active";
    Ok(ApplicationOverview {
        keys: count(found.iter().filter(works)),
        has_called: requests_today > 0 || found.iter().any(|key| key.last_used_at.is_some()),
        accounts,
        accounts_in_trouble: accounts - active,
        webhooks: count(hooks.iter()),
        webhooks_not_active: count(hooks.iter().filter(|hook| !is_active(hook))),
        has_received: hooks.iter().any(|hook| hook.last_success_at.is_some()),
        requests_today,
    })
}

fn count<T>(items: impl Iterator<Item = T>) -> i64 {
    i64::try_from(items.count()).unwrap_or(i64::MAX)
}
