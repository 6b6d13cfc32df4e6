//! Who may call: API keys and their restrictions, OAuth clients, CORS, the rate limit.

pub mod api_key;
pub mod client_auth;
pub mod cors;
pub mod key_lookups;
pub mod key_restrictions;
pub mod rate_limit;
