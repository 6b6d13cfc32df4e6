//! Google's JSON of calendars and events, the members that are read.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$attr])* pub $field: $kind,)+ }
    };
}

object! {
    /// An entry of the account's list of calendars (`CalendarListEntry`); a calendar itself (`Calendar`) has some of these members.
    CalendarEntry {
        id: String,
        etag: Option<String>,
        summary: String,
        summary_override: Option<String>,
        description: Option<String>,
        location: Option<String>,
        time_zone: Option<String>,
        background_color: Option<String>,
        access_role: String,
        default_reminders: Vec<ReminderOverride>,
        conference_properties: ConferenceProperties,
        primary: bool,
        hidden: bool,
        selected: bool,
        deleted: bool,
        data_owner: Option<String>,
    }
}

object! {
    /// The conferences that events of a calendar can have.
    ConferenceProperties {
        allowed_conference_solution_types: Vec<String>,
    }
}

object! {
    /// A page of the account's calendars.
    CalendarPage {
        items: Vec<CalendarEntry>,
        next_page_token: Option<String>,
    }
}

/// A page of events, each read for itself.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventPage {
    pub items: Vec<Box<RawValue>>,
    /// The calendar's zone.
    pub time_zone: Option<String>,
    pub next_page_token: Option<String>,
    pub next_sync_token: Option<String>,
}

object! {
    /// The members that identify the event and its status.
    EventName {
        id: String,
        etag: Option<String>,
        status: Option<String>,
        recurring_event_id: Option<String>,
    }
}

object! {
    /// An event: a single one, a series, or one changed or cancelled instance of a series.
    Event {
        id: String,
        etag: Option<String>,
        status: Option<String>,
        html_link: Option<String>,
        created: Option<String>,
        updated: Option<String>,
        summary: Option<String>,
        description: Option<String>,
        location: Option<String>,
        color_id: Option<String>,
        creator: Option<EventPerson>,
        organizer: Option<EventPerson>,
        start: EventDateTime,
        end: EventDateTime,
        end_time_unspecified: bool,
        recurrence: Vec<String>,
        recurring_event_id: Option<String>,
        original_start_time: Option<EventDateTime>,
        transparency: Option<String>,
        visibility: Option<String>,
        #[serde(rename = "iCalUID")]
        i_cal_uid: Option<String>,
        sequence: i64,
        attendees: Vec<EventAttendee>,
        attendees_omitted: bool,
        extended_properties: Option<Value>,
        hangout_link: Option<String>,
        conference_data: Option<ConferenceData>,
        anyone_can_add_self: bool,
        /// Default true.
        guests_can_invite_others: Option<bool>,
        guests_can_modify: bool,
        /// Default true.
        guests_can_see_other_guests: Option<bool>,
        private_copy: bool,
        locked: bool,
        reminders: Option<EventReminders>,
        source: Option<Value>,
        attachments: Vec<EventFile>,
        event_type: Option<String>,
        working_location_properties: Option<Value>,
        out_of_office_properties: Option<Value>,
        focus_time_properties: Option<Value>,
        birthday_properties: Option<Value>,
    }
}

impl Event {
    pub fn is_cancelled(&self) -> bool {
        self.status.as_deref() == Some("cancelled")
    }

    /// Whether it is gone. A cancelled instance is not: it says that its series does not take place then.
    pub fn is_deleted(&self) -> bool {
        self.is_cancelled() && self.recurring_event_id.is_none()
    }

    /// The attendee who is the account, under whichever of its addresses.
    pub fn self_attendee(&self) -> Option<&EventAttendee> {
        self.attendees.iter().find(|attendee| attendee.is_self)
    }
}

object! {
    /// A day, or a time with the offset of the calendar's zone, not of `time_zone`.
    EventDateTime {
        date: Option<String>,
        date_time: Option<String>,
        time_zone: Option<String>,
    }
}

impl EventDateTime {
    pub fn is_empty(&self) -> bool {
        self.date.is_none() && self.date_time.is_none()
    }
}

object! {
    EventPerson {
        email: Option<String>,
        display_name: Option<String>,
        #[serde(rename = "self")]
        is_self: bool,
    }
}

object! {
    EventAttendee {
        email: String,
        display_name: Option<String>,
        response_status: Option<String>,
        optional: bool,
        organizer: bool,
        resource: bool,
        #[serde(rename = "self")]
        is_self: bool,
        comment: Option<String>,
        additional_guests: i64,
    }
}

object! {
    EventReminders {
        use_default: bool,
        overrides: Vec<ReminderOverride>,
    }
}

object! {
    ReminderOverride {
        method: String,
        minutes: i64,
    }
}

object! {
    EventFile {
        file_url: Option<String>,
        title: Option<String>,
        mime_type: Option<String>,
    }
}

object! {
    ConferenceData {
        create_request: Option<CreateRequest>,
        entry_points: Vec<EntryPoint>,
        conference_solution: ConferenceSolution,
        conference_id: Option<String>,
    }
}

object! {
    CreateRequest {
        request_id: Option<String>,
        conference_solution_key: SolutionKey,
        status: CreateStatus,
    }
}

object! {
    CreateStatus {
        status_code: Option<String>,
    }
}

object! {
    ConferenceSolution {
        key: SolutionKey,
        name: Option<String>,
    }
}

object! {
    SolutionKey {
        #[serde(rename = "type")]
        kind: Option<String>,
    }
}

object! {
    EntryPoint {
        entry_point_type: String,
        uri: Option<String>,
        label: Option<String>,
        pin: Option<String>,
        access_code: Option<String>,
        meeting_code: Option<String>,
        passcode: Option<String>,
        password: Option<String>,
        region_code: Option<String>,
    }
}
