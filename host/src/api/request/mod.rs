//! Reading a request: body, JSON, forms, etags, and the extractors of handlers.

pub mod body;
pub mod body_recorder;
pub mod etag;
pub mod extractors;
pub mod form;
pub mod json;
pub mod query;
pub mod query_names;
pub mod received_body;
