//! Calendars and events as the journal stores them: the model's resources, and what the provider adds.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use model::Instant;
use model::calendar::{Calendar as CalendarBody, ConferenceProvider, Event as EventBody};
use serde::{Deserialize, Serialize};

use crate::times::stored_zone;

/// A calendar of an account. Exactly one is the primary one, which gets invitations; it cannot be deleted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Calendar {
    pub id: String,
    pub body: CalendarBody,
    /// Whether changed instances of series are separate records: see `apart`.
    pub apart: bool,
    pub created_at: String,
    pub updated_at: String,
}

impl Calendar {
    /// The name of the zone in which days begin.
    pub fn zone_name(&self) -> &str {
        self.body.time_zone.as_deref().unwrap_or("UTC")
    }

    pub fn zone(&self) -> TimeZone {
        stored_zone(self.zone_name())
    }
}

/// A single event, a series with its overrides, or (inside `overrides`) one changed instance. The times of all-day events are dates
/// alone; what depends on the reader or the calendar is added to an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    pub id: String,
    pub body: EventBody,
    /// Changed instances, by original local start (`YYYY-MM-DDTHH:MM:SS`, all-day `YYYY-MM-DD`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, Event>,
    /// The id of the series, in a changed instance that is a separate record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

impl Event {
    pub fn is_series(&self) -> bool {
        !self.body.recurrence.is_empty()
    }

    pub fn is_all_day(&self) -> bool {
        self.body.all_day
    }

    /// RFC 5545 UID: equal on the calendars of everybody invited.
    pub fn uid(&self) -> &str {
        self.body.i_cal_uid.as_deref().unwrap_or_default()
    }

    /// Whether the account organizes the event; an event without an organizer is the account's own.
    pub fn is_organized_by(&self, mail: &str) -> bool {
        self.body.organizer.as_ref().is_none_or(|person| person.email.as_deref() == Some(mail))
    }

    /// The addresses of the attendees.
    pub fn attendees(&self) -> Vec<String> {
        self.body.attendees.iter().map(|attendee| attendee.email.clone()).collect()
    }
}

/// The times of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTimes {
    pub start: Instant,
    pub end: Instant,
    pub time_zone: String,
    pub end_time_zone: Option<String>,
    pub all_day: bool,
    pub start_date: Option<String>,
    pub end_date: Option<String>,
}

/// The base URL of the meetings of a service. None: the provider makes none of this service.
pub fn meeting_address(service: ConferenceProvider) -> Option<&'static str> {
    match service {
        ConferenceProvider::Other => Some("https://meet.sandbox.test"),
        ConferenceProvider::GoogleMeet => Some("https://meet.sandbox.test/meet"),
        ConferenceProvider::Teams => Some("https://meet.sandbox.test/teams"),
        ConferenceProvider::Zoom | ConferenceProvider::Webex => None,
    }
}
