//! Checks of single settings. Each error names the setting and what it can be.

use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use serde::Deserialize;
use service::app::config::Config;

/// Days that the event log can be kept: a month at least, so that a client that was away finds its position again.
const EVENTS_DAYS: RangeInclusive<i64> = 30..=365;
/// Days that the request log can be kept; 0: nothing is logged.
const REQUEST_LOG_DAYS: RangeInclusive<i64> = 0..=365;
/// Time for which readiness is refused before connections are, so that balancers notice in time.
const DRAIN_DELAY_MS: u64 = 1_000;
/// Draining ends 10 s after the signal; this much of it is left for what is in flight.
const MAX_DRAIN_DELAY_MS: u64 = 5_000;

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    On,
    Off,
}

/// The days that the event log is kept.
pub fn events_days(given: Option<i64>) -> Result<i64> {
    let days = given.unwrap_or(Config::default().events_days);
    let (least, most) = (EVENTS_DAYS.start(), EVENTS_DAYS.end());
    ensure!(EVENTS_DAYS.contains(&days), "events_days must be {least} to {most}");
    Ok(days)
}

/// The days that the request log is kept.
pub fn request_log_days(given: Option<i64>) -> Result<i64> {
    let days = given.unwrap_or(Config::default().request_log_days);
    let (least, most) = (REQUEST_LOG_DAYS.start(), REQUEST_LOG_DAYS.end());
    ensure!(REQUEST_LOG_DAYS.contains(&days), "request_log_days must be {least} to {most}");
    Ok(days)
}

/// The age that the local copy may have when it answers a read, in milliseconds.
pub fn freshness_ms(given: Option<i64>) -> Result<i64> {
    let freshness_ms = given.unwrap_or(Config::default().freshness_ms);
    ensure!(freshness_ms >= 0, "freshness_ms must be 0 or more");
    Ok(freshness_ms)
}

/// The time between two pulls of a followed collection, in milliseconds.
pub fn poll_interval_ms(given: Option<i64>) -> Result<i64> {
    let poll_interval_ms = given.unwrap_or(Config::default().poll_interval_ms);
    ensure!(poll_interval_ms >= 100, "poll_interval_ms must be 100 or more");
    Ok(poll_interval_ms)
}

/// The time for which readiness is refused before connections are.
pub fn drain_delay(given: Option<u64>) -> Result<Duration> {
    let drain_delay_ms = given.unwrap_or(DRAIN_DELAY_MS);
    ensure!(drain_delay_ms <= MAX_DRAIN_DELAY_MS, "drain_delay_ms must be {MAX_DRAIN_DELAY_MS} or less");
    Ok(Duration::from_millis(drain_delay_ms))
}
