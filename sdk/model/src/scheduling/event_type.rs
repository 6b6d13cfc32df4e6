//! EventType: a template that people book, with its hosts, rules and questions.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::resource::{Body, Nothing};
use crate::scheduling::Schedule;

pub use crate::scheduling::question::{Question, QuestionKind};

/// A kind of meeting that can be booked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventType {
    /// `[a-z0-9-]{1,64}`, unique within the application.
    pub slug: String,
    /// The title that invitees see.
    pub title: String,
    /// The description that invitees see.
    pub description: Option<String>,
    /// Whether it can be booked.
    pub active: bool,
    /// A note for clients, which should leave it out of lists; its booking page works all the same.
    pub hidden: bool,
    /// `#rrggbb`.
    pub color: Option<String>,
    /// The length, minutes.
    pub duration_minutes: i64,
    /// Durations that the invitee can choose from; empty: only `durationMinutes`.
    pub duration_options: Vec<i64>,
    /// Step of the slot grid; `durationMinutes` where it is null.
    pub slot_interval_minutes: Option<i64>,
    /// Shifts the slot grid from the window's start.
    pub slot_offset_minutes: i64,
    /// Minutes before a meeting that must be free as well.
    pub buffer_before_minutes: i64,
    /// Minutes after a meeting that must be free as well.
    pub buffer_after_minutes: i64,
    /// Minutes that must lie between the booking and the start.
    pub min_notice_minutes: i64,
    /// The days that can be booked.
    pub booking_window: BookingWindow,
    /// For hosts without their own. A new event type that has no hours at all is open Monday to Friday from 9:00 to 17:00 in the time zone of its
    /// first host.
    pub schedule: Option<Schedule>,
    /// A shared schedule, instead of `schedule`.
    pub schedule_id: Option<String>,
    /// The people who can be booked.
    pub hosts: Vec<Host>,
    /// The way in which hosts are chosen.
    pub assignment: Assignment,
    /// The order in which hosts of the rotation are chosen.
    pub round_robin_strategy: RoundRobinStrategy,
    /// Whether a rescheduled booking keeps its hosts.
    pub reschedule_keeps_host: bool,
    /// The places that invitees can choose from.
    pub locations: Vec<MeetingPlace>,
    /// Limits of the number of bookings.
    pub limits: BookingLimits,
    /// Bookings that share one meeting; null: each booking is a meeting of its own.
    pub seats_per_slot: Option<i64>,
    /// Invitees may know how many seats are free.
    pub show_seat_count: bool,
    /// Whether a booking is pending until a host confirms it.
    pub requires_confirmation: bool,
    /// A pending booking blocks its time. A seat beside others is reserved in any case.
    pub pending_blocks_slot: bool,
    /// Minutes after which a pending booking expires; it expires at its start at the latest.
    pub confirmation_expires_minutes: Option<i64>,
    /// The invitee's right to cancel.
    pub cancellation: CancellationRules,
    /// The invitee's right to reschedule.
    pub reschedule: RescheduleRules,
    /// Questions to the invitee.
    pub questions: Vec<Question>,
    /// Title of the calendar event, with `{invitee}`, `{host}` and `{title}`.
    pub title_template: Option<String>,
    /// The people who are notified.
    pub notifications: BookingNotifications,
    /// The page that the invitee is sent to after booking.
    pub success_redirect_url: Option<String>,
    /// The behavior when busy times cannot be read.
    pub free_busy_failure: FreeBusyFailure,
    /// The look of the booking page, and the sites that may show it.
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

/// How the booking page looks, and which sites may show it inside theirs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LinkSettings {
    /// An https URL.
    pub logo_url: Option<String>,
    /// Host names; empty: any site.
    pub embed_domains: Vec<String>,
}

/// How far ahead can be booked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingWindow {
    /// The kind of window.
    pub kind: BookingWindowKind,
    /// Rolling windows.
    pub days: Option<i64>,
    /// Count Monday to Friday only.
    pub business_days: bool,
    /// Ranges: `YYYY-MM-DD`.
    pub start_date: Option<String>,
    /// Ranges: `YYYY-MM-DD`, the last day.
    pub end_date: Option<String>,
}

/// The kind of a booking window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BookingWindowKind {
    /// The next `days` days.
    Rolling,
    /// From `startDate` to `endDate`.
    Range,
    /// No limit.
    #[default]
    Unlimited,
}

/// A person who can be booked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Host {
    /// The host's connection.
    pub connection_id: String,
    /// The calendar that bookings are written to.
    pub calendar_id: Option<String>,
    /// The calendars that make the host busy, beside the one that bookings are written to; empty: all that count as busy.
    pub conflict_calendar_ids: Vec<String>,
    /// The host's role.
    pub role: HostRole,
    /// Smaller first.
    pub priority: i64,
    /// The share of the rotation where `roundRobinStrategy` is `weighted`; 0: never chosen there.
    pub weight: i64,
    /// The host's own hours; null: those of the event type.
    pub schedule: Option<Schedule>,
    /// Shown to invitees. Null in a new host: the account's name, if it has one. Empty: no name is shown.
    pub display_name: Option<String>,
    /// An https URL; shown to invitees.
    pub avatar_url: Option<String>,
}

/// The role of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum HostRole {
    /// Attends every meeting.
    #[default]
    Required,
    /// Takes turns with others.
    Rotation,
    /// Invited, but their busy times block no slot.
    Optional,
}

/// How hosts are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Assignment {
    /// The required hosts.
    #[default]
    Fixed,
    /// The required hosts and one of the rotation, by `roundRobinStrategy`.
    RoundRobin,
    /// The required hosts and all of the rotation.
    Collective,
    /// The required hosts and the one of the rotation with the smallest `priority` who is free.
    Priority,
}

/// The order in which a rotation chooses hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RoundRobinStrategy {
    /// The host with the fewest bookings.
    #[default]
    LeastLoaded,
    /// Hosts in proportion to their `weight`.
    Weighted,
    /// The host whose last assignment is longest ago.
    Soonest,
}

/// A place that invitees can choose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MeetingPlace {
    /// The kind of place.
    #[serde(rename = "type")]
    pub kind: MeetingPlaceKind,
    /// The address, the number or the link.
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

/// Null: no limit. Periods are those of the schedule's zone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingLimits {
    /// Bookings in a day.
    pub per_day: Option<i64>,
    /// Bookings in a week.
    pub per_week: Option<i64>,
    /// Bookings in a month.
    pub per_month: Option<i64>,
    /// Bookings in a year.
    pub per_year: Option<i64>,
    /// Booked minutes in a day.
    pub minutes_per_day: Option<i64>,
    /// Upcoming bookings of one email address.
    pub active_per_invitee: Option<i64>,
}

/// The invitee's right to cancel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CancellationRules {
    /// Whether the invitee can cancel.
    pub allowed: bool,
    /// Minutes that must lie between now and the start.
    pub min_notice_minutes: i64,
}

impl Default for CancellationRules {
    fn default() -> Self {
        CancellationRules { allowed: true, min_notice_minutes: 0 }
    }
}

/// The invitee's right to reschedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RescheduleRules {
    /// Whether the invitee can reschedule.
    pub allowed: bool,
    /// Minutes that must lie between now and the start.
    pub min_notice_minutes: i64,
    /// How often an invitee can reschedule a booking. Null: 20 times. Keys with `scheduling.write` have no such limit.
    pub max_count: Option<i64>,
}

impl Default for RescheduleRules {
    fn default() -> Self {
        RescheduleRules { allowed: true, min_notice_minutes: 0, max_count: None }
    }
}

/// The people who are notified of a booking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingNotifications {
    /// Whether the invitee is notified.
    pub invitee: bool,
    /// Whether hosts are notified.
    pub hosts: bool,
    /// Reminders before the meeting.
    pub reminders: Vec<BookingReminder>,
    /// The connection that mail is sent from if the organizer's connection cannot send.
    pub connection_id: Option<String>,
}

impl Default for BookingNotifications {
    fn default() -> Self {
        BookingNotifications { invitee: true, hosts: true, reminders: Vec::new(), connection_id: None }
    }
}

/// A reminder before a meeting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingReminder {
    /// Minutes before the start.
    pub minutes_before: i64,
    /// The way in which it is sent.
    pub channel: ReminderChannel,
}

/// The way in which a reminder is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ReminderChannel {
    /// By email.
    #[default]
    Email,
    /// As an event to webhooks.
    Webhook,
}

/// The behavior when busy times cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum FreeBusyFailure {
    /// No slot is offered: 503 `availability_unknown`.
    #[default]
    Closed,
    /// The host counts as free.
    Open,
}
