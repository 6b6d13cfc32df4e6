//! Reading a request: body, JSON, forms, etags, and the extractors of handlers.

pub mod body;
pub mod etag;
pub mod extractors;
pub mod fingerprint;
pub mod form;
pub mod json;
pub mod received_body;
pub mod request_id;
pub mod small_body;
pub mod unread_body;
