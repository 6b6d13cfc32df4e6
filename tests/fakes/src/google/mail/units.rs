//! Units of quota: each method has its price, and a user has a number of units a minute.

use std::collections::VecDeque;

use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::state::State;

const MINUTE_MS: i64 = 60_000;

/// The units that a user has spent.
pub struct UnitLedger {
    /// Units that the user has in a minute.
    pub limit: u32,
    /// Units of all calls so far.
    pub spent: u64,
    /// Calls that were refused for lack of units.
    pub refused: u32,
    /// Time in Unix milliseconds and price of the calls of the last minute.
    recent: VecDeque<(i64, u32)>,
}

impl UnitLedger {
    pub fn new(limit: u32) -> UnitLedger {
        UnitLedger { limit, spent: 0, refused: 0, recent: VecDeque::new() }
    }

    /// Takes the price of a call. Returns whether there was enough.
    fn take(&mut self, now_ms: i64, price: u32) -> bool {
        self.recent.retain(|(at, _)| now_ms - at < MINUTE_MS);
        let used: u32 = self.recent.iter().map(|(_, price)| *price).sum();
        let is_enough = used.saturating_add(price) <= self.limit;
        match is_enough {
            true => {
                self.recent.push_back((now_ms, price));
                self.spent += u64::from(price);
            }
            false => self.refused += 1,
        }
        is_enough
    }
}

/// Takes the price of a method from what its user has.
///
/// # Errors
/// The minute's units are spent: 429, or 403.
pub fn charge(state: &mut State, user: &str, method: &str) -> Result<(), ApiError> {
    let name = method.strip_prefix("gmail.users.").unwrap_or_default();
    let price = if facts::is_known("mail_units", name) { facts::number("mail_units", name) } else { 5 };
    let now = state.clock.now_ms();
    let Some(mailbox) = state.mail.get_mut(user) else { return Ok(()) };
    if mailbox.units.take(now, u32::try_from(price).unwrap_or(u32::MAX)) {
        return Ok(());
    }
    Err(ApiError::units_spent(if state.traps.fires("units_403") { 403 } else { 429 }))
}
