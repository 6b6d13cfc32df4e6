//! Limits of a mailbox by surface, where a test sets them: more calls than that in a minute answer 429 with Retry-After.

use std::collections::BTreeMap;

use crate::graph::errors::GraphError;

/// The time in which the calls of a limit are counted, milliseconds.
const WINDOW_MS: i64 = 60_000;

/// The limits, by account and surface.
#[derive(Default)]
pub struct SurfaceLimits(BTreeMap<String, BTreeMap<String, SurfaceLimit>>);

/// A limit, and the calls since the beginning of the current minute.
struct SurfaceLimit {
    calls: usize,
    begins_ms: i64,
    used: usize,
}

impl SurfaceLimits {
    /// Lets an account make this many calls of a surface a minute. Surfaces are those of `GraphAccount::absent`.
    pub fn set(&mut self, user: &str, surface: &str, calls: usize) {
        let limit = SurfaceLimit { calls, begins_ms: i64::MIN, used: 0 };
        self.0.entry(user.to_owned()).or_default().insert(surface.to_owned(), limit);
    }

    /// Takes the limit of a surface away.
    pub fn clear(&mut self, user: &str, surface: &str) {
        if let Some(limits) = self.0.get_mut(user) {
            limits.remove(surface);
        }
    }

    /// Counts a call.
    ///
    /// # Errors
    /// The calls of this minute are used up: 429.
    pub fn count(&mut self, user: &str, surface: &str, now_ms: i64) -> Result<(), GraphError> {
        let Some(limit) = self.0.get_mut(user).and_then(|limits| limits.get_mut(surface)) else {
            return Ok(());
        };
        if now_ms >= limit.begins_ms.saturating_add(WINDOW_MS) {
            limit.begins_ms = now_ms;
            limit.used = 0;
        }
        if limit.used < limit.calls {
            limit.used += 1;
            return Ok(());
        }
        let seconds = (limit.begins_ms + WINDOW_MS - now_ms + 999).div_euclid(1_000);
        let error = GraphError::new(429, "TooManyRequests", "Too many requests.");
        Err(error.header("retry-after", &seconds.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::{SurfaceLimits, WINDOW_MS};

    #[test]
    fn a_surface_has_its_own_calls_a_minute() {
        let mut limits = SurfaceLimits::default();
        limits.set("a", "mail", 2);
        let mut count = |surface: &str, now| limits.count("a", surface, now).map_err(|error| error.status);
        assert_eq!([count("mail", 0), count("mail", 5), count("mail", 9)], [Ok(()), Ok(()), Err(429)]);
        assert_eq!([count("todo", 9), count("mail", WINDOW_MS)], [Ok(()), Ok(())]);
    }
}
