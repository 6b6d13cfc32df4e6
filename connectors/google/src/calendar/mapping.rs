//! Converts Google's events and calendars to the model's, without side effects.

use connector_sdk::Outcome;
use model::calendar::{
    AccessRole, Attendee, AttendeeKind, AttendeeRole, Calendar, ConferenceProvider, Event, EventAttachment,
    EventKind, EventStatus, EventType, IncludeInAvailability, Person, Reminder, ReminderMethod, Reminders,
    ResponseStatus, ShowAs, Visibility,
};
use serde_json::{Map, Value, json};

use crate::calendar::conference::{MEET, conference_from};
use crate::calendar::info::CalendarInfo;
use crate::calendar::native;
use crate::calendar::rules;
use crate::calendar::times::{EventTimes, original_of, times_of};

/// The element names by which a description is recognized as HTML.
const HTML_ELEMENTS: [&str; 22] = [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "div",
    "em",
    "font",
    "h1",
    "h2",
    "h3",
    "html-blob",
    "i",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "table",
    "u",
    "ul",
];

/// Converts an entry of the account's calendar list.
pub fn calendar_from(theirs: &native::CalendarEntry) -> Calendar {
    let access_role = access_from(&theirs.access_role);
    let types = theirs.conference_properties.allowed_conference_solution_types.iter();
    let is_owned = access_role == AccessRole::Owner;
    Calendar {
        name: theirs.summary_override.clone().unwrap_or_else(|| theirs.summary.clone()),
        description: theirs.description.clone(),
        time_zone: theirs.time_zone.clone(),
        color: theirs.background_color.clone(),
        is_primary: theirs.primary,
        is_owned,
        read_only: !matches!(access_role, AccessRole::Owner | AccessRole::Writer),
        access_role,
        location: theirs.location.clone(),
        default_reminders: theirs.default_reminders.iter().map(reminder_from).collect(),
        // Contract silent: whose calendars make the account busy. Other people's calendars that it can see do not.
        include_in_availability: if is_owned {
            IncludeInAvailability::All
        } else {
            IncludeInAvailability::None
        },
        conference_types: types
            .filter(|kind| *kind == MEET)
            .map(|_| ConferenceProvider::GoogleMeet)
            .collect(),
    }
}

/// The members of an entry without a field in the model.
pub fn calendar_data(theirs: &native::CalendarEntry) -> Value {
    let original = theirs.summary_override.as_ref().map(|_| &theirs.summary);
    json!({
        "hidden": theirs.hidden,
        "selected": theirs.selected,
        "dataOwner": theirs.data_owner,
        "summary": original,
    })
}

fn access_from(role: &str) -> AccessRole {
    match role {
        "owner" => AccessRole::Owner,
        "writer" | "writerWithoutPrivateAccess" => AccessRole::Writer,
        "freeBusyReader" => AccessRole::FreeBusyReader,
        _ => AccessRole::Reader,
    }
}

/// Converts an event. Fails if its times cannot be parsed. A cancelled instance may have only its original start.
pub fn event_from(theirs: &native::Event, calendar: &CalendarInfo) -> Outcome<Event> {
    let times = event_times(theirs, calendar)?;
    let original = theirs.original_start_time.as_ref();
    let original = original.map(|at| original_of(at, &theirs.start, &calendar.time_zone)).transpose()?;
    let original = original.filter(|_| theirs.recurring_event_id.is_some());
    let (description, description_html) = description_from(theirs.description.as_deref());
    let event_kind = kind_from(theirs.event_type.as_deref());
    let mut event = Event {
        i_cal_uid: theirs.i_cal_uid.clone(),
        sequence: theirs.sequence,
        event_type: type_from(theirs),
        recurrence_id: original.as_ref().map(|original| original.recurrence_id.clone()),
        original_start: original.map(|original| original.at),
        start: times.start,
        end: times.end,
        time_zone: times.time_zone,
        end_time_zone: times.end_time_zone,
        all_day: times.all_day,
        start_date: times.start_date,
        end_date: times.end_date,
        title: theirs.summary.clone(),
        description,
        description_html,
        location: theirs.location.clone(),
        color: theirs.color_id.as_deref().and_then(|id| calendar.palette.hex(id)).map(str::to_owned),
        html_link: theirs.html_link.clone(),
        status: status_from(theirs.status.as_deref()),
        show_as: show_as_from(theirs.transparency.as_deref(), event_kind),
        visibility: visibility_from(theirs.visibility.as_deref()),
        event_kind,
        read_only: is_read_only(theirs),
        organizer: theirs.organizer.as_ref().map(person_from),
        creator: theirs.creator.as_ref().map(person_from),
        attendees: theirs
            .attendees
            .iter()
            .filter(|guest| !guest.email.is_empty())
            .map(attendee_from)
            .collect(),
        hide_attendees: theirs.guests_can_see_other_guests == Some(false),
        guests_can_modify: theirs.guests_can_modify,
        guests_can_invite: theirs.guests_can_invite_others != Some(false),
        my_response: theirs.self_attendee().map(|guest| response_from(guest.response_status.as_deref())),
        recurrence: rules::lines(&theirs.recurrence),
        conference: conference_from(theirs),
        reminders: theirs.reminders.as_ref().map(reminders_from).unwrap_or_default(),
        attachments: theirs.attachments.iter().map(attachment_from).collect(),
        ..Event::default()
    };
    event.busy = event.derived_busy();
    Ok(event)
}

/// Returns the times of an event, with `unknown_zone` if its zone is not known.
pub fn event_times(theirs: &native::Event, calendar: &CalendarInfo) -> Outcome<EventTimes> {
    match &theirs.original_start_time {
        Some(original) if theirs.start.is_empty() && theirs.is_cancelled() => {
            times_of(original, &native::EventDateTime::default(), &calendar.time_zone)
        }
        _ => times_of(&theirs.start, &theirs.end, &calendar.time_zone),
    }
}

/// The members of an event without a field in the model; none if there are none.
pub fn event_data(theirs: &native::Event) -> Option<Value> {
    let mut data = Map::new();
    let texts = [("createdAt", &theirs.created), ("updatedAt", &theirs.updated)];
    data.extend(texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text.as_ref()?)))));
    let kind = theirs.event_type.as_ref().filter(|kind| *kind != "default");
    data.extend(kind.map(|kind| ("eventType".to_owned(), json!(kind))));
    let members = [
        ("extendedProperties", &theirs.extended_properties),
        ("source", &theirs.source),
        ("workingLocationProperties", &theirs.working_location_properties),
        ("outOfOfficeProperties", &theirs.out_of_office_properties),
        ("focusTimeProperties", &theirs.focus_time_properties),
        ("birthdayProperties", &theirs.birthday_properties),
    ];
    data.extend(members.into_iter().filter_map(|(name, member)| Some((name.to_owned(), member.clone()?))));
    let flags = [
        ("anyoneCanAddSelf", theirs.anyone_can_add_self),
        ("attendeesOmitted", theirs.attendees_omitted),
        ("endTimeUnspecified", theirs.end_time_unspecified),
        ("privateCopy", theirs.private_copy),
        ("locked", theirs.locked),
    ];
    data.extend(
        flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name.to_owned(), json!(true))),
    );
    let companions = theirs.attendees.iter().filter(|guest| guest.additional_guests > 0);
    let companions: Map<String, Value> =
        companions.map(|guest| (guest.email.clone(), json!(guest.additional_guests))).collect();
    if !companions.is_empty() {
        data.insert("additionalGuests".to_owned(), Value::Object(companions));
    }
    (!data.is_empty()).then_some(Value::Object(data))
}

fn type_from(theirs: &native::Event) -> EventType {
    match (&theirs.recurring_event_id, theirs.recurrence.is_empty()) {
        (Some(_), _) => EventType::Exception,
        (None, false) => EventType::Series,
        (None, true) => EventType::Single,
    }
}

/// Whether the event is read-only, such as birthdays and events from Gmail, which Google creates itself.
fn is_read_only(theirs: &native::Event) -> bool {
    theirs.locked || matches!(theirs.event_type.as_deref(), Some("birthday" | "fromGmail"))
}

/// The description as text, and as HTML if it is HTML.
fn description_from(theirs: Option<&str>) -> (Option<String>, Option<String>) {
    match theirs {
        Some(html) if is_html(html) => (Some(mail::html::plain(html)), Some(html.to_owned())),
        text => (text.map(str::to_owned), None),
    }
}

fn is_html(text: &str) -> bool {
    text.split('<').skip(1).any(|tag| {
        let name = tag.trim_start_matches('/');
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
        let known = name.get(..end).is_some_and(|name| HTML_ELEMENTS.contains(&&*name.to_ascii_lowercase()));
        known && tag.contains('>')
    })
}

fn status_from(status: Option<&str>) -> EventStatus {
    match status {
        Some("cancelled") => EventStatus::Cancelled,
        Some("tentative") => EventStatus::Tentative,
        _ => EventStatus::Confirmed,
    }
}

fn kind_from(kind: Option<&str>) -> EventKind {
    match kind {
        Some("outOfOffice") => EventKind::OutOfOffice,
        Some("focusTime") => EventKind::FocusTime,
        Some("workingLocation") => EventKind::WorkingLocation,
        _ => EventKind::Default,
    }
}

/// The state shown to others: Google has only free and busy, the event's kind tells more.
fn show_as_from(transparency: Option<&str>, kind: EventKind) -> ShowAs {
    match (kind, transparency) {
        (EventKind::WorkingLocation, _) => ShowAs::WorkingElsewhere,
        (_, Some("transparent")) => ShowAs::Free,
        (EventKind::OutOfOffice, _) => ShowAs::Oof,
        _ => ShowAs::Busy,
    }
}

fn visibility_from(visibility: Option<&str>) -> Visibility {
    match visibility {
        Some("public") => Visibility::Public,
        Some("private") => Visibility::Private,
        Some("confidential") => Visibility::Confidential,
        _ => Visibility::Default,
    }
}

/// Returns the response status for Google's `responseStatus`.
pub fn response_from(status: Option<&str>) -> ResponseStatus {
    match status {
        Some("accepted") => ResponseStatus::Accepted,
        Some("declined") => ResponseStatus::Declined,
        Some("tentative") => ResponseStatus::Tentative,
        _ => ResponseStatus::NeedsAction,
    }
}

fn person_from(theirs: &native::EventPerson) -> Person {
    Person { email: theirs.email.clone(), name: theirs.display_name.clone(), is_self: theirs.is_self }
}

fn attendee_from(theirs: &native::EventAttendee) -> Attendee {
    Attendee {
        email: theirs.email.clone(),
        name: theirs.display_name.clone(),
        response_status: response_from(theirs.response_status.as_deref()),
        role: if theirs.optional { AttendeeRole::Optional } else { AttendeeRole::Required },
        kind: if theirs.resource { AttendeeKind::Resource } else { AttendeeKind::Individual },
        comment: theirs.comment.clone(),
        is_self: theirs.is_self,
        organizer: theirs.organizer,
    }
}

fn reminders_from(theirs: &native::EventReminders) -> Reminders {
    let overrides = theirs.overrides.iter().map(reminder_from).collect();
    Reminders { use_default: theirs.use_default, overrides }
}

fn reminder_from(theirs: &native::ReminderOverride) -> Reminder {
    let method = if theirs.method == "email" { ReminderMethod::Email } else { ReminderMethod::Popup };
    Reminder { method, minutes_before: theirs.minutes }
}

fn attachment_from(theirs: &native::EventFile) -> EventAttachment {
    EventAttachment {
        title: theirs.title.clone(),
        url: theirs.file_url.clone(),
        mime_type: theirs.mime_type.clone(),
    }
}
