//! The style and the script of the panel's pages. Their address changes with their text: a browser keeps them for ever, a new version of the
//! service is used at once, and a script knows by it which pages are of its own version.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::web::assets::{content_hash, without_comments};

/// The style: what all pages of the service share, and what the panel adds.
const STYLE: &str = concat!(include_str!("../../web/assets/base.css"), "\n", include_str!("panel.css"));
static SCRIPT: LazyLock<String> = LazyLock::new(|| without_comments(include_str!("panel.js")));
static HASH: LazyLock<String> = LazyLock::new(|| content_hash(&[STYLE, &SCRIPT]));
static STYLE_PATH: LazyLock<String> = LazyLock::new(|| format!("assets/{}/panel.css", *HASH));
static SCRIPT_PATH: LazyLock<String> = LazyLock::new(|| format!("assets/{}/panel.js", *HASH));

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The address of the style, relative to `/admin/`.
pub fn style_path() -> &'static str {
    &STYLE_PATH
}

/// The address of the script, relative to `/admin/`.
pub fn script_path() -> &'static str {
    &SCRIPT_PATH
}

/// The style of this version.
pub async fn style(Path(hash): Path<String>) -> Response {
    asset(&hash, "text/css; charset=utf-8", STYLE)
}

/// The script of this version.
pub async fn script(Path(hash): Path<String>) -> Response {
    asset(&hash, "text/javascript; charset=utf-8", &SCRIPT)
}

/// A text of this version. None of another version is served in its place, because it would not fit the page.
fn asset(hash: &str, media_type: &'static str, text: &'static str) -> Response {
    if hash != *HASH {
        let no_store = HeaderValue::from_static("no-store");
        return (StatusCode::NOT_FOUND, [(header::CACHE_CONTROL, no_store)]).into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
        (CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("same-origin")),
    ];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_begins_and_ends_as_one() {
        assert!(SCRIPT.starts_with("\"use strict\";\n") && SCRIPT.ends_with("})();\n"), "{}", *SCRIPT);
    }

    #[test]
    fn the_style_loads_nothing() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
