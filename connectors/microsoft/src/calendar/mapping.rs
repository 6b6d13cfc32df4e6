//! Graph's events and calendars as the model's. Pure.

use connector_sdk::Outcome;
use jiff::civil::Date;
use model::calendar::{
    AccessRole, Calendar, ConferenceProvider, Event, EventStatus, EventType, IncludeInAvailability, Location,
    Reminder, ReminderMethod, Reminders, ShowAs, Visibility,
};
use serde_json::{Map, Value, json};

use crate::calendar::body::description_from;
use crate::calendar::colors::color_from;
use crate::calendar::conference::{TEAMS, conference_from};
use crate::calendar::files::attachments_from;
use crate::calendar::info::MailboxInfo;
use crate::calendar::native;
use crate::calendar::patterned::{SeriesStart, rule_from};
use crate::calendar::people::{attendees_from, organizer_from, own_response, present};
use crate::calendar::times::{EventTimes, excluded_lines, original_of, times_of, zone};
use crate::calendar::uid::uid_from;

/// Minutes of a reminder that Graph does not tell.
const DEFAULT_REMINDER_MIN: i64 = 15;

/// Returns a calendar. `is_owned`: it is the account's own.
pub fn calendar_from(theirs: &native::CalendarEntry, mailbox: &MailboxInfo, is_owned: bool) -> Calendar {
    let can_edit = theirs.can_edit != Some(false);
    let access_role = match (is_owned, can_edit) {
        (true, true) => AccessRole::Owner,
        (false, true) => AccessRole::Writer,
        (_, false) => AccessRole::Reader,
    };
    let providers = theirs.allowed_online_meeting_providers.iter().flatten();
    Calendar {
        name: theirs.name.clone().unwrap_or_default(),
        time_zone: Some(mailbox.time_zone.clone()).filter(|zone| !zone.is_empty()),
        color: color_from(theirs.color.as_deref(), theirs.hex_color.as_deref()),
        is_primary: theirs.is_default_calendar == Some(true),
        is_owned,
        read_only: !can_edit,
        access_role,
        // Holidays, birthdays and calendars from the web are there to be looked at.
        include_in_availability: match can_edit {
            true => IncludeInAvailability::All,
            false => IncludeInAvailability::None,
        },
        conference_types: providers
            .filter(|name| *name == TEAMS)
            .map(|_| ConferenceProvider::Teams)
            .take(1)
            .collect(),
        ..Calendar::default()
    }
}

/// Members of a calendar that the model has no field for.
pub fn calendar_data(theirs: &native::CalendarEntry) -> Value {
    let reason = (theirs.can_edit == Some(false)).then_some(
        "Outlook fills this calendar by itself, such as with holidays, birthdays or a subscription from the web",
    );
    json!({
        "color": theirs.color,
        "isRemovable": theirs.is_removable,
        "canShare": theirs.can_share,
        "canViewPrivateItems": theirs.can_view_private_items,
        "defaultOnlineMeetingProvider": theirs.default_online_meeting_provider,
        "readOnlyReason": reason,
    })
}

/// Returns a single event or a series. Fails where its times or its rule cannot be read.
pub fn event_from(theirs: &native::Event, mailbox: &MailboxInfo) -> Outcome<Event> {
    let times = times_of(theirs, &mailbox.time_zone)?;
    let recurrence = recurrence_from(theirs, &times)?;
    let event_type = if recurrence.is_empty() { EventType::Single } else { EventType::Series };
    Ok(whole(theirs, times, mailbox, Event { event_type, recurrence, ..Event::default() }))
}

/// Returns a changed instance of a series. None where Graph does not say which instance it is.
pub fn exception_from(
    theirs: &native::Event,
    series: &native::Event,
    mailbox: &MailboxInfo,
) -> Outcome<Option<Event>> {
    let of_series = times_of(series, &mailbox.time_zone)?;
    let Some(original) = original_of(theirs.original_start.as_deref(), &of_series)? else {
        return Ok(None);
    };
    let place = Event {
        event_type: EventType::Exception,
        recurrence_id: Some(original.recurrence_id),
        original_start: Some(original.at),
        ..Event::default()
    };
    let times = times_of(theirs, &mailbox.time_zone)?;
    // The UID of an instance has its day in it.
    let uid = series.i_cal_u_id.as_deref().map(uid_from);
    Ok(Some(Event { i_cal_uid: uid, ..whole(theirs, times, mailbox, place) }))
}

/// An event with what singles, series and instances share.
fn whole(theirs: &native::Event, times: EventTimes, mailbox: &MailboxInfo, place: Event) -> Event {
    let description = description_from(theirs);
    let attendees = attendees_from(theirs, mailbox);
    let mut event = Event {
        i_cal_uid: theirs.i_cal_u_id.as_deref().map(uid_from),
        start: times.start,
        end: times.end,
        time_zone: times.time_zone,
        end_time_zone: times.end_time_zone,
        all_day: times.all_day,
        start_date: times.start_date,
        end_date: times.end_date,
        title: present(theirs.subject.as_ref()),
        description: description.text,
        description_html: description.html,
        location: theirs.location.as_ref().and_then(|place| present(place.display_name.as_ref())),
        locations: locations_from(theirs),
        html_link: theirs.web_link.clone(),
        status: if theirs.is_cancelled == Some(true) {
            EventStatus::Cancelled
        } else {
            EventStatus::Confirmed
        },
        show_as: show_as_from(theirs.show_as.as_deref()),
        visibility: visibility_from(theirs.sensitivity.as_deref()),
        organizer: organizer_from(theirs),
        my_response: own_response(theirs, &attendees),
        attendees,
        hide_attendees: theirs.hide_attendees == Some(true),
        guests_can_invite: true,
        conference: conference_from(theirs),
        attachments: attachments_from(theirs),
        reminders: reminders_from(theirs),
        ..place
    };
    event.busy = event.derived_busy();
    event
}

/// The rule of a series, and the instances that it does not have.
fn recurrence_from(theirs: &native::Event, times: &EventTimes) -> Outcome<Vec<String>> {
    let Some(recurrence) = theirs.recurrence.as_ref() else { return Ok(Vec::new()) };
    let mut lines = rule_from(recurrence, &series_start(times))?;
    let days: Vec<Date> =
        theirs.cancelled_occurrences.iter().flatten().filter_map(|id| cancelled_day(id)).collect();
    lines.extend(excluded_lines(&days, times));
    Ok(lines)
}

/// Returns the start of a series on its own clock.
pub fn series_start(times: &EventTimes) -> SeriesStart {
    let day = times.start_date.as_deref().and_then(|day| day.parse::<Date>().ok());
    let local = match day.filter(|_| times.all_day) {
        Some(day) => day.to_datetime(jiff::civil::Time::midnight()),
        None => zone(&times.time_zone).to_datetime(times.start.timestamp()),
    };
    SeriesStart { local, is_all_day: times.all_day, zone: times.time_zone.clone() }
}

/// The day at the end of the id of a cancelled instance, `OID.….2026-03-05`: that of its original start, in the series' zone.
pub fn cancelled_day(id: &str) -> Option<Date> {
    let (_, day) = id.rsplit_once('.')?;
    day.parse().ok()
}

/// Members of an event that the model has no field for; none where there are none.
pub fn event_data(theirs: &native::Event) -> Option<Value> {
    let mut data = Map::new();
    let texts = [("createdAt", &theirs.created_date_time), ("updatedAt", &theirs.last_modified_date_time)];
    data.extend(texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text.as_ref()?)))));
    let importance = theirs.importance.as_ref().filter(|importance| *importance != "normal");
    data.extend(importance.map(|importance| ("importance".to_owned(), json!(importance))));
    let categories = theirs.categories.as_ref().filter(|categories| !categories.is_empty());
    data.extend(categories.map(|categories| ("categories".to_owned(), json!(categories))));
    let flags = [
        ("hasAttachments", theirs.has_attachments == Some(true)),
        ("isDraft", theirs.is_draft == Some(true)),
        ("noResponseRequested", theirs.response_requested == Some(false)),
        ("noNewTimeProposals", theirs.allow_new_time_proposals == Some(false)),
    ];
    data.extend(
        flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name.to_owned(), json!(true))),
    );
    (!data.is_empty()).then_some(Value::Object(data))
}

fn show_as_from(show_as: Option<&str>) -> ShowAs {
    match show_as {
        Some("free") => ShowAs::Free,
        Some("tentative") => ShowAs::Tentative,
        Some("oof") => ShowAs::Oof,
        Some("workingElsewhere") => ShowAs::WorkingElsewhere,
        // What is unknown must not look free.
        _ => ShowAs::Busy,
    }
}

fn visibility_from(sensitivity: Option<&str>) -> Visibility {
    match sensitivity {
        Some("private" | "personal") => Visibility::Private,
        Some("confidential") => Visibility::Confidential,
        _ => Visibility::Default,
    }
}

/// Graph has one reminder, or none; there is no default of the calendar.
fn reminders_from(theirs: &native::Event) -> Reminders {
    let minutes_before = theirs.reminder_minutes_before_start.unwrap_or(DEFAULT_REMINDER_MIN);
    let reminder = Reminder { method: ReminderMethod::Popup, minutes_before };
    let is_on = theirs.is_reminder_on == Some(true);
    Reminders { use_default: false, overrides: is_on.then_some(reminder).into_iter().collect() }
}

fn locations_from(theirs: &native::Event) -> Option<Vec<Location>> {
    let places: Vec<Location> = theirs.locations.iter().flatten().filter_map(location_from).collect();
    (!places.is_empty()).then_some(places)
}

fn location_from(theirs: &native::EventPlace) -> Option<Location> {
    let coordinates = theirs.coordinates.as_ref();
    let geo = coordinates.and_then(|at| Some(format!("{},{}", at.latitude?, at.longitude?)));
    let place = Location {
        name: present(theirs.display_name.as_ref()),
        address: theirs.address.as_ref().and_then(address_from),
        uri: present(theirs.location_uri.as_ref()),
        geo,
    };
    (place != Location::default()).then_some(place)
}

fn address_from(theirs: &native::PlaceAddress) -> Option<String> {
    let parts = [&theirs.street, &theirs.postal_code, &theirs.city, &theirs.state, &theirs.country_or_region];
    let parts: Vec<String> = parts.into_iter().filter_map(|part| present(part.as_ref())).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
