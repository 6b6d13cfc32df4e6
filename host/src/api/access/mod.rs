//! Access of callers: API keys, OAuth clients, CORS.

pub mod admin_request;
pub mod api_key;
pub mod client_auth;
pub mod cors;
pub mod key_lookups;
