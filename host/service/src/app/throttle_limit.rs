//! The longest time for which a provider's Retry-After is kept to.

/// The longest that a Retry-After is heeded, ms. A provider that wants more is asked once an hour, which is little, and finds out
/// soon when it meant less.
pub const LONGEST_MS: i64 = 3_600_000;
