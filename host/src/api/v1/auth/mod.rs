//! `/v1/auth`

pub mod connectors;
