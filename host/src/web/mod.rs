//! HTTP parts that the API, the booking page and the administration panel share: budgets, small bodies, forms, request ids, claims, errors.

pub mod assets;
pub mod client_ip;
pub mod csp;
pub mod cursor;
pub mod error;
pub mod fingerprint;
pub mod form;
pub mod idempotency;
pub mod multipart;
pub mod rate_limit;
pub mod request_id;
pub mod same_site;
pub mod small_body;
pub mod unread_body;
