//! Addresses of Google's APIs.

use connector_sdk::Outcome;
use connector_sdk::rest::url::url;

/// The root of the Calendar API, version 3.
const CALENDAR: &str = "https://www.googleapis.com/calendar/v3";
/// The root of the People API, version 1.
const PEOPLE: &str = "https://people.googleapis.com/v1";
/// The root of the Tasks API, version 1.
const TASKS: &str = "https://tasks.googleapis.com/tasks/v1";

/// The account's identity (OpenID Connect Core, section 5.3).
pub const USERINFO: &str = "https://openidconnect.googleapis.com/v1/userinfo";

/// Returns an address of the Calendar API.
pub fn calendar(segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    url(CALENDAR, segments, query)
}

/// Returns the address of a calendar's events, or of something below them.
pub fn events(calendar_id: &str, below: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    calendar(&[&["calendars", calendar_id, "events"], below].concat(), query)
}

/// Returns an address of the People API.
pub fn people(segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    url(PEOPLE, segments, query)
}

/// Returns an address of the Tasks API.
pub fn tasks(segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    url(TASKS, segments, query)
}
