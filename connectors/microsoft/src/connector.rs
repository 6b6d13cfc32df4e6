//! The type that the surfaces implement their traits for.

/// The connector.
pub struct Microsoft;
