//! Who answers the connector's requests.

pub mod notes;
pub mod paper;
