//! `/v1/usage`

use std::collections::BTreeMap;

use axum::Extension;
use axum::extract::State;
use base::error::{Code, Result, invalid};
use jiff::civil::Date;
use model::Instant;
use model::application::{KeyUsage, RequestCount, Usage, WebhookCount};
use model::formats;
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::provider_units;
use service::webhooks::figures::Figures;
use storage::provider_units::DayRange;
use storage::usage::{self, Bucket};
use storage::{api_keys, connections, items};

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Unlabelled;
use crate::api::operation::Routes;
use crate::api::request::extractors::Params;
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::rate_limit::{RateLimitState, WINDOW_MS};

/// The query string of the usage.
#[derive(Debug, Deserialize, JsonSchema)]
struct UsageQuery {
    /// The first day of the period, `YYYY-MM-DD` in UTC. By default, it is the first day of this month.
    #[schemars(with = "Option<formats::AnyDate>")]
    start: Option<String>,
    /// The last day of the period, `YYYY-MM-DD` in UTC, at most 366 days after `start`. By default, it is today.
    #[schemars(with = "Option<formats::AnyDate>")]
    end: Option<String>,
}

pub fn routes() -> Routes<App> {
    Routes::new("Usage")
        .get("/v1/usage", "usage.read", Unlabelled, get)
        .summary("Read the application's usage")
        .description("By default for the current month, in UTC. Figures of the last seconds may be missing, and those of providers' quotas of the last minute.")
        .query::<UsageQuery>()
        .returns::<Usage>()
}

async fn get(
    State(app): State<App>,
    caller: Caller,
    Extension(standing): Extension<RateLimitState>,
    params: Params,
) -> ApiResult {
    let (start, end) = period(&app, &params.read()?)?;
    let tenant = caller.tenant();
    let mut rows = usage::list(app.db.reader(), tenant, &start.to_string(), &end.to_string()).await?;
    let pending = app.usage.pending().into_iter().filter(|(b, _)| b.tenant == *tenant);
    rows.extend(pending.filter(|(b, _)| *b.day >= *start.to_string() && *b.day <= *end.to_string()));
    let mut answer = sum_usage(&rows);
    answer.period_start = midnight(start)?;
    answer.period_end = midnight(end.tomorrow().map_err(anyhow::Error::new)?)?;
    let states = connections::count_by_status(app.db.reader(), tenant).await?;
    answer.connections.total = states.values().sum();
    answer.connections.active =
        states.get("active").copied().unwrap_or(0) + states.get("degraded").copied().unwrap_or(0);
    answer.connections.reauth_required = states.get("reauth_required").copied().unwrap_or(0);
    answer.rate_limit.limit_per_minute = caller.key.rate_limit_per_minute;
    answer.rate_limit.reset_at = Some(Instant::from_millis(app.now() + WINDOW_MS));
    answer.rate_limit.remaining = i64::try_from(standing.remaining).unwrap_or(i64::MAX);
    let changes = usage::changes(app.db.reader(), tenant, &start.to_string(), &end.to_string()).await?;
    let bytes = items::bytes(app.db.reader(), tenant).await?;
    answer.sync.changes = changes;
    let attempts = usage::webhooks(app.db.reader(), tenant, &start.to_string(), &end.to_string()).await?;
    answer.webhooks = webhooks(changes, &Figures::from_outcomes(&attempts));
    answer.storage_bytes = bytes;
    let (from, to) = (start.to_string(), end.to_string());
    let days = DayRange { from: &from, to: &to };
    let bound_to = &caller.key.connection_ids;
    answer.provider_units = provider_units::load_units(&app, tenant, bound_to, days).await?;
    let mut by_key: BTreeMap<String, i64> = BTreeMap::new();
    for (bucket, n) in rows.iter().filter(|(bucket, _)| !bucket.key_id.is_empty()) {
        *by_key.entry(bucket.key_id.clone()).or_default() += n;
    }
    let mut names = api_keys::names(app.db.reader(), tenant).await?;
    for (id, requests) in by_key {
        answer.keys.push(KeyUsage { name: names.remove(&id).unwrap_or_default(), id, requests });
    }
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&answer)?)))
}

fn period(app: &App, query: &UsageQuery) -> Result<(Date, Date)> {
    let today = app.clock.now().timestamp().to_zoned(jiff::tz::TimeZone::UTC).date();
    let day = |name: &str, given: Option<&str>, default: Date| match given {
        None => Ok(default),
        Some(text) => text.parse::<Date>().map_err(|_| {
            invalid(Code::InvalidParameter, name, format!("{name} must be a date such as 2026-03-01"))
        }),
    };
    let start = day("start", query.start.as_deref(), today.first_of_month())?;
    let end = day("end", query.end.as_deref(), today)?;
    if end < start {
        return Err(invalid(Code::InvalidTimeRange, "end", "end must not be before start"));
    }
    let days = start.until((jiff::Unit::Day, end)).map_err(anyhow::Error::new)?.get_days();
    if days > 366 {
        return Err(invalid(Code::RangeTooLarge, "end", "the period may have at most 366 days"));
    }
    Ok((start, end))
}

fn midnight(day: Date) -> Result<Instant> {
    let zoned = day.to_zoned(jiff::tz::TimeZone::UTC).map_err(anyhow::Error::new)?;
    Ok(Instant::from(zoned.timestamp()))
}

fn sum_usage(rows: &[(Bucket, i64)]) -> Usage {
    let mut answer = Usage::default();
    for (bucket, n) in rows {
        match bucket.outcome.as_str() {
            "providerCall" => answer.sync.provider_calls += n,
            "providerThrottled" => answer.sync.provider_throttled += n,
            usage::BOOKING_CREATED => answer.bookings.created += n,
            usage::BOOKING_CANCELLED => answer.bookings.cancelled += n,
            usage::EMAIL_SENT => answer.email.sent += n,
            usage::EMAIL_BOUNCED => answer.email.bounced += n,
            usage::MCP_CALL => answer.mcp.calls += n,
            _ => count(&mut answer.requests, bucket, *n),
        }
    }
    answer
}

/// Contract silent: `deliveries` are attempts, of which one event can have several, and `failed` those that were not answered 2xx.
fn webhooks(events: i64, attempts: &Figures) -> WebhookCount {
    WebhookCount {
        events,
        deliveries: attempts.attempts(),
        failed: attempts.failed(),
        p95_ms: attempts.p95_ms(),
    }
}

fn count(requests: &mut RequestCount, bucket: &Bucket, n: i64) {
    requests.total += n;
    *requests.by_surface.entry(bucket.surface.clone()).or_default() += n;
    match bucket.outcome.as_str() {
        "success" => requests.success += n,
        "clientError" => requests.client_error += n,
        "serverError" => requests.server_error += n,
        _ => requests.rate_limited += n,
    }
}
