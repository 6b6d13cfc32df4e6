//! Checks that an event type may use its hosts: the key that saves it and the account's grant must allow writing to their calendars. From
//! then on the service subscribes to these calendars, so that hosts' changes reach bookings. For the other rights of the key see
//! `event_type_rights`.

use base::error::{Code, Error, Result, invalid};
use base::input::validate::fault;
use futures::stream::{self, StreamExt, TryStreamExt};
use model::calendar::{AccessRole, Calendar, IncludeInAvailability};
use model::scheduling::event_type::{EventType, Host, HostRole, MeetingPlace};
use storage::connections::Connection;
use storage::items::{self, Item};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::bookings::input::line;
use crate::bookings::{event_body, event_type_rights};
use crate::connections;
use crate::connections::request_context::RequestContext;
use crate::sync;
use crate::sync::scope::SyncScope;
use crate::sync::subscribe::NewSubscription;

/// Most calendars of an account that are searched for the one to write to.
const MAX_CALENDARS: i64 = 1_000;
/// Hosts that are checked concurrently.
const CONCURRENT_HOSTS: usize = 8;
/// Most subscribed calendars of one host: the others are read when slots are requested.
const MAX_FOLLOWED: usize = 50;
/// Most calendars that the transaction which saves an event type subscribes to: other writes wait for it.
const MAX_AT_ONCE: usize = 200;

/// The subscriptions that saving an event type starts.
#[derive(Clone, Debug, Default)]
pub struct StartedSubscriptions {
    pub calendars: Vec<NewSubscription>,
    /// Whether there are more, which are left to the background (`bookings::calendar_subscriptions`).
    pub has_more: bool,
}

/// The result of a check of all hosts.
pub struct HostCheck {
    /// Calendars to subscribe to once the event type is stored.
    pub begun: StartedSubscriptions,
    /// The indices of hosts from whose accounts mail can be sent.
    pub senders: Vec<usize>,
    /// The time zones of the hosts, in their order: of the account's primary calendar, else of the account, else of the calendar for
    /// bookings.
    pub time_zones: Vec<Option<String>>,
}

/// A host who passed the checks.
struct CheckedHost {
    host: Host,
    /// Whether the account grants sending mail.
    can_send: bool,
    /// The calendar for bookings.
    calendar: Calendar,
    time_zone: Option<String>,
    /// Missing subscriptions of the host's calendars.
    begun: StartedSubscriptions,
}

/// Checks hosts: the key and the account's grant must allow writing to their calendars, and the calendars must support the conferences.
/// Fills in the calendar of hosts who name none, and the names of new hosts. `known` are the hosts before the change.
pub async fn check(
    app: &App,
    asker: &RequestContext,
    body: &mut EventType,
    known: &[Host],
) -> Result<HostCheck> {
    let most = most_of_host(body.hosts.len());
    let hosts = body.hosts.iter().cloned().enumerate();
    // Collected first: a stream over a closure that borrows would not be `Send`.
    let is_new = |host: &Host| known.iter().all(|known| known.connection_id != host.connection_id);
    let checks: Vec<_> = hosts
        .map(|(i, host)| {
            let is_new = is_new(&host);
            check_host(app, asker, i, most, host, is_new)
        })
        .collect();
    let mut checked: Vec<CheckedHost> = stream::iter(checks).buffered(CONCURRENT_HOSTS).try_collect().await?;
    conferences(&body.locations, &checked)?;
    let mut begun = StartedSubscriptions::default();
    for one in &mut checked {
        begun.calendars.append(&mut one.begun.calendars);
        begun.has_more |= one.begun.has_more;
    }
    let can_tell = |(_, one): &(usize, &CheckedHost)| one.can_send && event_type_rights::is_sender(&one.host);
    let senders = checked.iter().enumerate().filter(can_tell).map(|(index, _)| index).collect();
    let time_zones = checked.iter().map(|one| one.time_zone.clone()).collect();
    body.hosts = checked.into_iter().map(|one| one.host).collect();
    Ok(HostCheck { begun, senders, time_zones })
}

/// Checks that the key and the account's grant allow the notification account to send.
pub async fn check_sender(app: &App, asker: &RequestContext, body: &EventType) -> Result<()> {
    let Some(id) = &body.notifications.connection_id else { return Ok(()) };
    let found = asker.connection(app, id, "email.send").await;
    found.map_err(|e| of_field("notifications.connectionId", e))?;
    Ok(())
}

/// Most calendars to subscribe to at once, for each of so many hosts.
fn most_of_host(hosts: usize) -> usize {
    (MAX_AT_ONCE / hosts.max(1)).max(1)
}

/// Refuses a conference of a kind that the calendar cannot create. Every host except optional ones can become the organizer, whose calendar
/// creates it.
fn conferences(places: &[MeetingPlace], hosts: &[CheckedHost]) -> Result<()> {
    for (i, place) in places.iter().enumerate().filter(|(_, place)| place.value.is_none()) {
        let Some(wanted) = event_body::provider_of(place.kind) else { continue };
        let lacks = |CheckedHost { host, calendar, .. }: &CheckedHost| {
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

/// `most`: calendars of the host to subscribe to at once.
async fn check_host(
    app: &App,
    asker: &RequestContext,
    i: usize,
    most: usize,
    mut host: Host,
    is_new: bool,
) -> Result<CheckedHost> {
    let path = format!("hosts[{i}]");
    let field = format!("{path}.connectionId");
    let found = asker.connection(app, &host.connection_id, "calendar.write").await;
    let connection = found.map_err(|e| of_field(&field, e))?;
    let can_send = connections::granted(&connection, "email.send").is_ok();
    sync::ensure_fresh(app, &connection, &SyncScope::collections(ResourceKind::Calendar), false).await?;
    let (reader, kind) = (app.db.reader(), ResourceKind::Calendar.as_str());
    let id = Some(connection.id.as_str());
    let mut calendars: Vec<(Item, Calendar)> = Vec::new();
    for item in items::list_top(reader, &asker.tenant, id, kind, "", MAX_CALENDARS).await? {
        let calendar = serde_json::from_str(&item.body)?;
        calendars.push((item, calendar));
    }
    let no_calendar = "is no calendar of this connection";
    for (j, id) in host.conflict_calendar_ids.iter().enumerate() {
        if !calendars.iter().any(|(known, _)| known.id == *id) {
            return Err(fault(&format!("{path}.conflictCalendarIds[{j}]"), no_calendar));
        }
    }
    let field = format!("{path}.calendarId");
    let found = match &host.calendar_id {
        Some(id) => match calendars.iter().position(|(known, _)| known.id == *id) {
            None => return Err(fault(&field, no_calendar)),
            Some(at) => at,
        },
        None => {
            let is_usable = |(_, calendar): &(Item, Calendar)| is_writable(calendar);
            let primary = calendars.iter().position(|c| is_usable(c) && c.1.is_primary);
            primary.or_else(|| calendars.iter().position(is_usable)).ok_or_else(|| {
                fault(&field, "is needed: the connection has no calendar that can be written to")
            })?
        }
    };
    let Some((item, calendar)) = calendars.get(found).cloned() else {
        return Err(fault(&field, no_calendar));
    };
    if !is_writable(&calendar) {
        return Err(fault(&field, "cannot be written to"));
    }
    host.calendar_id = Some(item.id);
    if is_new && host.display_name.is_none() {
        host.display_name = default_name(connection.display_name.as_deref());
    }
    let begun = begin(app, &connection, &host, &calendars, most).await?;
    let primary = calendars.iter().map(|(_, calendar)| calendar).find(|calendar| calendar.is_primary);
    let time_zone = primary.and_then(|calendar| calendar.time_zone.clone());
    let time_zone = time_zone.or_else(|| connection.time_zone.clone()).or_else(|| calendar.time_zone.clone());
    Ok(CheckedHost { host, can_send, calendar, time_zone, begun })
}

/// The name of a host for invitees if the event type sets none: the account's. An email address is no name: it is not shown to invitees.
// Contract silent: the name of a host without `displayName`. An empty one shows none.
fn default_name(account_name: Option<&str>) -> Option<String> {
    let name = account_name.map(str::trim);
    let is_name = |name: &&str| !name.is_empty() && !name.contains('@') && line("displayName", name).is_ok();
    name.filter(is_name).map(str::to_owned)
}

/// The first `most` missing subscriptions of a host's calendars.
async fn begin(
    app: &App,
    connection: &Connection,
    host: &Host,
    calendars: &[(Item, Calendar)],
    most: usize,
) -> Result<StartedSubscriptions> {
    let mut begun = StartedSubscriptions::default();
    for item in to_follow(host, calendars) {
        let beginning = NewSubscription::for_scope(app, connection, crate::sync::scope::scope(item)?).await?;
        let Some(beginning) = beginning else { continue };
        if begun.calendars.len() >= most {
            begun.has_more = true;
            break;
        }
        begun.calendars.push(beginning);
    }
    Ok(begun)
}

/// The calendars of a host to subscribe to: the one for bookings, and those that make the host busy. A calendar that only shows free/busy
/// has no events.
pub fn to_follow<'c>(host: &Host, calendars: &'c [(Item, Calendar)]) -> Vec<&'c Item> {
    let named = &host.conflict_calendar_ids;
    let is_own = |item: &Item| host.calendar_id.as_ref() == Some(&item.id);
    let makes_busy = |(item, calendar): &&(Item, Calendar)| {
        let counts = match named.is_empty() {
            true => calendar.include_in_availability != IncludeInAvailability::None,
            false => named.contains(&item.id),
        };
        counts && !is_own(item) && calendar.access_role != AccessRole::FreeBusyReader
    };
    // The availability of optional hosts is not checked.
    let others = calendars.iter().filter(|_| host.role != HostRole::Optional).filter(makes_busy);
    let own = calendars.iter().filter(|(item, _)| is_own(item));
    own.chain(others).map(|(item, _)| item).take(MAX_FOLLOWED).collect()
}

fn is_writable(calendar: &Calendar) -> bool {
    !calendar.read_only && matches!(calendar.access_role, AccessRole::Owner | AccessRole::Writer)
}

/// Adds the field that caused an error.
fn of_field(field: &str, e: Error) -> Error {
    match e {
        Error::Refused(refusal) if refusal.code == Code::NotFound => {
            fault(field, "must be a connection that the API key may use")
        }
        other => other.with_param(field),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_lends_its_name_and_never_its_address() {
        assert_eq!(default_name(Some(" Alice Berger ")).as_deref(), Some("Alice Berger"));
        for none in [None, Some(""), Some("alice@example.org"), Some("a\nb")] {
            assert_eq!(default_name(none), None, "{none:?}");
        }
    }

    #[test]
    fn hosts_share_what_is_followed_at_once() {
        assert_eq!([1, 4, 100].map(most_of_host), [200, 50, 2]);
        assert!((1..=100).all(|hosts| most_of_host(hosts) * hosts <= MAX_AT_ONCE));
        assert_eq!([0, 1_000].map(most_of_host), [200, 1]);
    }
}
