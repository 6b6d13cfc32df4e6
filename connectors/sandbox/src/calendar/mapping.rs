//! The provider's events and calendars to the model and back. Pure.

use connector_sdk::{Failure, Outcome};
use model::calendar::{
    Attendee, Calendar, Conference, ConferencePhone, Event, EventAttachment, Location, Person, Reminder,
    Reminders,
};
use model::wire::{Item, JsonText, Source};
use serde_json::json;

use crate::calendar::native;
use crate::collections::Collection;
use crate::items::{Record, deleted_source, survive, text};

/// The model's calendar. What the provider alone decides comes along.
fn calendar_from(theirs: &native::Calendar) -> Calendar {
    Calendar {
        name: theirs.title.clone(),
        description: theirs.notes.clone(),
        time_zone: theirs.zone.clone(),
        color: theirs.colour.clone(),
        is_primary: theirs.main,
        is_owned: theirs.mine,
        read_only: theirs.locked,
        access_role: theirs.access.into(),
        location: theirs.place.clone(),
        default_reminders: theirs.alerts.iter().map(reminder_from).collect(),
        include_in_availability: theirs.counts_as_busy.into(),
        conference_types: theirs.video_services.iter().map(|s| (*s).into()).collect(),
    }
}

/// The provider's calendar.
fn calendar_to(ours: &Calendar) -> native::Calendar {
    native::Calendar {
        title: ours.name.clone(),
        notes: ours.description.clone(),
        zone: ours.time_zone.clone(),
        colour: ours.color.clone(),
        main: ours.is_primary,
        mine: ours.is_owned,
        locked: ours.read_only,
        access: ours.access_role.into(),
        place: ours.location.clone(),
        alerts: ours.default_reminders.iter().map(reminder_to).collect(),
        counts_as_busy: ours.include_in_availability.into(),
        video_services: ours.conference_types.iter().map(|s| (*s).into()).collect(),
        ..native::Calendar::default()
    }
}

impl Collection for native::Calendar {
    type Ours = Calendar;
    const PATH: &'static str = "calendars";
    const NAME: &'static str = "calendar";
    const PLACES: &'static [(&'static str, &'static str)] = CALENDAR_PLACES;

    fn id(&self) -> &str {
        &self.id
    }

    fn etag(&self) -> Option<String> {
        self.etag.clone()
    }

    fn body(&self) -> Outcome<JsonText> {
        text(&calendar_from(self))
    }

    fn from_model(ours: &Calendar) -> Self {
        calendar_to(ours)
    }
}

/// The model's event. Fails when it has no start or end.
pub fn event_from(theirs: &native::Event) -> Outcome<Event> {
    let (from, to) = (&theirs.when.from, &theirs.when.to);
    let missing = || Failure::unavailable("the provider's event has no start or no end");
    let all_day = from.day.is_some();
    let zone = from.zone.clone().unwrap_or_else(|| "UTC".to_owned());
    let mut event = Event {
        i_cal_uid: theirs.uid.clone(),
        sequence: theirs.revision,
        event_type: theirs.kind.into(),
        recurrence_id: theirs.original.as_ref().map(|o| o.local.clone()),
        original_start: theirs.original.as_ref().and_then(|o| o.time),
        applies_to_following: false,
        start: from.time.ok_or_else(missing)?,
        end: to.time.ok_or_else(missing)?,
        duration: None,
        end_time_zone: to.zone.clone().filter(|end| !all_day && *end != zone),
        time_zone_rules: None,
        time_zone: zone,
        all_day,
        start_date: from.day.clone(),
        end_date: to.day.clone(),
        title: theirs.subject.clone(),
        description: theirs.body.text.clone(),
        description_html: theirs.body.html.clone(),
        location: theirs.place.clone(),
        locations: theirs.places.as_ref().map(|all| all.iter().map(location_from).collect()),
        color: theirs.colour.clone(),
        html_link: theirs.web_link.clone(),
        status: theirs.state.into(),
        show_as: theirs.availability.into(),
        busy: false,
        visibility: theirs.privacy.into(),
        event_kind: theirs.category.into(),
        read_only: theirs.locked,
        organizer: theirs.host.as_ref().map(person_from),
        creator: theirs.author.as_ref().map(person_from),
        attendees: theirs.guests.iter().map(attendee_from).collect(),
        hide_attendees: theirs.guest_rules.hide_list,
        guests_can_modify: theirs.guest_rules.may_edit,
        guests_can_invite: theirs.guest_rules.may_invite,
        capacity: theirs.seats,
        my_response: theirs.my_answer.map(Into::into),
        recurrence: theirs.repeat.clone(),
        conference: theirs.video.as_ref().map(conference_from),
        reminders: Reminders {
            use_default: theirs.alerts.inherit,
            overrides: theirs.alerts.own.iter().map(reminder_from).collect(),
        },
        attachments: theirs.files.iter().map(attachment_from).collect(),
    };
    event.busy = event.derived_busy();
    Ok(event)
}

/// The provider's event.
pub fn event_to(ours: &Event) -> native::Event {
    let zone = Some(ours.time_zone.clone()).filter(|z| !z.is_empty());
    let moment = |day: &Option<String>, time, zone: Option<String>| native::Moment {
        day: if ours.all_day { day.clone() } else { None },
        time: Some(time),
        zone,
    };
    let end_zone = ours.end_time_zone.clone().or_else(|| zone.clone());
    native::Event {
        kind: ours.event_type.into(),
        uid: ours.i_cal_uid.clone(),
        revision: ours.sequence,
        original: ours
            .recurrence_id
            .as_ref()
            .map(|local| native::Original { local: local.clone(), time: ours.original_start }),
        when: native::When {
            from: moment(&ours.start_date, ours.start, zone),
            to: moment(&ours.end_date, ours.end, end_zone),
        },
        subject: ours.title.clone(),
        body: native::Body { text: ours.description.clone(), html: ours.description_html.clone() },
        place: ours.location.clone(),
        places: ours.locations.as_ref().map(|all| all.iter().map(location_to).collect()),
        colour: ours.color.clone(),
        web_link: ours.html_link.clone(),
        state: ours.status.into(),
        availability: ours.show_as.into(),
        privacy: ours.visibility.into(),
        category: ours.event_kind.into(),
        locked: ours.read_only,
        host: ours.organizer.as_ref().map(person_to),
        author: ours.creator.as_ref().map(person_to),
        guests: ours.attendees.iter().map(attendee_to).collect(),
        guest_rules: native::GuestRules {
            hide_list: ours.hide_attendees,
            may_edit: ours.guests_can_modify,
            may_invite: ours.guests_can_invite,
        },
        seats: ours.capacity,
        my_answer: ours.my_response.map(Into::into),
        repeat: ours.recurrence.clone(),
        video: ours.conference.as_ref().map(conference_to),
        alerts: native::Alerts {
            inherit: ours.reminders.use_default,
            own: ours.reminders.overrides.iter().map(reminder_to).collect(),
        },
        files: ours.attachments.iter().map(attachment_to).collect(),
        ..native::Event::default()
    }
}

impl Record for native::Event {
    const PATH: [&'static str; 2] = ["calendars", "events"];
    const NAME: &'static str = "event";

    /// A single event, or a series with its exceptions: one source, as it has one etag. In a calendar whose exceptions are records of their
    /// own each of them is a source too.
    fn source(&self) -> Outcome<Source> {
        if self.deleted {
            return Ok(Source { etag: self.etag.clone(), ..deleted_source(&self.id) });
        }
        survive("event", &self.id, self.subject.as_deref());
        let mut items = vec![event_item(self, self.series.as_deref())?];
        for changed in &self.overrides {
            items.push(event_item(changed, Some(&self.id))?);
        }
        Ok(Source { external_id: self.id.clone(), etag: self.etag.clone(), items, ..Source::default() })
    }
}

fn event_item(theirs: &native::Event, series: Option<&str>) -> Outcome<Item> {
    Ok(Item {
        external_id: theirs.id.clone(),
        series_external_id: series.map(str::to_owned),
        body: text(&event_from(theirs)?)?,
        provider_data: Some(json!({ "createdAt": theirs.created_at, "updatedAt": theirs.updated_at })),
        ..Item::default()
    })
}

/// The model's event fields and where the provider keeps them. Fields that only the provider sets are not here.
pub const EVENT_PLACES: &[(&str, &str)] = &[
    ("iCalUid", "uid"),
    ("start", "when"),
    ("end", "when"),
    ("timeZone", "when"),
    ("endTimeZone", "when"),
    ("allDay", "when"),
    ("startDate", "when"),
    ("endDate", "when"),
    ("title", "subject"),
    ("description", "body.text"),
    ("descriptionHtml", "body.html"),
    ("location", "place"),
    ("locations", "places"),
    ("color", "colour"),
    ("status", "state"),
    ("showAs", "availability"),
    ("visibility", "privacy"),
    ("eventKind", "category"),
    ("attendees", "guests"),
    ("hideAttendees", "guestRules.hideList"),
    ("guestsCanModify", "guestRules.mayEdit"),
    ("guestsCanInvite", "guestRules.mayInvite"),
    ("capacity", "seats"),
    ("recurrence", "repeat"),
    ("conference", "video"),
    ("reminders", "alerts"),
    ("attachments", "files"),
];

/// The same for calendars.
const CALENDAR_PLACES: &[(&str, &str)] = &[
    ("name", "title"),
    ("description", "notes"),
    ("timeZone", "zone"),
    ("color", "colour"),
    ("location", "place"),
    ("defaultReminders", "alerts"),
    ("includeInAvailability", "countsAsBusy"),
    ("conferenceTypes", "videoServices"),
];

fn person_from(theirs: &native::Person) -> Person {
    Person { email: theirs.mail.clone(), name: theirs.label.clone(), is_self: theirs.me }
}

fn person_to(ours: &Person) -> native::Person {
    native::Person { mail: ours.email.clone(), label: ours.name.clone(), me: ours.is_self }
}

fn attendee_from(theirs: &native::Guest) -> Attendee {
    Attendee {
        email: theirs.mail.clone(),
        name: theirs.label.clone(),
        response_status: theirs.answer.into(),
        role: theirs.part.into(),
        kind: theirs.guest_type.into(),
        comment: theirs.note.clone(),
        is_self: theirs.me,
        organizer: theirs.host,
    }
}

fn attendee_to(ours: &Attendee) -> native::Guest {
    native::Guest {
        mail: ours.email.clone(),
        label: ours.name.clone(),
        answer: ours.response_status.into(),
        part: ours.role.into(),
        guest_type: ours.kind.into(),
        note: ours.comment.clone(),
        me: ours.is_self,
        host: ours.organizer,
    }
}

fn location_from(theirs: &native::Place) -> Location {
    Location {
        name: theirs.label.clone(),
        address: theirs.street.clone(),
        uri: theirs.link.clone(),
        geo: theirs.lat_lon.clone(),
    }
}

fn location_to(ours: &Location) -> native::Place {
    native::Place {
        label: ours.name.clone(),
        street: ours.address.clone(),
        link: ours.uri.clone(),
        lat_lon: ours.geo.clone(),
    }
}

fn conference_from(theirs: &native::Video) -> Conference {
    let phone = |theirs: &native::DialIn| ConferencePhone {
        number: theirs.number.clone(),
        pin: theirs.pin.clone(),
        region: theirs.country.clone(),
    };
    Conference {
        provider: theirs.service.into(),
        status: theirs.state.into(),
        join_url: theirs.url.clone(),
        meeting_id: theirs.code.clone(),
        passcode: theirs.secret.clone(),
        phones: theirs.dial_in.iter().map(phone).collect(),
        create_request_id: theirs.request_id.clone(),
    }
}

fn conference_to(ours: &Conference) -> native::Video {
    let dial_in = |ours: &ConferencePhone| native::DialIn {
        number: ours.number.clone(),
        pin: ours.pin.clone(),
        country: ours.region.clone(),
    };
    native::Video {
        service: ours.provider.into(),
        state: ours.status.into(),
        url: ours.join_url.clone(),
        code: ours.meeting_id.clone(),
        secret: ours.passcode.clone(),
        dial_in: ours.phones.iter().map(dial_in).collect(),
        request_id: ours.create_request_id.clone(),
    }
}

fn reminder_from(theirs: &native::Alert) -> Reminder {
    Reminder { method: theirs.via.into(), minutes_before: theirs.lead_minutes }
}

fn reminder_to(ours: &Reminder) -> native::Alert {
    native::Alert { via: ours.method.into(), lead_minutes: ours.minutes_before }
}

fn attachment_from(theirs: &native::EventFile) -> EventAttachment {
    EventAttachment {
        title: theirs.label.clone(),
        url: theirs.url.clone(),
        mime_type: theirs.media_type.clone(),
    }
}

fn attachment_to(ours: &EventAttachment) -> native::EventFile {
    native::EventFile { label: ours.title.clone(), url: ours.url.clone(), media_type: ours.mime_type.clone() }
}
