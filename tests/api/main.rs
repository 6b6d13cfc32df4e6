//! The API told by example; the tree is the one of `host/src/api/v1`.

mod sandbox_connector;
mod sandbox_provider;
