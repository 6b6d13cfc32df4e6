//! The representation of a tracking record in the API.

use base::error::{Result, not_found};
use model::Instant;
use model::email::tracking::{
    Bounce, Complaint, LinkCount, OpenCount, ReplyCount, TrackingEvent, TrackingRecord,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use storage::tracking::{Event, TrackingCount};
use storage::{items, tracking as table};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::request_context::RequestContext;

/// Most events in a response.
const SHOWN: i64 = 100;

/// The stored details of a bounce, a complaint or a reply.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Detail {
    recipient: Option<String>,
    kind: Value,
    enhanced_status: Option<String>,
    diagnostic: Option<String>,
    feedback_type: Option<String>,
    message_id: Option<String>,
}

/// Returns one of the caller's records.
pub async fn get(app: &App, asker: &RequestContext, id: &str) -> Result<StoredResponse> {
    let missing = || not_found("tracking record");
    if !base::ids::is_plausible(id) {
        return Err(missing());
    }
    let (reader, tenant) = (app.db.reader(), &asker.tenant);
    let found = table::find(reader, tenant, id).await?;
    let record = found.filter(|r| asker.may_use(&r.connection_id)).ok_or_else(missing)?;
    let message =
        items::find(reader, tenant, ResourceKind::EmailMessage.as_str(), &record.message_id).await?;
    let urls: Vec<String> = serde_json::from_str(&record.urls)?;
    let opens = table::counts(reader, id, "open").await?;
    let clicks = table::counts(reader, id, "click").await?;
    let newest = table::newest(reader, id, SHOWN).await?;
    let arrivals = table::arrivals(reader, id).await?;
    let mut shown = TrackingRecord {
        id: record.id,
        message_id: Some(record.message_id),
        connection_id: record.connection_id,
        thread_id: message.and_then(|m| m.series_id),
        label: record.label,
        created_at: Instant::from_millis(record.created_at),
        expires_at: Some(Instant::from_millis(record.expires_at)),
        opens: open_count(record.opens, opens.first()),
        replies: ReplyCount { enabled: record.replies, ..ReplyCount::default() },
        ..TrackingRecord::default()
    };
    let count = |n: usize| clicks.iter().find(|c| usize::try_from(c.link_index) == Ok(n));
    shown.links = urls.iter().enumerate().map(|(n, url)| link(n, url, count(n))).collect();
    for event in &arrivals {
        sort(&mut shown, event)?;
    }
    shown.events = newest.iter().map(|e| render_event(e, &urls)).collect::<Result<_>>()?;
    Ok(StoredResponse::ok(serde_json::to_string(&shown)?))
}

fn open_count(enabled: bool, count: Option<&TrackingCount>) -> OpenCount {
    let count = count.copied().unwrap_or_default();
    OpenCount {
        enabled,
        total: count.total,
        human: count.human,
        first_at: count.first_at.map(Instant::from_millis),
        last_at: count.last_at.map(Instant::from_millis),
    }
}

fn link(index: usize, url: &str, count: Option<&TrackingCount>) -> LinkCount {
    let count = count.copied().unwrap_or_default();
    LinkCount {
        index: i64::try_from(index).unwrap_or(i64::MAX),
        url: url.to_owned(),
        total: count.total,
        human: count.human,
        first_at: count.first_at.map(Instant::from_millis),
        last_at: count.last_at.map(Instant::from_millis),
    }
}

/// Adds an event from the mailbox to the part of the record that it belongs to.
fn sort(shown: &mut TrackingRecord, event: &Event) -> Result<()> {
    let detail: Detail = event.detail.as_deref().map(serde_json::from_str).transpose()?.unwrap_or_default();
    let at = Instant::from_millis(event.at);
    match event.kind.as_str() {
        "bounce" => shown.bounces.push(Bounce {
            recipient: detail.recipient.unwrap_or_default(),
            kind: serde_json::from_value(detail.kind).unwrap_or_default(),
            enhanced_status: detail.enhanced_status,
            diagnostic: detail.diagnostic,
            at,
        }),
        "complaint" => shown.complaints.push(Complaint {
            recipient: detail.recipient,
            feedback_type: detail.feedback_type,
            at,
        }),
        "reply" => {
            shown.replies.count += 1;
            shown.replies.message_ids.extend(detail.message_id);
        }
        _ => {}
    }
    Ok(())
}

fn render_event(event: &Event, urls: &[String]) -> Result<TrackingEvent> {
    let url = event.link_index.and_then(|n| usize::try_from(n).ok()).and_then(|n| urls.get(n));
    Ok(TrackingEvent {
        id: event.id.clone(),
        kind: read(&event.kind)?,
        at: Instant::from_millis(event.at),
        link_index: event.link_index,
        url: url.cloned(),
        ip: event.ip.clone(),
        user_agent: event.user_agent.clone(),
        classification: read(&event.classification)?,
        reason: event.reason.as_deref().map(read).transpose()?,
    })
}

/// Parses a value of the model that the database stores.
fn read<T: DeserializeOwned>(word: &str) -> Result<T> {
    Ok(serde_json::from_value(Value::String(word.to_owned()))?)
}
