//! `/v1/admin/audit-log`

use base::error::{Code, Result, invalid};
use base::ids::{self, Kind};
use model::Instant;
use model::admin_operations::{AdminAuditActor, AdminAuditEntry};
use model::bounds;
use model::formats::{self, InstantOrDate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use service::app::App;
use service::app::stored_response::StoredResponse;
use storage::audit_log::{self, AuditEntry};

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::Params;
use crate::api::response::reply::{ApiResponse, ApiResult};

/// The query string of a list of entries.
#[derive(Debug, Deserialize, JsonSchema)]
struct AuditLogQuery {
    /// Returns only acts of the operator or key with this id; `command` stands for the command line. It cannot be combined
    /// with `organization_id`.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    actor_id: Option<String>,
    /// Returns only acts in this organization. It cannot be combined with `actor_id`.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    organization_id: Option<String>,
    /// Returns only acts at this time or later: an RFC 3339 instant, or a date, which stands for its midnight in UTC.
    start: Option<InstantOrDate>,
    /// Returns only acts before this time: an RFC 3339 instant, or a date, which stands for its midnight in UTC.
    end: Option<InstantOrDate>,
}

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/audit-log", "admin.read", Additive, list)
        .summary("List entries of the audit log")
        .description("The acts of operators, keys of the administration and commands, the newest first. Entries are kept for 400 days. `actor_id` and `organization_id` exclude each other (400 `conflicting_fields`).")
        .query::<AuditLogQuery>()
        .lists::<AdminAuditEntry>()
}

/// The entries that a list has.
#[derive(Serialize)]
struct AuditFilter {
    actor_id: Option<String>,
    organization_id: Option<String>,
    /// Milliseconds since 1970.
    start: Option<i64>,
    end: Option<i64>,
}

/// The entry after which a page begins.
#[derive(Serialize, Deserialize)]
struct AuditPlace {
    at: i64,
    id: String,
}

impl AuditFilter {
    fn read(params: &Params) -> Result<AuditFilter> {
        let query: AuditLogQuery = params.read()?;
        let filter = AuditFilter {
            actor_id: query.actor_id,
            organization_id: query.organization_id,
            start: query.start.map(InstantOrDate::as_millis),
            end: query.end.map(InstantOrDate::as_millis),
        };
        if filter.actor_id.is_some() && filter.organization_id.is_some() {
            let message = "actor_id and organization_id cannot be combined: send one of them";
            return Err(invalid(Code::ConflictingFields, "organization_id", message));
        }
        if let (Some(start), Some(end)) = (filter.start, filter.end)
            && end <= start
        {
            return Err(invalid(Code::InvalidTimeRange, "end", "end must be after start"));
        }
        Ok(filter)
    }

    /// At most `limit` entries, the newest first, after a place. Ids sort by time, so that each list is read along its index.
    async fn load(&self, app: &App, after: Option<AuditPlace>, limit: i64) -> Result<Vec<AuditEntry>> {
        let reader = app.db.reader();
        let (at, id) = match (after, self.end) {
            (Some(place), _) => (place.at, place.id),
            (None, Some(end)) => (end, ids::first_at(Kind::AuditEntry, end)),
            (None, None) => (i64::MAX, audit_log::NEWEST.to_owned()),
        };
        let mut found = match (&self.actor_id, &self.organization_id) {
            (Some(actor_id), _) => audit_log::list_of_actor(reader, actor_id, &id, limit).await?,
            (None, Some(organization_id)) => audit_log::list(reader, organization_id, &id, limit).await?,
            (None, None) => audit_log::list_all(reader, at, &id, limit).await?,
        };
        if let Some(start) = self.start {
            let first = ids::first_at(Kind::AuditEntry, start);
            let is_older = |entry: &AuditEntry| entry.at < start && entry.id < first;
            found.truncate(found.iter().position(is_older).unwrap_or(found.len()));
        }
        Ok(found)
    }
}

async fn list(admin: AdminRequest, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let filter = AuditFilter::read(&params)?;
    let binding = admin.binding("admin.audit-log.list", &filter);
    let after: Option<AuditPlace> = binding.place(&admin.app.keyring, params.get("cursor"))?;
    let mut found = filter.load(&admin.app, after, limit + 1).await?;
    let rows = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > rows;
    found.truncate(rows);
    let mut items = Vec::with_capacity(found.len());
    for entry in &found {
        items.push(serde_json::to_string(&render_entry(entry))?);
    }
    let place = |entry: &AuditEntry| AuditPlace { at: entry.at, id: entry.id.clone() };
    let cursor = |last: usize| binding.cursor(&admin.app.keyring, &found.get(last).map(place));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

fn render_entry(entry: &AuditEntry) -> AdminAuditEntry {
    AdminAuditEntry {
        id: entry.id.clone(),
        at: Instant::from_millis(entry.at),
        actor: AdminAuditActor {
            kind: entry.actor.kind.clone(),
            id: entry.actor.id.clone(),
            name: entry.actor.name.clone(),
            ip: entry.actor.ip.clone(),
        },
        organization_id: Some(entry.organization_id.clone()).filter(|id| id != audit_log::INSTALLATION),
        application_id: entry.application_id.clone(),
        act: entry.act.clone(),
        target: entry.target.clone(),
        details: entry.details.clone(),
    }
}
