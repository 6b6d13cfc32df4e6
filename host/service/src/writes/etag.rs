//! If-Match: the version of a resource that a change is based on.

use base::error::{Code, Error, Refusal, Result};
use storage::items::Item;

/// The version of a resource that a change is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedEtag {
    /// No etag was sent, or `*`: the last write wins.
    // Contract, Cross-cutting rules 3: a mutation "should" carry one.
    Anything,
    OneOf(Vec<String>),
}

impl ExpectedEtag {
    /// Refuses a stale etag; the error contains the current one.
    pub fn check(&self, current: &str) -> Result<()> {
        match self {
            ExpectedEtag::OneOf(etags) if !etags.iter().any(|e| e == current) => Err(stale(current)),
            _ => Ok(()),
        }
    }

    /// Returns the provider's version to send as a condition: only if the caller sent ours as one.
    pub fn provider_etag(&self, item: &Item) -> Option<String> {
        match self {
            ExpectedEtag::Anything => None,
            ExpectedEtag::OneOf(_) => item.provider_etag.clone(),
        }
    }
}

/// Returns the error for a change that is based on an old version: 409.
pub fn stale(current: &str) -> Error {
    Refusal::new(
        Code::StaleEtag,
        "the resource has changed since this etag; read it again and repeat the change",
    )
    .param("etag")
    .current_etag(current)
    .into()
}
