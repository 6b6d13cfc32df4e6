//! Sources of content security policies.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};
use url::Url;

/// The source by which a content security policy admits an inline style of this text.
pub fn style_source(style: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(style)))
}

/// The source by which a page's policy admits the image of an address. None: its host has characters that would end a source or a
/// directive, or it is no address.
pub fn image_source(url: &str) -> Option<String> {
    let origin = Url::parse(url).ok()?.origin().ascii_serialization();
    let is_source = origin.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:/[]".contains(&b));
    is_source.then_some(origin)
}
