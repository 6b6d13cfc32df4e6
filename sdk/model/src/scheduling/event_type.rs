//! EventType: a template that people book, with its hosts, rules and questions.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::{Body, Nothing};
use crate::scheduling::Schedule;

pub use crate::scheduling::booking_rules::{
    BookingLimits, BookingNotifications, BookingReminder, BookingWindow, BookingWindowKind,
    CancellationRules, FreeBusyFailure, ReminderChannel, RescheduleRules,
};
pub use crate::scheduling::host::{Assignment, Host, HostRole, RoundRobinStrategy};
pub use crate::scheduling::question::{Question, QuestionKind};

/// A kind of meeting that can be booked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventType {
    /// The last part of the booking page's address, unique within the application: 1 to 64 lower-case letters, digits and hyphens.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Slug"))]
    pub slug: String,
    /// The title that invitees see, one line.
    #[cfg_attr(feature = "schema", schemars(with = "formats::FilledLine", length(min = 1, max = bounds::MAX_LINE)))]
    pub title: String,
    /// The description that invitees see; null for none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_TEXT)))]
    pub description: Option<String>,
    /// Whether the event type can be booked.
    pub active: bool,
    /// Whether clients should leave the event type out of lists. Its booking page works all the same.
    pub hidden: bool,
    /// The color of the booking page, as `#rrggbb`; null for the default.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Color>"))]
    pub color: Option<String>,
    /// The length of a meeting in minutes, 5 to 1,440.
    #[cfg_attr(feature = "schema", schemars(range(min = bounds::scheduling::MIN_DURATION, max = bounds::scheduling::MAX_DURATION)))]
    pub duration_minutes: i64,
    /// Further lengths in minutes that the invitee can choose from, at most 20; empty if there is only `durationMinutes`.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_DURATIONS), inner(range(min = bounds::scheduling::MIN_DURATION, max = bounds::scheduling::MAX_DURATION))))]
    pub duration_options: Vec<i64>,
    /// The minutes from the start of one slot to the next, 5 to 1,440. Null: the length of the meeting.
    #[cfg_attr(feature = "schema", schemars(range(min = bounds::scheduling::MIN_DURATION, max = bounds::scheduling::MAX_DURATION)))]
    pub slot_interval_minutes: Option<i64>,
    /// The minutes from the start of the opening hours to the first slot, 0 to 1,440.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::DAY_MINUTES)))]
    pub slot_offset_minutes: i64,
    /// The minutes before a meeting in which the host must be free as well, 0 to 1,440.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::DAY_MINUTES)))]
    pub buffer_before_minutes: i64,
    /// The minutes after a meeting in which the host must be free as well, 0 to 1,440.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::DAY_MINUTES)))]
    pub buffer_after_minutes: i64,
    /// The minutes in advance that a slot must be booked, up to 366 days.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::YEAR_MINUTES)))]
    pub min_notice_minutes: i64,
    /// The days that can be booked.
    pub booking_window: BookingWindow,
    /// The opening hours, for hosts without their own. Null: each host needs their own, or `scheduleId` is set. A new event type
    /// without any hours is open Monday to Friday from 9:00 to 17:00 in the time zone of its first host.
    pub schedule: Option<Schedule>,
    /// The id of a shared schedule, whose hours are used instead of `schedule`. Null: no shared schedule.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub schedule_id: Option<String>,
    /// The people who can be booked, at most 100, each with a connection of their own.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::scheduling::MAX_HOSTS)))]
    pub hosts: Vec<Host>,
    /// The way in which hosts are chosen for a booking.
    pub assignment: Assignment,
    /// The order in which hosts of the rotation are chosen, if `assignment` is `roundRobin`.
    pub round_robin_strategy: RoundRobinStrategy,
    /// Whether a rescheduled booking keeps its hosts.
    pub reschedule_keeps_host: bool,
    /// The places that invitees can choose from, at most 20; the first one is the default.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_PLACES)))]
    pub locations: Vec<MeetingPlace>,
    /// The limits on the number of bookings.
    pub limits: BookingLimits,
    /// The number of bookings that can share one meeting, 1 to 1,000. Null: each booking is a meeting of its own.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::scheduling::MAX_SEATS)))]
    pub seats_per_slot: Option<i64>,
    /// Whether invitees see how many seats are free.
    pub show_seat_count: bool,
    /// Whether a booking is pending until a host confirms it.
    pub requires_confirmation: bool,
    /// Whether a pending booking blocks its time. A seat in a shared meeting is always reserved.
    pub pending_blocks_slot: bool,
    /// The minutes after which a pending booking expires, up to 366 days; it expires at its start at the latest. Null: at its start.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::YEAR_MINUTES)))]
    pub confirmation_expires_minutes: Option<i64>,
    /// The rules by which invitees can cancel.
    pub cancellation: CancellationRules,
    /// The rules by which invitees can reschedule.
    pub reschedule: RescheduleRules,
    /// The questions to the invitee, at most 50.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_QUESTIONS)))]
    pub questions: Vec<Question>,
    /// The title of the calendar event, one line in which `{invitee}`, `{host}` and `{title}` are replaced. Null: `{title} with
    /// {invitee}`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::OneLine>", length(max = bounds::MAX_LINE)))]
    pub title_template: Option<String>,
    /// The people who are notified of bookings, and the reminders.
    pub notifications: BookingNotifications,
    /// The https URL to which the booking page sends the invitee after booking. Null: the booking page shows the booking.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::HttpsUrl>"))]
    pub success_redirect_url: Option<String>,
    /// The behavior if a host's busy times cannot be read.
    pub free_busy_failure: FreeBusyFailure,
    /// The look of the booking page, and the sites that may embed it.
    pub link: LinkSettings,
}

impl Default for EventType {
    fn default() -> Self {
        EventType {
            slug: String::new(),
            title: String::new(),
            description: None,
            active: true,
            hidden: false,
            color: None,
            duration_minutes: 30,
            duration_options: Vec::new(),
            slot_interval_minutes: None,
            slot_offset_minutes: 0,
            buffer_before_minutes: 0,
            buffer_after_minutes: 0,
            min_notice_minutes: 120,
            booking_window: BookingWindow::default(),
            schedule: None,
            schedule_id: None,
            hosts: Vec::new(),
            assignment: Assignment::default(),
            round_robin_strategy: RoundRobinStrategy::default(),
            reschedule_keeps_host: true,
            locations: Vec::new(),
            limits: BookingLimits::default(),
            seats_per_slot: None,
            show_seat_count: false,
            requires_confirmation: false,
            pending_blocks_slot: true,
            confirmation_expires_minutes: None,
            cancellation: CancellationRules::default(),
            reschedule: RescheduleRules::default(),
            questions: Vec::new(),
            title_template: None,
            notifications: BookingNotifications::default(),
            success_redirect_url: None,
            free_busy_failure: FreeBusyFailure::default(),
            link: LinkSettings::default(),
        }
    }
}

impl Body for EventType {
    // Not "EventType": that is the kind of a calendar event (single, series, ...).
    const NAME: &'static str = "SchedulingEventType";
    const IN_CONNECTION: bool = false;
    const REQUIRED: &'static [&'static str] = &["slug", "title", "durationMinutes", "hosts"];
    type Extra = Nothing;
    type Options = Nothing;
}

/// The look of a booking page, and the sites that may embed it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LinkSettings {
    /// The https URL of a logo; null for none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::HttpsUrl>"))]
    pub logo_url: Option<String>,
    /// The host names of sites that may embed the booking page, at most 50, such as `example.org`; empty for any site.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_DOMAINS), inner(length(min = 1, max = bounds::MAX_LABEL))))]
    pub embed_domains: Vec<String>,
}

/// A place that invitees can choose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MeetingPlace {
    /// The kind of place.
    #[serde(rename = "type")]
    pub kind: MeetingPlaceKind,
    /// The address, phone number or link. Null for kinds that need none, such as a conference that the host's calendar creates; `zoom`
    /// needs a link.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::OneLine>", length(max = bounds::MAX_LINE)))]
    pub value: Option<String>,
}

/// The kind of a meeting place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum MeetingPlaceKind {
    /// An address.
    InPerson,
    /// The invitee calls the host's number.
    PhoneHost,
    /// The host calls the invitee's number.
    PhoneInvitee,
    /// Google Meet.
    GoogleMeet,
    /// Microsoft Teams.
    Teams,
    /// Zoom.
    Zoom,
    /// A link.
    #[default]
    Link,
}
