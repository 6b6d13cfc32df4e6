//! The rights of an event type, given by the key that saves it. From then on it acts without a key, for every invitee: it reads its hosts'
//! busy times, writes bookings into their calendars, and sends mail from their accounts.

use base::error::{Code, Detail, Refusal, Result};
use model::scheduling::event_type::{BookingNotifications, EventType, Host, HostRole, MeetingPlace};
use serde_json::{Value, json};

use crate::bookings::event_body;
use crate::connections::request_context::RequestContext;

// Contract silent: which scopes the key of an event type needs. `scheduling.write` saves it. `calendar.write` is needed for its hosts:
// their busy times are read (`calendar.freebusy`, which it includes), bookings are written into their calendars, and conferences are made
// there. `email.send` is needed where people are notified by email: for `notifications.connectionId`, for hosts whose accounts may send,
// and to turn notifications on. What a key leaves as it is needs no scope. Bookings need nothing more: they act with what the event type
// was given.
const CALENDARS: &str = "calendar.write";
const MAIL: &str = "email.send";
/// Most fields that one error names.
const MAX_NAMED: usize = 20;

/// A field that needs a scope which the key lacks.
struct ScopeFault {
    field: String,
    scope: &'static str,
}

impl ScopeFault {
    fn of_host(index: usize, scope: &'static str) -> ScopeFault {
        ScopeFault { field: format!("hosts[{index}].connectionId"), scope }
    }

    fn message(&self) -> String {
        let ScopeFault { field, scope } = self;
        let remedy = match *scope {
            MAIL => "; send notifications.invitee and notifications.hosts as false to send no email",
            _ => "",
        };
        format!("{field} needs the scope {scope}, which this API key lacks{remedy}")
    }
}

/// Refuses a new event type that would do more than its key may, as far as its fields show. `given` are its notifications as they were
/// sent.
///
/// # Errors
/// 403 `insufficient_scope`, which names each such field.
pub fn ensure_new(asker: &RequestContext, given: Option<&Value>, body: &EventType) -> Result<()> {
    let mut faults = Vec::new();
    if !asker.holds(CALENDARS) {
        faults.extend((0..body.hosts.len()).map(|index| ScopeFault::of_host(index, CALENDARS)));
    }
    if !asker.holds(MAIL) {
        // Notifications that are on by default are settled when the hosts' accounts are known (`settle_mail`).
        let is_said = |name: &str| given.is_some_and(|given| given[name] == Value::Bool(true));
        let unsaid = BookingNotifications {
            invitee: !is_said("invitee"),
            hosts: !is_said("hosts"),
            ..BookingNotifications::default()
        };
        faults.extend(of_notifications(&unsaid, &body.notifications));
    }
    refuse(&faults)
}

/// Refuses a change with which an event type would do more than the key may.
///
/// # Errors
/// As `ensure_new`.
pub fn ensure_change(asker: &RequestContext, before: &EventType, after: &EventType) -> Result<()> {
    let mut faults = Vec::new();
    if !asker.holds(CALENDARS) {
        faults.extend(changed_hosts(before, after).map(|index| ScopeFault::of_host(index, CALENDARS)));
        let places = new_conferences(before, after);
        faults.extend(places.map(|i| ScopeFault { field: format!("locations[{i}].type"), scope: CALENDARS }));
    }
    if !asker.holds(MAIL) {
        faults.extend(of_notifications(&before.notifications, &after.notifications));
        if tells_by_mail(&after.notifications) {
            faults.extend(new_senders(before, after).map(|index| ScopeFault::of_host(index, MAIL)));
        }
    }
    refuse(&faults)
}

/// Whether a change needs a check of the hosts' accounts: other accounts act, or they create conferences.
pub fn changes_accounts(before: &EventType, after: &EventType) -> bool {
    changed_hosts(before, after).next().is_some() || new_conferences(before, after).next().is_some()
}

/// Settles the notifications of a new event type whose key may not send mail: if none of its hosts' accounts may send, they are turned off,
/// so that they stay off when an account may send later. `senders` are the indices of hosts whose accounts may send. Returns a warning if
/// they were turned off.
///
/// # Errors
/// 403 `insufficient_scope`, which names those hosts.
pub fn settle_mail(asker: &RequestContext, body: &mut EventType, senders: &[usize]) -> Result<Option<Value>> {
    if asker.holds(MAIL) || !tells_by_mail(&body.notifications) {
        return Ok(None);
    }
    let faults: Vec<ScopeFault> = senders.iter().map(|index| ScopeFault::of_host(*index, MAIL)).collect();
    refuse(&faults)?;
    body.notifications.invitee = false;
    body.notifications.hosts = false;
    let message = "no email is sent: this API key lacks the scope email.send, so notifications.invitee and notifications.hosts \
                   are false";
    Ok(Some(json!({
        "code": "notification_unavailable", "message": message, "target": "notifications", "field": "notifications",
    })))
}

/// Whether any notifications by mail are on. Reminders go to the same people.
fn tells_by_mail(notifications: &BookingNotifications) -> bool {
    notifications.invitee || notifications.hosts
}

/// The errors for notifications that are turned on, and for an account that is named for them.
fn of_notifications(was: &BookingNotifications, is: &BookingNotifications) -> Vec<ScopeFault> {
    let is_named = is.connection_id.is_some() && is.connection_id != was.connection_id;
    [
        ("notifications.connectionId", is_named),
        ("notifications.invitee", is.invitee && !was.invitee),
        ("notifications.hosts", is.hosts && !was.hosts),
    ]
    .into_iter()
    .filter(|(_, is_new)| *is_new)
    .map(|(field, _)| ScopeFault { field: field.to_owned(), scope: MAIL })
    .collect()
}

/// The indices of hosts that act differently from every host before: another account, other calendars, or another role.
fn changed_hosts(before: &EventType, after: &EventType) -> impl Iterator<Item = usize> {
    let is_known = move |host: &Host| before.hosts.iter().any(|known| acts_alike(known, host));
    after.hosts.iter().enumerate().filter(move |(_, host)| !is_known(host)).map(|(index, _)| index)
}

fn acts_alike(a: &Host, b: &Host) -> bool {
    a.connection_id == b.connection_id
        && a.role == b.role
        && a.calendar_id == b.calendar_id
        && a.conflict_calendar_ids == b.conflict_calendar_ids
}

/// The indices of hosts who may become organizers, from whose accounts mail is sent, and could not before.
fn new_senders(before: &EventType, after: &EventType) -> impl Iterator<Item = usize> {
    let is_known = move |host: &Host| {
        let mut senders = before.hosts.iter().filter(|known| is_sender(known));
        senders.any(|known| known.connection_id == host.connection_id)
    };
    let hosts = after.hosts.iter().enumerate().filter(|(_, host)| is_sender(host));
    hosts.filter(move |(_, host)| !is_known(host)).map(|(index, _)| index)
}

/// Whether mail can be sent from the host's account.
pub fn is_sender(host: &Host) -> bool {
    host.role != HostRole::Optional
}

/// The indices of locations that are conferences of the hosts' calendars, and were not before.
fn new_conferences(before: &EventType, after: &EventType) -> impl Iterator<Item = usize> {
    let is_new = move |place: &MeetingPlace| is_made(place) && !before.locations.contains(place);
    after.locations.iter().enumerate().filter(move |(_, place)| is_new(place)).map(|(index, _)| index)
}

/// Whether the hosts' calendars create the conference of this location.
fn is_made(place: &MeetingPlace) -> bool {
    place.value.is_none() && event_body::provider_of(place.kind).is_some()
}

fn refuse(faults: &[ScopeFault]) -> Result<()> {
    let Some(first) = faults.first() else { return Ok(()) };
    let code = Code::InsufficientScope;
    let mut refusal = Refusal::new(code, first.message()).param(first.field.clone());
    let detail = |fault: &ScopeFault| Detail { field: fault.field.clone(), code, message: fault.message() };
    refusal.details = faults.iter().take(MAX_NAMED).map(detail).collect();
    Err(refusal.into())
}

#[cfg(test)]
mod tests {
    use base::error::Error;
    use model::scheduling::event_type::MeetingPlaceKind;

    use super::*;
    use crate::connections::request_context::tests::key;

    fn asker(scopes: &[&str]) -> RequestContext {
        RequestContext::for_key(key(scopes, &[]), String::new())
    }

    fn host(id: &str, role: HostRole) -> Host {
        Host { connection_id: id.to_owned(), calendar_id: Some(format!("cal_{id}")), role, ..Host::default() }
    }

    fn event_type(hosts: &[&str]) -> EventType {
        EventType {
            hosts: hosts.iter().map(|id| host(id, HostRole::Required)).collect(),
            ..EventType::default()
        }
    }

    fn mute(mut body: EventType) -> EventType {
        (body.notifications.invitee, body.notifications.hosts) = (false, false);
        body
    }

    /// The fields that an error names, in its order.
    fn fields(done: Result<()>) -> Vec<String> {
        match done {
            Ok(()) => Vec::new(),
            Err(Error::Refused(refusal)) => {
                assert_eq!(refusal.code, Code::InsufficientScope);
                assert_eq!(refusal.param.as_ref(), refusal.details.first().map(|detail| &detail.field));
                refusal.details.into_iter().map(|detail| detail.field).collect()
            }
            Err(e) => panic!("{e}"),
        }
    }

    #[test]
    fn each_field_that_needs_more_than_the_key_has_is_named() {
        let body = event_type(&["conn_1", "conn_2"]);
        let hosts = ["hosts[0].connectionId", "hosts[1].connectionId"];
        assert_eq!(fields(ensure_new(&asker(&["scheduling.write"]), None, &body)), hosts);
        assert_eq!(fields(ensure_new(&asker(&["calendar.read"]), None, &body)), hosts);
        assert!(fields(ensure_new(&asker(&[CALENDARS]), None, &body)).is_empty());
        let loud = json!({ "hosts": true, "invitee": false });
        assert_eq!(fields(ensure_new(&asker(&[CALENDARS]), Some(&loud), &body)), ["notifications.hosts"]);
        assert!(fields(ensure_new(&asker(&[CALENDARS, MAIL]), Some(&loud), &body)).is_empty());
        let many: Vec<String> = (0..50).map(|n| format!("conn_{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(fields(ensure_new(&asker(&[]), None, &event_type(&many))).len(), MAX_NAMED);
    }

    #[test]
    fn a_change_needs_what_it_changes() {
        let (before, calendars) = (event_type(&["conn_1"]), asker(&["scheduling.write", CALENDARS]));
        let weak = asker(&["scheduling.write"]);
        let both = event_type(&["conn_1", "conn_2"]);
        assert_eq!(fields(ensure_change(&weak, &before, &both)), ["hosts[1].connectionId"; 2]);
        assert_eq!(fields(ensure_change(&calendars, &before, &both)), ["hosts[1].connectionId"]);
        assert!(fields(ensure_change(&calendars, &mute(before.clone()), &mute(both.clone()))).is_empty());
        let turned_on = fields(ensure_change(&calendars, &mute(before.clone()), &before));
        assert_eq!(turned_on, ["notifications.invitee", "notifications.hosts"]);
        let mut named = before.clone();
        named.notifications.connection_id = Some("conn_3".to_owned());
        assert_eq!(fields(ensure_change(&calendars, &before, &named)), ["notifications.connectionId"]);
        let mut meets = before.clone();
        let place = |kind, value: Option<&str>| MeetingPlace { kind, value: value.map(str::to_owned) };
        meets.locations =
            vec![place(MeetingPlaceKind::InPerson, Some("Room 1")), place(MeetingPlaceKind::Teams, None)];
        assert_eq!(fields(ensure_change(&weak, &before, &meets)), ["locations[1].type"]);
        assert!(changes_accounts(&before, &meets) && changes_accounts(&before, &both));
    }

    #[test]
    fn what_stays_as_it_is_needs_no_scope() {
        let (weak, before) = (asker(&["scheduling.write"]), event_type(&["conn_1", "conn_2"]));
        let mut after = before.clone();
        after.title = "Another title".to_owned();
        after.hosts.reverse();
        after.hosts[0].display_name = Some("Bob".to_owned());
        after.locations =
            vec![MeetingPlace { kind: MeetingPlaceKind::InPerson, value: Some("Room 2".into()) }];
        assert!(fields(ensure_change(&weak, &before, &after)).is_empty());
        assert!(!changes_accounts(&before, &after));
        let fewer = event_type(&["conn_2"]);
        assert!(
            fields(ensure_change(&weak, &before, &fewer)).is_empty() && !changes_accounts(&before, &fewer)
        );
    }

    #[test]
    fn who_was_invited_alone_may_not_send_yet() {
        let mut before = event_type(&["conn_1"]);
        before.hosts.push(host("conn_2", HostRole::Optional));
        let after = event_type(&["conn_1", "conn_2"]);
        let found = fields(ensure_change(&asker(&[CALENDARS]), &before, &after));
        assert_eq!(found, ["hosts[1].connectionId"]);
        let back = fields(ensure_change(&asker(&[CALENDARS]), &after, &before));
        assert!(back.is_empty());
    }

    #[test]
    fn notifications_that_nobody_can_send_are_off() {
        let (weak, strong) = (asker(&[CALENDARS]), asker(&[CALENDARS, MAIL]));
        let mut body = event_type(&["conn_1", "conn_2"]);
        assert!(matches!(settle_mail(&strong, &mut body, &[0]), Ok(None)) && body.notifications.invitee);
        let refused = settle_mail(&weak, &mut body, &[1]).map(|_| ());
        assert_eq!(fields(refused), ["hosts[1].connectionId"]);
        let warning = settle_mail(&weak, &mut body, &[]).unwrap().expect("a warning");
        assert_eq!(warning["code"], "notification_unavailable");
        assert!(!body.notifications.invitee && !body.notifications.hosts);
        assert!(matches!(settle_mail(&weak, &mut body, &[0]), Ok(None)), "they are off");
    }
}
