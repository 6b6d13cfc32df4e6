//! What a connection can do: the connector's surfaces and features, cut by what the account granted.

use std::collections::BTreeMap;

use model::capabilities::{Capabilities, MissingOperation, MissingReason, SurfaceCapabilities};
use model::wire::calendar::CalendarFeatures;
use serde_json::{Value, json};

use crate::app::App;
use crate::connections::{find, granted, usable};
use crate::error::{Result, not_found};
use crate::resources::{Asker, fetch};
use crate::storage::connections::Connection;

/// Operations of the email surface, and the scope that each needs.
const EMAIL: [(&str, &str); 13] = [
    ("read", "email.read"),
    ("search", "email.read"),
    ("nativeSearch", "email.read"),
    ("modifyFlags", "email.write"),
    ("move", "email.write"),
    ("delete", "email.write"),
    ("permanentDelete", "email.write"),
    ("createDraft", "email.write"),
    ("sendDraft", "email.send"),
    ("send", "email.send"),
    ("scheduleSend", "email.send"),
    ("cancelScheduled", "email.send"),
    ("appendMessage", "email.write"),
];

/// Most items on a page of any list.
const PAGE_SIZE: i64 = 200;

/// Asks the connector where it can say more than its manifest.
pub async fn of(app: &App, asker: &Asker, connection_id: &str) -> Result<Capabilities> {
    if !asker.may_use(connection_id) {
        return Err(not_found("connection"));
    }
    let connection = &find(app, &asker.tenant, connection_id).await?;
    let mut capabilities = Capabilities {
        connection_id: connection.id.clone(),
        provider: connection.provider.clone(),
        connector_version: connection.connector_version.clone(),
        evaluated_at: app.clock.now(),
        ..Capabilities::default()
    };
    for (operation, scope) in EMAIL {
        capabilities.missing.push(missing(connection, "email", operation, scope));
    }
    if connection.surfaces.iter().any(|s| s == "calendar") {
        capabilities.calendar = Some(calendar(app, connection, asker).await?);
    }
    Ok(capabilities)
}

/// Why an operation cannot be done. A surface that the provider lacks lacks all of its operations.
fn missing(connection: &Connection, surface: &str, operation: &str, scope: &str) -> MissingOperation {
    let reason = if !connection.surfaces.iter().any(|s| s == surface) {
        MissingReason::ProviderUnsupported
    } else if usable(connection).is_err() {
        MissingReason::ConnectionNotActive
    } else if granted(connection, scope).is_err() {
        MissingReason::ScopeNotGranted
    } else {
        MissingReason::ProviderUnsupported
    };
    MissingOperation { operation: operation.to_owned(), reason, required_scopes: vec![scope.to_owned()] }
}

async fn calendar(app: &App, connection: &Connection, asker: &Asker) -> Result<SurfaceCapabilities> {
    // An account that cannot be asked now still has an answer: nothing works, and why.
    let features = match usable(connection) {
        Ok(()) => fetch(app, connection, asker, "capabilities", &json!({})).await?,
        Err(_) => CalendarFeatures::default(),
    };
    let can = [
        ("read", true, "calendar.read"),
        ("freeBusy", true, "calendar.read"),
        ("freeBusyByEmail", features.free_busy_by_email, "calendar.read"),
        ("createEvent", true, "calendar.write"),
        ("updateEvent", true, "calendar.write"),
        ("deleteEvent", true, "calendar.write"),
        ("recurrence", features.recurrence, "calendar.write"),
        ("thisAndFollowing", features.this_and_following, "calendar.write"),
        ("respond", features.rsvp, "calendar.write"),
        ("conference", !features.conference.is_empty(), "calendar.write"),
        ("createCalendar", features.create_calendar, "calendar.write"),
        ("updateCalendar", features.update_calendar, "calendar.write"),
        ("deleteCalendar", features.delete_calendar, "calendar.write"),
    ];
    let mut answer = SurfaceCapabilities::default();
    for (operation, supported, scope) in can {
        let works = supported && usable(connection).is_ok() && granted(connection, scope).is_ok();
        answer.operations.insert(operation.to_owned(), works);
        if !works {
            answer.missing.push(missing(connection, "calendar", operation, scope));
        }
    }
    answer.features = described(&features);
    answer.limits = BTreeMap::from([("pageSize".to_owned(), Some(PAGE_SIZE))]);
    Ok(answer)
}

fn described(features: &CalendarFeatures) -> BTreeMap<String, Value> {
    BTreeMap::from([
        ("attendees".to_owned(), json!(features.attendees)),
        ("scheduling".to_owned(), json!(features.scheduling)),
        ("reminders".to_owned(), json!(features.reminders)),
        ("attachments".to_owned(), json!(features.attachments)),
        ("conferenceTypes".to_owned(), json!(features.conference)),
        ("push".to_owned(), json!(features.push)),
        ("delta".to_owned(), json!(features.delta)),
    ])
}
