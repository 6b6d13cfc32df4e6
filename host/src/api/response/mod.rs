//! Writing a response: the error envelope, stored responses as HTTP, headers of every response.

pub mod doc_links;
pub mod error;
pub mod facts;
pub mod finish;
pub mod oauth_error;
pub mod refused_head;
pub mod reply;
pub mod request_log;
