//! The upper bound of a provider's Retry-After.

/// The longest Retry-After that is respected, ms. A provider that asks for more gets a request an hour, which is little, and recovers early
/// if it meant less.
pub const LONGEST_MS: i64 = 3_600_000;
