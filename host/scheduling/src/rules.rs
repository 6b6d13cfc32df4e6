//! The input of the slot engine: the rules of an event type, its hosts with their times, and its existing meetings. All times are
//! milliseconds since 1970, all lengths milliseconds.

use jiff::civil::Date;
use model::bounds::scheduling::MAX_WINDOW_DAYS;
pub use model::scheduling::event_type::{Assignment, HostRole as Role, RoundRobinStrategy as Strategy};
use model::scheduling::event_type::{BookingLimits, BookingWindow, BookingWindowKind};

use crate::hours::{Fault, FaultKind, Zone, date};
use crate::interval::{Interval, Intervals};
use crate::week_plan::WeekPlan;

/// The complete input of one decision. The same question always has the same answer.
#[derive(Clone, Debug)]
pub struct Question {
    /// The range in which slots may begin. A start outside is refused: calendars were not read for it.
    pub range: Interval,
    pub now_ms: i64,
    pub rules: Rules,
    /// Hosts of the event type, each once.
    pub hosts: Vec<HostTimes>,
    /// Meetings of this event type: those in `range`, and those in each period that a limit counts.
    pub meetings: Vec<BookedMeeting>,
    /// Upcoming bookings of the invitee; none: slots are only listed, and the limit is not checked.
    pub invitee_active: Option<u32>,
    /// The meeting that is rescheduled, which is ignored. Only set if no other booking shares the meeting.
    pub moved: Option<String>,
    /// The only hosts that the rotation may choose. Required hosts are in every meeting, listed or not.
    pub only_hosts: Option<Vec<String>>,
}

/// The rules of an event type, with the requested duration.
#[derive(Clone, Debug)]
pub struct Rules {
    /// More than 0.
    pub duration_ms: i64,
    /// Distance between two points of the grid; more than 0.
    pub step_ms: i64,
    /// From the start of a window to the first point of its grid.
    pub offset_ms: i64,
    /// Time kept free of other meetings and of busy times; need not be open.
    pub buffer_before_ms: i64,
    pub buffer_after_ms: i64,
    /// Minimum notice: from now to the first bookable start.
    pub notice_ms: i64,
    pub window: Window,
    pub limits: Limits,
    /// Seats of a new meeting; 1: each booking is a separate meeting.
    pub seats: u32,
    pub assignment: Assignment,
    /// The strategy that chooses one of the rotation.
    pub strategy: Strategy,
    /// The zone in which days, weeks, months and years are counted.
    pub zone: Zone,
    /// Open hours of hosts without a plan of their own. A host without either is never open.
    pub plan: Option<WeekPlan>,
    /// Whether a host with unknown busy times is free except for reserved meetings; otherwise never free.
    pub unknown_is_free: bool,
}

/// The bookable dates, by the local date of the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Window {
    Unlimited,
    /// Up to this number of days after today.
    Rolling {
        days: i64,
        /// Whether only Monday to Friday are counted; weekends before the last day can be booked too.
        business_days: bool,
    },
    /// From one date to another, both inclusive; none: no limit on that side.
    Range {
        first: Option<Date>,
        last: Option<Date>,
    },
}

impl Window {
    /// Parses the booking window of an event type. A fault names the field inside it.
    pub fn read(window: &BookingWindow) -> Result<Window, Fault> {
        match window.kind {
            BookingWindowKind::Unlimited => Ok(Window::Unlimited),
            BookingWindowKind::Rolling => match window.days {
                Some(days) if (0..=MAX_WINDOW_DAYS).contains(&days) => {
                    Ok(Window::Rolling { days, business_days: window.business_days })
                }
                Some(_) => Err(invalid("days", format!("days must be from 0 to {MAX_WINDOW_DAYS}"))),
                None => {
                    let message = "days is required where the kind is rolling".to_owned();
                    Err(Fault { field: "days".into(), kind: FaultKind::Missing, message })
                }
            },
            BookingWindowKind::Range => {
                let first = range_date("startDate", window.start_date.as_deref())?;
                let last = range_date("endDate", window.end_date.as_deref())?;
                if first.zip(last).is_some_and(|(first, last)| last < first) {
                    return Err(invalid("endDate", "endDate must not be before startDate".into()));
                }
                Ok(Window::Range { first, last })
            }
        }
    }
}

/// Maximum meetings of the event type in a period of the zone, and maximum upcoming bookings of an invitee.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub per_day: Option<u32>,
    /// ISO weeks, which begin on Monday.
    pub per_week: Option<u32>,
    pub per_month: Option<u32>,
    pub per_year: Option<u32>,
    pub minutes_per_day: Option<u32>,
    pub active_per_invitee: Option<u32>,
}

impl Limits {
    /// Parses the limits of an event type. A fault names the field inside them.
    pub fn read(limits: &BookingLimits) -> Result<Limits, Fault> {
        Ok(Limits {
            per_day: limit("perDay", limits.per_day)?,
            per_week: limit("perWeek", limits.per_week)?,
            per_month: limit("perMonth", limits.per_month)?,
            per_year: limit("perYear", limits.per_year)?,
            minutes_per_day: limit("minutesPerDay", limits.minutes_per_day)?,
            active_per_invitee: limit("activePerInvitee", limits.active_per_invitee)?,
        })
    }
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitKind {
    PerDay,
    PerWeek,
    PerMonth,
    PerYear,
    MinutesPerDay,
    ActivePerInvitee,
}

/// A host with its times.
#[derive(Clone, Debug)]
pub struct HostTimes {
    /// The host's connection.
    pub id: String,
    pub role: Role,
    /// Smaller numbers are chosen first.
    pub priority: i64,
    /// Relative share of the rotation; a host with 0 is never chosen by the weighted strategy.
    pub weight: u32,
    /// Open hours; none: the event type's.
    pub plan: Option<WeekPlan>,
    /// Busy times from the host's calendars, without meetings in `reserved`; none: unknown. They extend beyond the range by the duration
    /// and the buffers.
    pub busy: Option<Intervals>,
    /// Meetings of any event type that reserve the host's time.
    pub reserved: Vec<HostReservation>,
    /// Meetings of this event type assigned to the host in the period over which the rotation balances.
    pub load: u32,
    /// The time of the host's last assignment; 0: never.
    pub last_assigned_ms: i64,
}

/// A meeting that reserves a host's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostReservation {
    pub meeting: String,
    /// The meeting without buffers.
    pub core: Interval,
    /// The meeting with its own buffers.
    pub padded: Interval,
}

/// A meeting of this event type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookedMeeting {
    pub meeting: String,
    pub core: Interval,
    /// Organizer first.
    pub hosts: Vec<String>,
    pub seats: u32,
    pub seats_taken: u32,
}

fn invalid(field: &str, message: String) -> Fault {
    Fault { field: field.into(), kind: FaultKind::Invalid, message }
}

fn range_date(field: &str, text: Option<&str>) -> Result<Option<Date>, Fault> {
    let read = |text: &str| {
        date(text).ok_or_else(|| invalid(field, format!("{text:?} is not a date, such as 2026-12-24")))
    };
    text.map(read).transpose()
}

fn limit(field: &str, value: Option<i64>) -> Result<Option<u32>, Fault> {
    let read = |value: i64| {
        let whole = u32::try_from(value).ok().filter(|v| *v > 0);
        whole.ok_or_else(|| invalid(field, format!("{field} must be from 1 to {}", u32::MAX)))
    };
    value.map(read).transpose()
}
