//! Who answers the connector's requests.

pub mod paper;
