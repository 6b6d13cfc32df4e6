//! A feature, as the connector claims it and as it was seen.

use serde::Serialize;

/// A feature of a surface.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
pub struct Capability {
    /// Its name, as the capabilities have it.
    pub feature: &'static str,
    /// The connector says that it has it.
    pub claimed: bool,
    /// It was seen.
    pub seen: bool,
}
