//! Handlers that several surfaces share.

pub mod change_feed;
pub mod collection_items;
pub mod collections;
pub mod mail_lists;
