//! Changes of resources that exist only in the log: their delivery and order do not depend on their content.

use harness::receiver::Received;
use serde_json::json;
use service::app::event_log::{NewLogEntry, Origin, append};

use crate::webhooks::desk::Desk;

/// The type of the events that `log` writes.
pub const UPDATED: &str = "calendar.event.updated";

/// Logs an update of each of these calendar events, in this order.
pub async fn log(desk: &Desk, resources: &[&str]) {
    let all: Vec<(&str, &str)> = resources.iter().map(|resource| (*resource, UPDATED)).collect();
    log_as(desk, &all).await;
}

/// Logs changes with titles of this many bytes.
pub async fn log_long(desk: &Desk, resources: &[&str], bytes: usize) {
    let all: Vec<(&str, &str)> = resources.iter().map(|resource| (*resource, UPDATED)).collect();
    let title = "x".repeat(bytes);
    log_titled(desk, &all, |_| title.clone()).await;
}

/// Logs events about these calendar events, each with its type.
pub async fn log_as(desk: &Desk, all: &[(&str, &str)]) {
    log_titled(desk, all, str::to_owned).await;
}

async fn log_titled(desk: &Desk, all: &[(&str, &str)], title: impl Fn(&str) -> String) {
    let note = |(resource, entry_type): &(&str, &str)| NewLogEntry {
        connection_id: Some(desk.connection.clone()),
        account_ids: None,
        entry_type: (*entry_type).to_owned(),
        change_type: "updated",
        resource_type: "calendar.event",
        resource_id: (*resource).to_owned(),
        parent_id: desk.calendar.clone(),
        changed_fields: None,
        etag: None,
        origin: Origin::Api,
        resource: Some(json!({ "title": title(resource) }).to_string()),
    };
    let notes: Vec<NewLogEntry> = all.iter().map(note).collect();
    let (app, tenant) = (desk.server.app.clone(), desk.tenant().await);
    let db = app.db.clone();
    let written: base::error::Result<i64> =
        db.write(move |tx| Box::pin(async move { append(tx, &app, &tenant, notes).await })).await;
    written.expect("the log is written");
}

/// Returns the resource of each notification, with the number of the attempt: `a 1`.
pub fn attempts(received: &[Received]) -> Vec<String> {
    let attempt = |r: &Received| format!("{} {}", resource(r), r.header("webhook-attempt"));
    received.iter().map(attempt).collect()
}

pub fn resource(received: &Received) -> String {
    received.json()["data"]["resourceId"].as_str().expect("an id").to_owned()
}

/// The number of its event in the log.
pub fn sequence(received: &Received) -> i64 {
    received.json()["sequence"].as_i64().expect("a number")
}
