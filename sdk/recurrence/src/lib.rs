//! Recurring events: the instances of a series of `model::calendar::Event`, and edits of it. Pure: no clock, no I/O; the same code
//! runs in the host (lists, free/busy, availability) and in connectors (edits of a series).
//!
//! The rule engine is ical-rs (civil time, RFC 5545 §3.3.10); zones are jiff's, from the bundled database only, so that every
//! build answers alike. Around them stand our own bounds: ical-rs never runs further than the requested window.
//!
//! A series is a recurrence set ([`Occurrences`], [`Instances`]) from which instances are taken one by one: those that are not taken are
//! not computed, and the way to the first requested one is a jump, not a walk from the start. What has to be looked at on the way is paid
//! for in steps, so that any question about any rule ends, with an answer or with an error.
//!
//! Decisions where RFC 5545 leaves room or contradicts itself, each with its source:
//!
//! - **Anchor.** A rule is expanded in local time in the zone of the start, hourly rules too (RFC 5545 §3.3.10). A zone that IANA does
//!   not have comes with the event, as its offsets ([`zone_of`], RFC 5545 §3.6.5).
//! - **Overlap** (clocks go back). A local time that happens twice is its first occurrence (§3.3.5).
//! - **Gap** (clocks go forward). §3.3.10 says both that an instance at a nonexistent local time "MUST be ignored and MUST NOT
//!   be counted" and that it "is interpreted in the same manner as an explicit DATE-TIME value", that is, with the offset before
//!   the gap (§3.3.5). Both hold here, each where it can: with `DAILY` or a longer period the day exists and only the time of day
//!   is missing, so the instance moves forward by the gap's length, as RFC 8984 §4.7.1 demands and as the large providers show
//!   it (to drop it would show a busy hour as free). With `HOURLY` or a shorter period the period itself does not exist, and moving
//!   it would double its neighbour, so it is ignored and not counted. The same holds for a whole skipped day (Apia, 2011-12-30).
//!   Two instances that fall on one instant are one.
//! - **DTSTART** is always the first instance and counts, also where the rule does not match it (RFC 8984 §4.3.3; RFC 5545
//!   §3.8.5.3 calls that undefined).
//! - **Sets.** Several RRULEs are the union of all; instances of an EXRULE do not happen (RFC 2445 §4.8.5.2; RFC 5545 has neither, and
//!   events of old clients have both). COUNT is of each rule by itself; DTSTART counts for each RRULE, for an EXRULE where it matches.
//! - **Dates that cannot be read** leave the others of their line and the rules as they are ([`Series::faults`]). A rule that cannot be
//!   read, or names another calendar than the Gregorian (RFC 7529), is an error: see [`possible_span`] for the time of such a series.
//! - **UNTIL** is inclusive. A date with a timed start (seen in the wild, refused on input) means that whole local day.
//! - **All-day series with times.** Other programs name a day by midnight in some zone: a local time is the day that it
//!   writes, an instant the day that begins then ([`named_day`]).
//! - **An exception for all later instances** (RANGE=THISANDFUTURE, RFC 5545 §3.8.4.4): those that have no exception of their own have
//!   its fields, its length and its distance from the original start in local time.
//! - **Length.** Timed: the exact duration, as with DTEND (§3.8.5.3 "the same exact duration"); where the event has a DURATION with days,
//!   "the same nominal duration". All-day: whole days.
//! - **Missing fields** come from the start (§3.3.10), also the weekday of `FREQ=YEARLY;BYWEEKNO=20` (RFC 8984 §4.3.3).

#![deny(missing_docs)]

mod carry;
mod date;
mod duration;
mod edit;
mod error;
mod follow;
mod generated;
mod instances;
mod key;
mod line;
mod occurrence;
mod own_zone;
mod query;
mod retold;
mod rule;
mod series;
mod set;
mod span;
mod suffix;
mod validate;
mod walk;
mod windows;
mod zones;

pub use carry::{CarriedSeries, carried};
pub use date::named_day;
pub use duration::days_and_seconds;
pub use edit::{capped_before, excluded, remainder_from};
pub use error::{Error, Invalid};
pub use instances::{Instance, Instances, Place, Source, exception_suffix, instances, place_of};
pub use occurrence::Occurrence;
pub use own_zone::{zone_by_rules, zone_of};
pub use query::{Caps, Occurrences, expand, first, next_after, occurs_at};
pub use series::{Length, Series, Start};
pub use span::{Span, possible_span};
pub use suffix::{Suffix, instance_suffix, parse_suffix};
pub use validate::validate;
pub use windows::{iana_from_windows, windows_from_iana};
pub use zones::{TZDB_RELEASE, iana_zone, zone};
