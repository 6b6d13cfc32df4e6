//! The Google connector, with the fake of `tests/fakes` as Google, 80 ms away. Baselines are a bare client that makes the same calls in
//! the same run, or figures that Google's limits allow.

pub mod at_once;
mod bare_client;
pub mod calls;
mod content;
pub mod event_sync;
mod fake;
mod host;
pub mod mail_quota;
pub mod mail_sync;
pub mod nothing_new;
mod pressure;
pub mod size;
pub mod throttled;

use std::time::Duration;

/// The delay of a request to the provider and its answer, in total.
const AWAY: Duration = Duration::from_millis(80);
/// The maximum ratio to a bare client.
const MAX_RATIO: f64 = 1.2;
/// Units a minute of a mailbox without a quota.
const NO_LIMIT: u32 = u32::MAX;
