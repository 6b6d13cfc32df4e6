//! Opens and clicks.

use std::net::IpAddr;

use base::error::Result;
use base::ids::Kind;
use model::email::tracking::{Classification, ClassificationReason};
use serde_json::{Value, json};
use storage::tracking::{Event, Record};
use storage::{Tx, tracking as table};

use crate::app::App;
use crate::local_copy::mail::replies_and_reports::log_event;
use crate::tracking::TrackedTarget;
use crate::tracking::classify::{Hit, classify, network};

/// Time after an open in which another one counts as the same, ms.
const SAME_OPEN_MS: i64 = 60_000;
/// Clicks on all links within this time are a scanner's, ms.
const BURST_MS: i64 = 3_000;
/// Fewest links that make a burst.
const BURST_LINKS: usize = 3;
/// Most hits of one network that are compared with a new one: there are no more within the times above (`api::track`).
const COMPARED: i64 = 200;
/// Most stored characters of a `User-Agent`.
const USER_AGENT: usize = 256;

/// The client of a hit.
pub struct Visitor<'a> {
    pub ip: IpAddr,
    pub user_agent: &'a str,
    pub is_head: bool,
}

/// Returns the target of a signed tracking address; none if the signature is not ours.
pub fn target(app: &App, signed: &str) -> Option<TrackedTarget> {
    serde_json::from_slice(&app.keyring.verified(signed)?).ok()
}

/// Returns the URL of a message's link; none for the image, and for unknown targets.
pub async fn destination(app: &App, target: &TrackedTarget) -> Result<Option<String>> {
    let Some(link) = target.link else { return Ok(None) };
    let Some(record) = table::any(app.db.reader(), &target.tracking_id).await? else { return Ok(None) };
    let urls: Vec<String> = serde_json::from_str(&record.urls)?;
    Ok(urls.get(link).cloned())
}

/// Records an open or a click.
pub async fn record_hit(app: &App, target: &TrackedTarget, visitor: &Visitor<'_>) -> Result<()> {
    let Some(record) = table::any(app.db.reader(), &target.tracking_id).await? else { return Ok(()) };
    let now = app.now();
    let is_wanted = if target.link.is_some() { record.links } else { record.opens };
    if !is_wanted || now > record.expires_at {
        return Ok(());
    }
    let hit =
        Hit { is_head: visitor.is_head, user_agent: visitor.user_agent, at: now, sent_at: record.sent_at };
    let (classification, reason) = classify(&hit);
    let event = Event {
        id: app.new_id(Kind::Notification),
        kind: if target.link.is_some() { "click" } else { "open" }.to_owned(),
        at: now,
        link_index: target.link.and_then(|n| i64::try_from(n).ok()),
        ip: Some(network(visitor.ip)),
        user_agent: Some(visitor.user_agent.chars().take(USER_AGENT).collect()),
        classification: word(&classification),
        reason: reason.map(|r| word(&r)),
        detail: None,
    };
    let app = app.clone();
    let db = app.db.clone();
    db.write(move |tx| Box::pin(async move { store_event(tx, &app, &record, event).await })).await
}

fn word(value: &impl serde::Serialize) -> String {
    match json!(value) {
        Value::String(word) => word,
        _ => String::new(),
    }
}

async fn store_event(tx: &mut Tx, app: &App, record: &Record, mut event: Event) -> Result<()> {
    let span_ms = if event.kind == "open" { SAME_OPEN_MS } else { BURST_MS };
    let since = event.at - span_ms;
    let like_it = (event.kind.as_str(), since, event.ip.as_deref());
    let lately = table::of_network(&mut *tx, &record.id, like_it, COMPARED).await?;
    if event.kind == "open" && lately.iter().any(|e| e.user_agent == event.user_agent) {
        return Ok(());
    }
    let urls: Vec<String> = serde_json::from_str(&record.urls)?;
    let is_burst = event.kind == "click" && is_burst(&urls, &event, &lately);
    if is_burst {
        let (bot, reason) = (word(&Classification::Bot), word(&ClassificationReason::AllLinksBurst));
        (event.classification, event.reason) = (bot, Some(reason));
    }
    if !table::add_event(tx, &record.id, &event).await? {
        return Ok(());
    }
    if is_burst {
        let of = ("click", since, event.ip.as_deref());
        let reason = event.reason.as_deref().unwrap_or_default();
        table::reclassify(tx, &record.id, of, (&event.classification, reason)).await?;
    }
    let url = event.link_index.and_then(|n| usize::try_from(n).ok()).and_then(|n| urls.get(n));
    log_event(tx, app, record, &event, json!({ "url": url })).await
}

/// Whether all links of the message were followed from one network at once.
fn is_burst(urls: &[String], event: &Event, lately: &[Event]) -> bool {
    let mut links: Vec<i64> = lately.iter().filter_map(|e| e.link_index).chain(event.link_index).collect();
    links.sort_unstable();
    links.dedup();
    urls.len() >= BURST_LINKS && links.len() == urls.len()
}
