//! A feature, as claimed by the connector and as observed.

use serde::Serialize;

/// A feature of a surface.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
pub struct Capability {
    /// The name of the feature in the capabilities.
    pub feature: &'static str,
    /// The connector claims the feature.
    pub claimed: bool,
    /// The feature was observed.
    pub seen: bool,
}
