//! `/v1/email`

pub mod capabilities;
