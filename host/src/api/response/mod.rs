//! Writing a response: the error envelope, stored responses as HTTP, headers of every response.

pub mod error;
pub mod finish;
pub mod oauth_error;
pub mod reply;
