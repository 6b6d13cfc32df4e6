//! The calendar surface over CalDAV. One file per concern; this one has their common parts.

pub mod collections;
pub mod events;
pub mod freebusy;
pub mod notify;

use connector_sdk::{Context, Outcome};
use model::wire::calendar::CalendarFeatures;
use model::wire::{Item, ItemError};

use crate::collection;
use crate::collection::{Content, ServiceKind, has_class, list_setting};
use crate::ical::people::Selves;
use crate::ical::read::Reader;
use crate::ical::resource;
use crate::webdav::discovery::CALENDARS;
use crate::webdav::xml::CALDAV;

/// One call: the server, and how its objects are read.
pub type CalendarSession<'a> = collection::Session<'a, Reader>;

impl<'a> CalendarSession<'a> {
    /// `time_zone` is the calendar's, for floating times and all-day events.
    pub fn new(cx: &'a Context<'a>, time_zone: Option<&str>) -> Outcome<Self> {
        CalendarSession::with(cx, Reader::new(selves(cx), time_zone))
    }
}

impl Content for Reader {
    const KIND: ServiceKind = ServiceKind {
        service: CALENDARS,
        data: (CALDAV, "calendar-data"),
        multiget: (CALDAV, "calendar-multiget"),
        media_type: "text/calendar; charset=utf-8",
        suffix: "ics",
        trusts_etag: false,
        collection: "calendar",
        a_collection: "a calendar",
        collections: "calendars",
        item: "event",
        an_item: "an event",
        items: "events",
        uid: "iCalUid",
    };

    fn items(&self, external_id: &str, data: &str) -> Result<Vec<Item>, ItemError> {
        Reader::items(self, external_id, data)
    }

    fn uid(&self, data: &str) -> Option<String> {
        resource::uid(&resource::parse(data).ok()?, "VEVENT")
    }
}

/// Returns the addresses that are "self" among the people of an event or task.
pub fn selves(cx: &Context) -> Selves {
    let given = cx.connection.addresses.iter().map(String::as_str);
    let found = list_setting(cx, "calendarUserAddresses");
    let username = cx.connection.username.as_deref().filter(|name| name.contains('@'));
    Selves::new(given.chain(found).chain(username))
}

/// Returns the server's features, from the settings that `check` found.
pub fn features(cx: &Context) -> CalendarFeatures {
    let scheduling = has_class(cx, "calendar-auto-schedule");
    CalendarFeatures {
        create_calendar: true,
        update_calendar: true,
        delete_calendar: true,
        recurrence: true,
        this_and_following: true,
        attendees: true,
        scheduling,
        rsvp: true,
        conference: Vec::new(),
        reminders: true,
        attachments: true,
        free_busy: true,
        free_busy_by_email: cx.setting("scheduleOutboxUrl").is_some(),
        push: false,
        delta: "syncToken".into(),
    }
}
