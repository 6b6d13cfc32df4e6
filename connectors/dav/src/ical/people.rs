//! ORGANIZER and ATTENDEE.

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;
use model::calendar::{Attendee, AttendeeKind, AttendeeRole, Person, ResponseStatus};

use crate::ical::lines::{line, lines, param, raw_line, set_line, set_param};
use crate::text::without_prefix;

/// Who the account is: its addresses as calendar user addresses are written, lower case.
#[derive(Clone, Debug, Default)]
pub struct Selves(Vec<String>);

impl Selves {
    /// Mail addresses and calendar user addresses (RFC 6638 section 2.4.1), in any case, with or without `mailto:`.
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

    /// The address under which the account organizes: its first mail address.
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

/// The mail address of an ATTENDEE or ORGANIZER: the value, or EMAIL where the value is no mail address (RFC 7986).
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
            comment: param(line, "X-RESPONSE-COMMENT"),
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
        // DELEGATED, and what is not known: nobody has answered for this person.
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

/// Sets the answer of the attendee who is the account; false where it is not invited.
pub fn respond(event: &mut IcalCst, selves: &Selves, response: ResponseStatus) -> bool {
    let mut found = false;
    for item in &mut event.items {
        let IcalItem::Prop(line) = item else { continue };
        if line.name.get().eq_ignore_ascii_case("ATTENDEE") && is_self(line, selves) {
            set_param(line, "PARTSTAT", Some(partstat(response)));
            set_param(line, "RSVP", None);
            found = true;
        }
    }
    found
}

/// Whether the account organizes the event; an event without ORGANIZER is everybody's own.
pub fn organizes(event: &IcalCst, selves: &Selves) -> bool {
    line(event, "ORGANIZER").is_none_or(|line| is_self(line, selves))
}

/// Makes the attendees these: known ones keep their line and what is in it, but for what differs; others come and go.
pub fn set_attendees(event: &mut IcalCst, wanted: &[Attendee]) {
    let mut missing: Vec<&Attendee> =
        wanted.iter().filter(|attendee| !attendee.email.trim().is_empty()).collect();
    event.items.retain_mut(|item| {
        let IcalItem::Prop(line) = item else { return true };
        if !line.name.get().eq_ignore_ascii_case("ATTENDEE") {
            return true;
        }
        // Addresses that are none of mail are told as they are written.
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
        set_param(&mut line, "CN", attendee.name.as_deref());
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
    if attendee.name.is_some() && param(line, "CN") != attendee.name {
        set_param(line, "CN", attendee.name.as_deref());
    }
}

/// Names the organizer; scheduling needs one as soon as there are attendees (RFC 5545 section 3.8.4.3).
pub fn set_organizer(event: &mut IcalCst, address: &str, name: Option<&str>) {
    let mut line = raw_line("ORGANIZER", &[], &format!("mailto:{}", address.trim()));
    set_param(&mut line, "CN", name);
    set_line(event, line);
}

/// Whether the server shall tell the attendees (RFC 6638 section 7.1). Only marks that say the opposite are touched.
pub fn set_schedule_agent(event: &mut IcalCst, server: bool) {
    for item in &mut event.items {
        let IcalItem::Prop(line) = item else { continue };
        if !line.name.get().eq_ignore_ascii_case("ATTENDEE") {
            continue;
        }
        match word(line, "SCHEDULE-AGENT").as_str() {
            "CLIENT" if server => set_param(line, "SCHEDULE-AGENT", None),
            "" | "SERVER" if !server => set_param(line, "SCHEDULE-AGENT", Some("CLIENT")),
            _ => {}
        }
    }
}
