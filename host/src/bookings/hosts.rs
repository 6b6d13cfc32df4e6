//! Whether an event type may use its hosts: the key that saves it and the account's grant must let it write to their calendars.

use base::error::{Code, Error, Refusal, Result, invalid};
use base::input::validate::fault;
use futures::stream::{self, StreamExt, TryStreamExt};
use model::calendar::{AccessRole, Calendar, ConferenceProvider};
use model::scheduling::event_type::{EventType, Host, HostRole, MeetingPlace, MeetingPlaceKind};
use storage::items;

use crate::app::App;
use crate::resources::{Asker, Kind};
use crate::sync::{self, Scope};

/// Calendars of an account that are looked at for the one that is written to.
const MAX_CALENDARS: i64 = 1_000;
/// Hosts that are looked at at once.
const CONCURRENT_HOSTS: usize = 8;

/// Refuses hosts whose calendars the key, or the account's grant, does not let it write to, and conferences that these calendars do not have;
/// finds the calendar of hosts who name none.
pub async fn check(app: &App, asker: &Asker, body: &mut EventType) -> Result<()> {
    // Collected first: a stream over a closure that borrows would not be `Send`.
    let checks: Vec<_> =
        body.hosts.iter().cloned().enumerate().map(|(i, host)| check_host(app, asker, i, host)).collect();
    let checked: Vec<(Host, Calendar)> =
        stream::iter(checks).buffered(CONCURRENT_HOSTS).try_collect().await?;
    conferences(&body.locations, &checked)?;
    body.hosts = checked.into_iter().map(|(host, _)| host).collect();
    if let Some(id) = &body.notifications.connection_id {
        let field = "notifications.connectionId";
        asker.connection(app, id, "email.send").await.map_err(|e| of_field(field, e))?;
    }
    Ok(())
}

/// Refuses a conference that is to be made by a calendar which makes none of this kind. Every host but optional ones can be the organizer, whose
/// calendar it is.
fn conferences(places: &[MeetingPlace], hosts: &[(Host, Calendar)]) -> Result<()> {
    for (i, place) in places.iter().enumerate().filter(|(_, place)| place.value.is_none()) {
        let wanted = match place.kind {
            MeetingPlaceKind::GoogleMeet => ConferenceProvider::GoogleMeet,
            MeetingPlaceKind::Teams => ConferenceProvider::Teams,
            _ => continue,
        };
        let lacks = |(host, calendar): &(Host, Calendar)| {
            host.role != HostRole::Optional && !calendar.conference_types.contains(&wanted)
        };
        if let Some(j) = hosts.iter().position(lacks) {
            let field = format!("locations[{i}].type");
            let message = format!(
                "{field}: the calendar of hosts[{j}] makes no conferences of this kind; give the link in value"
            );
            return Err(invalid(Code::CapabilityNotSupported, field, message));
        }
    }
    Ok(())
}

/// The host with the calendar that bookings are written to.
async fn check_host(app: &App, asker: &Asker, i: usize, mut host: Host) -> Result<(Host, Calendar)> {
    let path = format!("hosts[{i}]");
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
    let found = match &host.calendar_id {
        Some(id) => match calendars.iter().position(|(known, _)| known == id) {
            None => return Err(fault(&field, no_calendar)),
            Some(at) => at,
        },
        None => {
            let is_usable = |(_, calendar): &(String, Calendar)| is_writable(calendar);
            let primary = calendars.iter().position(|c| is_usable(c) && c.1.is_primary);
            primary.or_else(|| calendars.iter().position(is_usable)).ok_or_else(|| {
                fault(&field, "is needed: the connection has no calendar that can be written to")
            })?
        }
    };
    let (id, calendar) = calendars.swap_remove(found);
    if !is_writable(&calendar) {
        return Err(fault(&field, "cannot be written to"));
    }
    host.calendar_id = Some(id);
    Ok((host, calendar))
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
