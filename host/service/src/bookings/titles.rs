//! Titles of bookings from each reader's side: the host reads “Intro with Ada”, Ada reads “Intro with Alice”. Pure.

use model::scheduling::booking::Booking;
use model::scheduling::event_type::EventType;

use crate::locale::Language;

/// The title for hosts, which is also the title of the event in their calendars.
pub fn for_host<'b>(booking: &'b Booking, event_type: &'b EventType) -> &'b str {
    if booking.title.is_empty() { &event_type.title } else { &booking.title }
}

/// The title for the invitee and guests: the event type's with the name of the host. A title from the customer's own template stays as it
/// is, for it can contain both names.
pub fn for_invitee(booking: &Booking, event_type: &EventType, language: Language) -> String {
    let title = &event_type.title;
    let has_template = event_type.title_template.as_deref().is_some_and(|text| !text.trim().is_empty());
    if has_template || title.is_empty() {
        return for_host(booking, event_type).to_owned();
    }
    let Some(host) = host_name(booking, event_type) else { return title.clone() };
    match language {
        Language::English | Language::AmericanEnglish => format!("{title} with {host}"),
        Language::German => format!("{title} mit {host}"),
        Language::Spanish => format!("{title} con {host}"),
        Language::French => format!("{title} avec {host}"),
        Language::Japanese => format!("{title}（{host}）"),
        Language::Arabic => format!("{title} مع {host}"),
    }
}

/// The name of the organizer as the event type shows it to invitees; none if it shows none.
pub fn host_name<'e>(booking: &Booking, event_type: &'e EventType) -> Option<&'e str> {
    name_of(booking.organizer_connection_id.as_deref()?, event_type)
}

/// The name of the only host who can confirm a booking; none if several can, or if the event type shows no name.
pub fn awaited_name<'e>(booking: &Booking, event_type: &'e EventType) -> Option<&'e str> {
    host_name(booking, event_type).filter(|_| booking.host_ids.len() <= 1)
}

/// The name of this host as the event type shows it to invitees; none if it shows none.
pub fn name_of<'e>(connection_id: &str, event_type: &'e EventType) -> Option<&'e str> {
    let host = event_type.hosts.iter().find(|host| host.connection_id == connection_id)?;
    host.display_name.as_deref().filter(|name| !name.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use model::scheduling::event_type::Host;

    use super::*;

    #[test]
    fn each_reader_sees_the_name_of_the_other() {
        let booking = Booking {
            title: "Intro with Ada".to_owned(),
            organizer_connection_id: Some("conn_1".to_owned()),
            ..Booking::default()
        };
        let of = |name: Option<&str>, template: Option<&str>| EventType {
            title: "Intro".to_owned(),
            hosts: vec![Host {
                connection_id: "conn_1".to_owned(),
                display_name: name.map(str::to_owned),
                ..Host::default()
            }],
            title_template: template.map(str::to_owned),
            ..EventType::default()
        };
        let named = of(Some("Alice"), None);
        assert_eq!(for_host(&booking, &named), "Intro with Ada");
        assert_eq!(for_invitee(&booking, &named, Language::English), "Intro with Alice");
        assert_eq!(for_invitee(&booking, &named, Language::German), "Intro mit Alice");
        assert_eq!(for_invitee(&booking, &of(Some(" "), None), Language::English), "Intro");
        let own = of(Some("Alice"), Some("{invitee} and {host}"));
        assert_eq!(for_invitee(&booking, &own, Language::German), "Intro with Ada");
    }
}
