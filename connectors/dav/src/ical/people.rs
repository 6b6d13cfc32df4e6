//! Reads and writes ORGANIZER and ATTENDEE.

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;
use model::calendar::{Attendee, AttendeeKind, AttendeeRole, Person, ResponseStatus};

use crate::ical::lines::{line, lines, param, raw_line, set_line, set_param};
use crate::text::without_prefix;

/// The parameter of ATTENDEE with the comment of an attendee's reply.
const COMMENT: &str = "X-RESPONSE-COMMENT";

/// The account's calendar user addresses in lower case.
#[derive(Clone, Debug, Default)]
pub struct Selves(Vec<String>);

impl Selves {
    /// Creates the list from email addresses and calendar user addresses (RFC 6638 section 2.4.1), in any letter case, with or without
    /// `mailto:`.
    pub fn new<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all: Vec<String> =
            addresses.into_iter().map(normal).filter(|address| !address.is_empty()).collect();
        all.sort();
        all.dedup();
        Selves(all)
    }

    pub fn is_self(&self, address: &str) -> bool {
        self.0.binary_search(&normal(address)).is_ok()
    }

    /// The address that the account uses as organizer: its first email address.
    pub fn mail(&self) -> Option<&str> {
        self.0
            .iter()
            .map(String::as_str)
            .find(|address| address.contains('@') && !address.contains(['/', ':']))
    }
}

fn normal(address: &str) -> String {
    let address = address.trim();
    without_prefix(address, "mailto:").unwrap_or(address).to_lowercase()
}

/// The email address of an ATTENDEE or ORGANIZER: the value, or the parameter EMAIL if the value is not an email address (RFC 7986).
pub fn email(line: &IcalLine) -> String {
    let value = line.raw_value_str();
    let value = value.trim();
    match without_prefix(value, "mailto:") {
        Some(email) => email.to_lowercase(),
        None => param(line, "EMAIL").map_or_else(|| value.to_owned(), |email| email.to_lowercase()),
    }
}

fn is_self(line: &IcalLine, selves: &Selves) -> bool {
    selves.is_self(&line.raw_value_str()) || selves.is_self(&email(line))
}

pub fn organizer(event: &IcalCst, selves: &Selves) -> Option<Person> {
    line(event, "ORGANIZER").map(|line| Person {
        email: Some(email(line)).filter(|email| !email.is_empty()),
        name: param(line, "CN"),
        is_self: is_self(line, selves),
    })
}

pub fn attendees(event: &IcalCst, selves: &Selves) -> Vec<Attendee> {
    let organizer = line(event, "ORGANIZER").map(email);
    let read = |line: &IcalLine| {
        let address = email(line);
        Attendee {
            name: param(line, "CN"),
            response_status: response(line),
            role: role(line),
            kind: kind(line),
            comment: param(line, COMMENT),
            is_self: is_self(line, selves),
            organizer: organizer.as_ref() == Some(&address),
            email: address,
        }
    };
    lines(event, "ATTENDEE").map(read).collect()
}

fn word(line: &IcalLine, name: &str) -> String {
    param(line, name).unwrap_or_default().to_ascii_uppercase()
}

fn response(line: &IcalLine) -> ResponseStatus {
    match word(line, "PARTSTAT").as_str() {
        "ACCEPTED" => ResponseStatus::Accepted,
        "DECLINED" => ResponseStatus::Declined,
        "TENTATIVE" => ResponseStatus::Tentative,
        // DELEGATED and unknown values count as no reply.
        _ => ResponseStatus::NeedsAction,
    }
}

fn partstat(response: ResponseStatus) -> &'static str {
    match response {
        ResponseStatus::NeedsAction => "NEEDS-ACTION",
        ResponseStatus::Accepted => "ACCEPTED",
        ResponseStatus::Declined => "DECLINED",
        ResponseStatus::Tentative => "TENTATIVE",
    }
}

fn role(line: &IcalLine) -> AttendeeRole {
    match word(line, "ROLE").as_str() {
        "OPT-PARTICIPANT" => AttendeeRole::Optional,
        "CHAIR" => AttendeeRole::Chair,
        "NON-PARTICIPANT" => AttendeeRole::NonParticipant,
        _ => AttendeeRole::Required,
    }
}

fn role_word(role: AttendeeRole) -> &'static str {
    match role {
        AttendeeRole::Required => "REQ-PARTICIPANT",
        AttendeeRole::Optional => "OPT-PARTICIPANT",
        AttendeeRole::Chair => "CHAIR",
        AttendeeRole::NonParticipant => "NON-PARTICIPANT",
    }
}

fn kind(line: &IcalLine) -> AttendeeKind {
    match word(line, "CUTYPE").as_str() {
        "GROUP" => AttendeeKind::Group,
        "RESOURCE" => AttendeeKind::Resource,
        "ROOM" => AttendeeKind::Room,
        _ => AttendeeKind::Individual,
    }
}

fn kind_word(kind: AttendeeKind) -> &'static str {
    match kind {
        AttendeeKind::Individual => "INDIVIDUAL",
        AttendeeKind::Group => "GROUP",
        AttendeeKind::Resource => "RESOURCE",
        AttendeeKind::Room => "ROOM",
    }
}

/// Returns the comment that the account sent with its last reply.
pub fn own_comment(event: &IcalCst, selves: &Selves) -> Option<String> {
    lines(event, "ATTENDEE").filter(|line| is_self(line, selves)).find_map(|line| param(line, COMMENT))
}

/// Sets the account's reply as attendee, and its comment. Returns false if the account is not invited.
pub fn respond(
    event: &mut IcalCst,
    selves: &Selves,
    response: ResponseStatus,
    comment: Option<&str>,
) -> bool {
    let mut found = false;
    for item in &mut event.items {
        let IcalItem::Prop(line) = item else { continue };
        if line.name.get().eq_ignore_ascii_case("ATTENDEE") && is_self(line, selves) {
            set_param(line, "PARTSTAT", Some(partstat(response)));
            set_param(line, "RSVP", None);
            set_param(line, COMMENT, comment.filter(|comment| !comment.is_empty()));
            found = true;
        }
    }
    found
}

/// Removes the comment of the account's last reply, and keeps the reply. Returns false if there was none.
pub fn forget_own_comment(event: &mut IcalCst, selves: &Selves) -> bool {
    let mut found = false;
    for line in attendees_mut(event).filter(|line| is_self(line, selves)) {
        found |= param(line, COMMENT).is_some();
        set_param(line, COMMENT, None);
    }
    found
}

/// Whether the account organizes the event; true for an event without ORGANIZER.
pub fn organizes(event: &IcalCst, selves: &Selves) -> bool {
    line(event, "ORGANIZER").is_none_or(|line| is_self(line, selves))
}

/// Sets the attendees. Lines of existing attendees are changed only where they differ; others are added or removed.
pub fn set_attendees(event: &mut IcalCst, wanted: &[Attendee]) {
    let mut missing: Vec<&Attendee> =
        wanted.iter().filter(|attendee| !attendee.email.trim().is_empty()).collect();
    event.items.retain_mut(|item| {
        let IcalItem::Prop(line) = item else { return true };
        if !line.name.get().eq_ignore_ascii_case("ATTENDEE") {
            return true;
        }
        // Addresses that are not email addresses are returned as written.
        let address = normal(&email(line));
        let Some(at) = missing.iter().position(|attendee| normal(&attendee.email) == address) else {
            return false;
        };
        align(line, missing.remove(at));
        true
    });
    for attendee in missing {
        let mut line = raw_line("ATTENDEE", &[], &format!("mailto:{}", attendee.email.trim()));
        set_param(&mut line, "CUTYPE", Some(kind_word(attendee.kind)));
        set_param(&mut line, "ROLE", Some(role_word(attendee.role)));
        set_param(&mut line, "PARTSTAT", Some(partstat(attendee.response_status)));
        if attendee.response_status == ResponseStatus::NeedsAction {
            set_param(&mut line, "RSVP", Some("TRUE"));
        }
        set_param(&mut line, "CN", non_blank(attendee.name.as_deref()));
        event.push_line(line);
    }
}

fn align(line: &mut IcalLine, attendee: &Attendee) {
    if response(line) != attendee.response_status {
        set_param(line, "PARTSTAT", Some(partstat(attendee.response_status)));
    }
    if role(line) != attendee.role {
        set_param(line, "ROLE", Some(role_word(attendee.role)));
    }
    if kind(line) != attendee.kind {
        set_param(line, "CUTYPE", Some(kind_word(attendee.kind)));
    }
    set_name(line, attendee.name.as_deref());
}

/// Sets a person's name (CN); none keeps the current one.
fn set_name(line: &mut IcalLine, name: Option<&str>) {
    let name = non_blank(name);
    if name.is_some() && param(line, "CN").as_deref() != name {
        set_param(line, "CN", name);
    }
}

/// A name that is not blank, because some programs treat an empty parameter as an error.
fn non_blank(name: Option<&str>) -> Option<&str> {
    name.filter(|name| !name.trim().is_empty())
}

/// Sets the organizer, which an event with attendees requires (RFC 5545 section 3.8.4.3). If the organizer is unchanged, the line is kept.
pub fn set_organizer(event: &mut IcalCst, address: &str, name: Option<&str>) {
    let known = event.items.iter_mut().find_map(|item| match item {
        IcalItem::Prop(line) if line.name.get().eq_ignore_ascii_case("ORGANIZER") => Some(line),
        _ => None,
    });
    if let Some(line) = known.filter(|line| self::address(line) == normal(address)) {
        set_name(line, name);
        return;
    }
    let mut line = raw_line("ORGANIZER", &[], &format!("mailto:{}", address.trim()));
    set_param(&mut line, "CN", non_blank(name));
    set_line(event, line);
}

/// The people whom the server notifies of changes to an event (RFC 6638 section 7.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotifiedParties {
    /// Whether the account organizes, and the server notifies attendees.
    pub attendees: bool,
    /// Whether the account is invited, and the server notifies the organizer.
    pub organizer: bool,
    /// Whether the account organizes, and there are other attendees.
    pub guests: bool,
}

impl NotifiedParties {
    /// Adds the people of one VEVENT.
    pub fn add(&mut self, event: &IcalCst, selves: &Selves) {
        let mut attendees = lines(event, "ATTENDEE");
        let Some(organizer) = line(event, "ORGANIZER").filter(|line| !is_self(line, selves)) else {
            let is_scheduled = line(event, "ORGANIZER").is_some();
            for guest in attendees.filter(|line| !is_self(line, selves)) {
                self.guests = true;
                self.attendees |= is_scheduled && is_servers(guest);
            }
            return;
        };
        self.organizer |= is_servers(organizer) && attendees.any(|line| is_self(line, selves));
    }
}

/// Whether the server schedules this person, which is the default. False for an unknown SCHEDULE-AGENT.
fn is_servers(line: &IcalLine) -> bool {
    matches!(word(line, "SCHEDULE-AGENT").as_str(), "" | "SERVER")
}

/// The addresses of the attendees whom the server schedules, in order.
pub fn scheduled_addresses<'e>(events: impl IntoIterator<Item = &'e IcalCst<'e>>) -> Vec<String> {
    let of = |event: &'e IcalCst<'e>| lines(event, "ATTENDEE").filter(|line| is_servers(line)).map(address);
    let mut all: Vec<String> = events.into_iter().flat_map(of).collect();
    all.sort();
    all.dedup();
    all
}

fn address(line: &IcalLine) -> String {
    normal(&email(line))
}

/// Makes the server notify all attendees. Only changes lines that a client has marked.
pub fn schedule_by_server(event: &mut IcalCst) {
    for line in attendees_mut(event) {
        if word(line, "SCHEDULE-AGENT") == "CLIENT" {
            set_param(line, "SCHEDULE-AGENT", None);
        }
    }
}

/// Keeps the server from notifying new attendees. Those in `known` (sorted) stay scheduled by the server, because removing them would send
/// them a cancellation (RFC 6638 section 3.2.1.2).
pub fn schedule_new_by_client(event: &mut IcalCst, known: &[String]) {
    for line in attendees_mut(event) {
        if is_servers(line) && known.binary_search(&address(line)).is_err() {
            set_param(line, "SCHEDULE-AGENT", Some("CLIENT"));
        }
    }
}

fn attendees_mut<'e, 'a>(event: &'e mut IcalCst<'a>) -> impl Iterator<Item = &'e mut IcalLine<'a>> {
    event.items.iter_mut().filter_map(|item| match item {
        IcalItem::Prop(line) if line.name.get().eq_ignore_ascii_case("ATTENDEE") => Some(line),
        _ => None,
    })
}
