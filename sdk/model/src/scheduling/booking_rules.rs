//! The rules of an event type: booking window, limits, cancelling, rescheduling, notifications.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;

/// The days that can be booked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingWindow {
    /// The kind of window, which decides which of the other fields count.
    pub kind: BookingWindowKind,
    /// The number of days from today, 0 to 3,650. Required for `rolling`, unused otherwise.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::scheduling::MAX_WINDOW_DAYS)))]
    pub days: Option<i64>,
    /// Whether only Monday to Friday are counted in `days`.
    pub business_days: bool,
    /// The first day that can be booked, `YYYY-MM-DD`, for `range`. Null: no first day.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::AnyDate>"))]
    pub start_date: Option<String>,
    /// The last day that can be booked, `YYYY-MM-DD`, for `range`. Null: no last day.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::AnyDate>"))]
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

/// The limits on the number of bookings, in days, weeks, months and years of the schedule's time zone. Null: no limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingLimits {
    /// The most bookings that start on one day; null for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = u32::MAX)))]
    pub per_day: Option<i64>,
    /// The most bookings that start in one week, which begins on Monday; null for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = u32::MAX)))]
    pub per_week: Option<i64>,
    /// The most bookings that start in one month; null for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = u32::MAX)))]
    pub per_month: Option<i64>,
    /// The most bookings that start in one year; null for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = u32::MAX)))]
    pub per_year: Option<i64>,
    /// The most booked minutes on one day; null for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = u32::MAX)))]
    pub minutes_per_day: Option<i64>,
    /// The most upcoming bookings of one email address; null for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = u32::MAX)))]
    pub active_per_invitee: Option<i64>,
}

/// The rules by which an invitee can cancel a booking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CancellationRules {
    /// Whether the invitee can cancel.
    pub allowed: bool,
    /// The minutes before the start until which the invitee can cancel, up to 366 days.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::YEAR_MINUTES)))]
    pub min_notice_minutes: i64,
}

impl Default for CancellationRules {
    fn default() -> Self {
        CancellationRules { allowed: true, min_notice_minutes: 0 }
    }
}

/// The rules by which an invitee can reschedule a booking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RescheduleRules {
    /// Whether the invitee can reschedule.
    pub allowed: bool,
    /// The minutes before the start until which the invitee can reschedule, up to 366 days.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::YEAR_MINUTES)))]
    pub min_notice_minutes: i64,
    /// The number of times that an invitee can reschedule a booking, 0 to 1,000. Null: 20 times. Keys with `scheduling.write` have no
    /// such limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::scheduling::MAX_RESCHEDULES)))]
    pub max_count: Option<i64>,
}

impl Default for RescheduleRules {
    fn default() -> Self {
        RescheduleRules { allowed: true, min_notice_minutes: 0, max_count: None }
    }
}

/// The people who are notified of a booking, and the reminders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingNotifications {
    /// Whether the invitee and guests are sent messages.
    pub invitee: bool,
    /// Whether hosts are sent messages.
    pub hosts: bool,
    /// The reminders before a meeting, at most 10.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_REMINDERS)))]
    pub reminders: Vec<BookingReminder>,
    /// The connection that sends email if the organizer's connection cannot. Null: none, so that no email is sent in that case.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
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
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["minutesBefore"])))]
pub struct BookingReminder {
    /// The minutes before the start at which the reminder is sent, up to 366 days.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::YEAR_MINUTES)))]
    pub minutes_before: i64,
    /// The way in which the reminder is sent.
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
