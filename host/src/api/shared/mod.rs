//! Handlers that several surfaces share.

pub mod change_feed;
pub mod collection_items;
pub mod collections;
pub mod event_filter;
pub mod installation_health;
pub mod key_revocation;
pub mod mail_lists;
pub mod operator_rights;
