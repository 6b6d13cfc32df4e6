//! Graph's JSON of calendars and events, the members that are read.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::calendar::patterned::PatternedRecurrence;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$attr])* pub $field: $kind,)+ }
    };
}

object! {
    /// A calendar of the account.
    CalendarEntry {
        id: String,
        #[serde(rename = "@odata.etag")]
        etag: Option<String>,
        change_key: Option<String>,
        name: Option<String>,
        color: Option<String>,
        hex_color: Option<String>,
        is_default_calendar: Option<bool>,
        can_edit: Option<bool>,
        can_share: Option<bool>,
        can_view_private_items: Option<bool>,
        is_removable: Option<bool>,
        owner: Option<EmailAddress>,
        allowed_online_meeting_providers: Option<Vec<String>>,
        default_online_meeting_provider: Option<String>,
    }
}

impl CalendarEntry {
    /// The version of the calendar.
    pub fn version(&self) -> Option<String> {
        version_of(self.etag.as_ref(), self.change_key.as_ref())
    }
}

object! {
    /// A page of the account's calendars.
    CalendarPage {
        value: Vec<CalendarEntry>,
        #[serde(rename = "@odata.nextLink")]
        next_link: Option<String>,
    }
}

/// A page of events, each read for itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct EventPage {
    pub value: Vec<Box<RawValue>>,
    #[serde(rename = "@odata.nextLink")]
    pub next_link: Option<String>,
    #[serde(rename = "@odata.deltaLink")]
    pub delta_link: Option<String>,
}

object! {
    /// The members that identify an event and its place in a series.
    EventName {
        id: String,
        #[serde(rename = "@odata.etag")]
        etag: Option<String>,
        change_key: Option<String>,
        #[serde(rename = "type")]
        kind: Option<String>,
        series_master_id: Option<String>,
        i_cal_u_id: Option<String>,
        /// Only in a delta.
        #[serde(rename = "@removed")]
        removed: Option<Value>,
        is_organizer: Option<bool>,
        transaction_id: Option<String>,
        start: Option<DateTimeTimeZone>,
        original_start: Option<String>,
        attendees: Option<Vec<EventAttendee>>,
    }
}

impl EventName {
    /// The version of the event.
    pub fn version(&self) -> Option<String> {
        version_of(self.etag.as_ref(), self.change_key.as_ref())
    }

    /// Whether it is an instance of a series, which is no event of its own.
    pub fn is_instance(&self) -> bool {
        is_instance_kind(self.kind.as_deref()) || self.series_master_id.is_some()
    }
}

object! {
    /// An event: a single one, a series, or one instance of a series.
    Event {
        id: String,
        #[serde(rename = "@odata.etag")]
        etag: Option<String>,
        change_key: Option<String>,
        #[serde(rename = "type")]
        kind: Option<String>,
        series_master_id: Option<String>,
        i_cal_u_id: Option<String>,
        subject: Option<String>,
        body: Option<EventBody>,
        start: Option<DateTimeTimeZone>,
        end: Option<DateTimeTimeZone>,
        original_start: Option<String>,
        original_start_time_zone: Option<String>,
        original_end_time_zone: Option<String>,
        is_all_day: Option<bool>,
        is_cancelled: Option<bool>,
        is_draft: Option<bool>,
        is_organizer: Option<bool>,
        show_as: Option<String>,
        sensitivity: Option<String>,
        importance: Option<String>,
        categories: Option<Vec<String>>,
        location: Option<EventPlace>,
        locations: Option<Vec<EventPlace>>,
        attendees: Option<Vec<EventAttendee>>,
        hide_attendees: Option<bool>,
        organizer: Option<EventRecipient>,
        response_status: Option<EventResponse>,
        response_requested: Option<bool>,
        allow_new_time_proposals: Option<bool>,
        recurrence: Option<PatternedRecurrence>,
        /// Changed instances; only where they were expanded.
        exception_occurrences: Option<Vec<Event>>,
        /// `OID.….YYYY-MM-DD`; only where they were selected.
        cancelled_occurrences: Option<Vec<String>>,
        is_online_meeting: Option<bool>,
        online_meeting: Option<OnlineMeeting>,
        online_meeting_provider: Option<String>,
        online_meeting_url: Option<String>,
        is_reminder_on: Option<bool>,
        reminder_minutes_before_start: Option<i64>,
        has_attachments: Option<bool>,
        /// None where they were not read: Graph lists them apart.
        attachments: Option<Vec<EventFile>>,
        web_link: Option<String>,
        created_date_time: Option<String>,
        last_modified_date_time: Option<String>,
    }
}

impl Event {
    /// The version of the event.
    pub fn version(&self) -> Option<String> {
        version_of(self.etag.as_ref(), self.change_key.as_ref())
    }

    pub fn is_series(&self) -> bool {
        self.kind.as_deref() == Some("seriesMaster") || self.recurrence.is_some()
    }

    /// Whether it is an instance of a series, which is no event of its own.
    pub fn is_instance(&self) -> bool {
        is_instance_kind(self.kind.as_deref()) || self.series_master_id.is_some()
    }

    pub fn is_organizer(&self) -> bool {
        self.is_organizer != Some(false)
    }

    /// The address at which people join the online meeting.
    pub fn join_url(&self) -> Option<&str> {
        let url = self.online_meeting.as_ref().and_then(|meeting| meeting.join_url.as_deref());
        url.or(self.online_meeting_url.as_deref()).filter(|url| !url.is_empty())
    }

    pub fn guests(&self) -> &[EventAttendee] {
        self.attendees.as_deref().unwrap_or_default()
    }
}

object! {
    /// The attachments of an event.
    AttachmentPage {
        value: Vec<EventFile>,
    }
}

object! {
    /// An attachment of an event: a file, an item of Outlook, or a link.
    EventFile {
        name: Option<String>,
        content_type: Option<String>,
        is_inline: Option<bool>,
    }
}

object! {
    /// A local time and its zone, by a Windows or IANA name.
    DateTimeTimeZone {
        date_time: String,
        time_zone: Option<String>,
    }
}

object! {
    EventBody {
        content_type: Option<String>,
        content: Option<String>,
    }
}

object! {
    EmailAddress {
        name: Option<String>,
        address: Option<String>,
    }
}

object! {
    EventRecipient {
        email_address: Option<EmailAddress>,
    }
}

object! {
    EventResponse {
        response: Option<String>,
        time: Option<String>,
    }
}

object! {
    EventAttendee {
        #[serde(rename = "type")]
        kind: Option<String>,
        status: Option<EventResponse>,
        email_address: Option<EmailAddress>,
    }
}

object! {
    EventPlace {
        display_name: Option<String>,
        location_uri: Option<String>,
        address: Option<PlaceAddress>,
        coordinates: Option<PlaceCoordinates>,
    }
}

object! {
    PlaceAddress {
        street: Option<String>,
        city: Option<String>,
        state: Option<String>,
        country_or_region: Option<String>,
        postal_code: Option<String>,
    }
}

object! {
    PlaceCoordinates {
        latitude: Option<f64>,
        longitude: Option<f64>,
    }
}

object! {
    OnlineMeeting {
        join_url: Option<String>,
        conference_id: Option<String>,
        toll_number: Option<String>,
        toll_free_numbers: Option<Vec<String>>,
        phones: Option<Vec<MeetingPhone>>,
    }
}

object! {
    MeetingPhone {
        number: Option<String>,
    }
}

/// The version of a record: its etag, else the one that follows from its change key.
fn version_of(etag: Option<&String>, change_key: Option<&String>) -> Option<String> {
    etag.cloned().or_else(|| change_key.map(|key| format!("W/\"{key}\"")))
}

fn is_instance_kind(kind: Option<&str>) -> bool {
    matches!(kind, Some("occurrence" | "exception"))
}
