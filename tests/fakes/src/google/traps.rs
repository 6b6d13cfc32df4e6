//! Switches for what integrators of Google's Calendar API stumble over.

use std::collections::BTreeMap;

/// The names of all traps.
pub const TRAPS: [&str; 17] = [
    "empty_page",
    "full_sync_required",
    "updated_min_too_long_ago",
    "html_200",
    "cut_body",
    "rate_limit_exceeded",
    "user_rate_limit_exceeded",
    "queries_per_minute",
    "daily_limit_exceeded",
    "usage_limits",
    "not_a_calendar_user",
    "bare_cancelled",
    "series_last",
    "etag_moves",
    "conference_pending",
    "conference_failure",
    "push_not_supported",
];

/// The traps that are on, each with the number of times that it still goes off.
#[derive(Default)]
pub struct Traps(BTreeMap<&'static str, u32>);

impl Traps {
    /// Switches a trap on for this many times; 0 switches it off.
    ///
    /// # Errors
    /// No trap has this name.
    pub fn set(&mut self, name: &str, times: u32) -> Result<(), String> {
        let known = TRAPS.iter().find(|trap| **trap == name);
        let known =
            known.ok_or_else(|| format!("no trap is called {name}; there are {}", TRAPS.join(", ")))?;
        match times {
            0 => self.0.remove(known),
            times => self.0.insert(*known, times),
        };
        Ok(())
    }

    /// Whether the trap is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Uses the trap once, where it is on.
    pub fn fires(&mut self, name: &str) -> bool {
        let Some(times) = self.0.get_mut(name) else { return false };
        *times = times.saturating_sub(1);
        if *times == 0 {
            self.0.remove(name);
        }
        true
    }
}
