//! The provider's own JSON: calendars, events and their parts. The names differ from Switchboard's model on purpose, as a real
//! provider's do; `connectors/sandbox` maps between the two. The journal stores the same structs, so a field added here is
//! optional.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A calendar of an account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Calendar {
    pub id: String,
    pub title: String,
    pub notes: Option<String>,
    /// IANA name.
    pub zone: String,
    /// `#rrggbb`.
    pub colour: Option<String>,
    /// The account's main calendar, which gets invitations. Exactly one; it cannot be deleted.
    pub main: bool,
    pub mine: bool,
    pub access: Access,
    pub place: Option<String>,
    /// The alerts of events that have `alerts.inherit`.
    pub alerts: Vec<Alert>,
    pub counts_as_busy: CountsAsBusy,
    pub video_services: Vec<VideoService>,
    /// Whether the API refuses all changes in it.
    pub locked: bool,
    /// Whether changed instances of series are separate records: see `apart`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Access {
    #[default]
    Owner,
    Editor,
    Viewer,
    BusyOnly,
}

/// The events that block time in `/busy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CountsAsBusy {
    #[default]
    Everything,
    /// Events that the account hosts, or has answered with yes or maybe.
    WhenAttending,
    Nothing,
}

/// A single event, a series with its overrides, or (inside `overrides`) one changed instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    pub id: String,
    /// RFC 5545 UID: equal on the calendars of everybody invited.
    pub uid: String,
    /// RFC 5545 SEQUENCE: counts changes of time, place or rule.
    pub revision: i64,
    pub when: When,
    pub subject: Option<String>,
    pub body: EventBody,
    pub place: Option<String>,
    pub places: Option<Vec<EventPlace>>,
    pub colour: Option<String>,
    pub state: EventState,
    pub availability: Availability,
    pub privacy: Privacy,
    pub category: Category,
    pub host: Option<Person>,
    pub author: Option<Person>,
    pub guests: Vec<Guest>,
    pub guest_rules: GuestRules,
    pub seats: Option<i64>,
    /// RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. Not empty: it is a series.
    pub repeat: Vec<String>,
    pub video: Option<Video>,
    pub alerts: Alerts,
    pub files: Vec<EventFile>,
    /// Changed instances, by original local start (`YYYY-MM-DDTHH:MM:SS`, all-day `YYYY-MM-DD`).
    pub overrides: BTreeMap<String, Event>,
    /// The id of the series, in a changed instance that is a separate record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The original start, in a changed instance that is a separate record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<Original>,
    pub created_at: String,
    pub updated_at: String,
}

impl Event {
    pub fn is_series(&self) -> bool {
        !self.repeat.is_empty()
    }

    pub fn is_all_day(&self) -> bool {
        self.when.from.day.is_some()
    }
}

/// The original start of a changed instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Original {
    /// Local: `YYYY-MM-DDTHH:MM:SS`, all-day `YYYY-MM-DD`.
    pub local: String,
    pub time: Option<String>,
}

/// From (inclusive) to (exclusive).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct When {
    pub from: Moment,
    pub to: Moment,
}

/// A day (all-day events) or a time. Times are answered with the offset of their zone; they may be sent with any offset, or
/// without one as local time of `zone`. Days are answered with the midnight of the calendar's zone beside them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Moment {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventBody {
    pub text: Option<String>,
    pub html: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventPlace {
    pub label: Option<String>,
    pub street: Option<String>,
    pub link: Option<String>,
    /// `lat,lon`.
    pub lat_lon: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EventState {
    #[default]
    Fixed,
    Draft,
    CalledOff,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Availability {
    #[default]
    Busy,
    Free,
    Maybe,
    Away,
    Elsewhere,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Privacy {
    #[default]
    Inherit,
    Open,
    Private,
    Secret,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Category {
    #[default]
    Regular,
    Away,
    Focus,
    Workplace,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Person {
    pub mail: Option<String>,
    pub label: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Guest {
    pub mail: String,
    pub label: Option<String>,
    pub answer: Answer,
    pub part: GuestPart,
    #[serde(rename = "type")]
    pub guest_type: GuestType,
    pub note: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    #[default]
    None,
    Yes,
    No,
    Maybe,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GuestPart {
    #[default]
    Needed,
    Optional,
    Chair,
    Observer,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GuestType {
    #[default]
    Person,
    Group,
    Resource,
    Room,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GuestRules {
    pub hide_list: bool,
    pub may_edit: bool,
    pub may_invite: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Video {
    pub service: VideoService,
    pub state: VideoState,
    pub url: Option<String>,
    pub code: Option<String>,
    pub secret: Option<String>,
    pub dial_in: Vec<DialIn>,
    pub request_id: Option<String>,
    /// The provider has not made the address yet: see the fault `pendingVideo`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VideoService {
    /// The provider's own: it makes the meeting when there is no `url`.
    #[default]
    SandboxMeet,
    Meet,
    Teams,
    Zoom,
    Webex,
}

impl VideoService {
    /// The base URL of the service's meetings. None: the provider makes none of this service.
    pub fn address(self) -> Option<&'static str> {
        match self {
            VideoService::SandboxMeet => Some("https://meet.sandbox.test"),
            VideoService::Meet => Some("https://meet.sandbox.test/meet"),
            VideoService::Teams => Some("https://meet.sandbox.test/teams"),
            VideoService::Zoom | VideoService::Webex => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VideoState {
    Creating,
    #[default]
    Ready,
    Failed,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DialIn {
    pub number: String,
    pub pin: Option<String>,
    pub country: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Alerts {
    /// The calendar's alerts apply.
    pub inherit: bool,
    pub own: Vec<Alert>,
}

impl Default for Alerts {
    fn default() -> Self {
        Alerts { inherit: true, own: Vec::new() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Alert {
    pub via: AlertVia,
    /// Minutes before the start, 0 to 40,320.
    pub lead_minutes: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AlertVia {
    #[default]
    Screen,
    Mail,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventFile {
    pub label: Option<String>,
    pub url: Option<String>,
    pub media_type: Option<String>,
}
