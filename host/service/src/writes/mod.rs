//! Writes of this service: the provider is called, its answer is upserted and reconciled with the changes that a pull stored in between,
//! and the response is stored with it.

pub mod conflict;
pub mod etag;
pub mod item_response;
pub mod mail;
pub mod open_collection;
pub mod part_response;
pub mod provider_records;
pub mod reconcile;
mod reread;
pub mod response;
pub mod store_read;
pub mod view;
