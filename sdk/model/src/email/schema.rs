//! Parts of request bodies for their schemas alone, where a request is stricter or may hold more than the type of the same field.

use schemars::JsonSchema;

use crate::bounds;
use crate::formats;

/// An address to send from or to, with its display name.
#[derive(Clone, Debug, JsonSchema)]
pub struct EmailAddressInput {
    /// The display name, such as `Ada Lovelace`; null for none.
    #[schemars(length(max = bounds::mail::MAX_NAME))]
    pub name: Option<formats::OneLine>,
    /// The address, such as `ada@example.com`.
    pub email: formats::MailAddress,
}

/// An address in a draft. It may be unfinished, and is checked when the draft is sent.
#[derive(Clone, Debug, JsonSchema)]
pub struct DraftAddress {
    /// The display name, such as `Ada Lovelace`; null for none.
    #[schemars(length(max = bounds::mail::MAX_NAME))]
    pub name: Option<formats::OneLine>,
    /// The address, such as `ada@example.com`, or the part of it that is known. Required when the draft is sent.
    #[schemars(with = "formats::OneLine", default, length(max = bounds::mail::MAX_NAME))]
    pub email: String,
}

/// A header field of a message to write.
#[derive(Clone, Debug, JsonSchema)]
pub struct EmailHeaderInput {
    /// The name of the field: `X-*`, `List-*` or `Auto-Submitted`.
    pub name: formats::HeaderName,
    /// The value of the field on one line, with a space at least every 900 bytes. Empty if absent.
    #[schemars(with = "formats::OneLine", default, length(max = bounds::mail::MAX_HEADER_VALUE))]
    pub value: String,
}
