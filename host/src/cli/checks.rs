//! Checks of single settings. Each error names the setting and what it can be.

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};
use service::app::config::Config;

/// Days that the event log can be kept: a month at least, so that a client that was away finds its position again.
const EVENTS_DAYS: RangeInclusive<i64> = 30..=365;

/// The days that the event log is kept.
pub fn events_days(given: Option<i64>) -> Result<i64> {
    let days = given.unwrap_or(Config::default().events_days);
    let (least, most) = (EVENTS_DAYS.start(), EVENTS_DAYS.end());
    ensure!(EVENTS_DAYS.contains(&days), "events_days must be {least} to {most}");
    Ok(days)
}
