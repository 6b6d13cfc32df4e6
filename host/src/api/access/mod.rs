//! Access of callers: API keys, OAuth clients, CORS.

pub mod api_key;
pub mod client_auth;
pub mod cors;
pub mod key_lookups;
