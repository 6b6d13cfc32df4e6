//! Whether an event type may use its hosts: the key that saves it and the account's grant must let it write to their calendars.

use base::error::{Code, Error, Refusal, Result};
use base::input::validate::fault;
use model::calendar::{AccessRole, Calendar};
use model::scheduling::event_type::{EventType, Host};
use storage::items;

use crate::app::App;
use crate::resources::{Asker, Kind};
use crate::sync::{self, Scope};

/// Calendars of an account that are looked at for the one that is written to.
const MAX_CALENDARS: i64 = 1_000;

/// Refuses hosts whose calendars the key, or the account's grant, does not let it write to; finds the calendar of those who name none.
pub async fn check(app: &App, asker: &Asker, body: &mut EventType) -> Result<()> {
    for (i, host) in body.hosts.iter_mut().enumerate() {
        check_host(app, asker, &format!("hosts[{i}]"), host).await?;
    }
    if let Some(id) = &body.notifications.connection_id {
        let field = "notifications.connectionId";
        asker.connection(app, id, "email.send").await.map_err(|e| of_field(field, e))?;
    }
    Ok(())
}

async fn check_host(app: &App, asker: &Asker, path: &str, host: &mut Host) -> Result<()> {
    let field = format!("{path}.connectionId");
    let found = asker.connection(app, &host.connection_id, "calendar.write").await;
    let connection = found.map_err(|e| of_field(&field, e))?;
    sync::ensure_fresh(app, &connection, &Scope::collections(Kind::Calendar), false).await?;
    let (reader, kind) = (app.db.reader(), Kind::Calendar.as_str());
    let id = Some(connection.id.as_str());
    let mut calendars: Vec<(String, Calendar)> = Vec::new();
    for item in items::list_top(reader, &asker.tenant, id, kind, "", MAX_CALENDARS).await? {
        calendars.push((item.id, serde_json::from_str(&item.body)?));
    }
    let no_calendar = "is no calendar of this connection";
    for (j, id) in host.conflict_calendar_ids.iter().enumerate() {
        if !calendars.iter().any(|(known, _)| known == id) {
            return Err(fault(&format!("{path}.conflictCalendarIds[{j}]"), no_calendar));
        }
    }
    let field = format!("{path}.calendarId");
    match &host.calendar_id {
        Some(id) => match calendars.iter().find(|(known, _)| known == id) {
            None => Err(fault(&field, no_calendar)),
            Some((_, calendar)) if !is_writable(calendar) => Err(fault(&field, "cannot be written to")),
            Some(_) => Ok(()),
        },
        None => {
            let mut writable: Vec<_> = calendars.into_iter().filter(|(_, c)| is_writable(c)).collect();
            if writable.is_empty() {
                return Err(fault(
                    &field,
                    "is needed: the connection has no calendar that can be written to",
                ));
            }
            let primary = writable.iter().position(|(_, calendar)| calendar.is_primary).unwrap_or(0);
            host.calendar_id = Some(writable.swap_remove(primary).0);
            Ok(())
        }
    }
}

fn is_writable(calendar: &Calendar) -> bool {
    !calendar.read_only && matches!(calendar.access_role, AccessRole::Owner | AccessRole::Writer)
}

/// The fault with the field that led to it.
fn of_field(field: &str, e: Error) -> Error {
    match e {
        Error::Refused(refusal) if refusal.code == Code::NotFound => {
            fault(field, "must be a connection that the API key may use")
        }
        Error::Refused(refusal) => Refusal { param: Some(field.to_owned()), ..*refusal }.into(),
        other => other,
    }
}
