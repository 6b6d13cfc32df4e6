//! Scripts and style of the pages. The address of the script changes with its text and with the style: browsers cache it forever, a new
//! version of the service takes effect at once, and a script recognizes pages of its own version by it. Without scripts everything works by
//! links and forms. The script by which other sites embed the page has a fixed address, which they write into their pages: a new version
//! arrives within an hour.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::web::assets::{content_hash, without_comments};

/// The style of every page, inlined into its head, so that the first view needs one request.
pub const STYLE: &str = concat!(include_str!("../../../web/assets/base.css"), include_str!("book.css"));
static SCRIPT: LazyLock<String> = LazyLock::new(|| without_comments(include_str!("page.js")));
static EMBED_SCRIPT: LazyLock<String> = LazyLock::new(|| without_comments(include_str!("embed.js")));

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

static SCRIPT_HASH: LazyLock<String> = LazyLock::new(|| content_hash(&[STYLE, SCRIPT.as_str()]));
static SCRIPT_PATH: LazyLock<String> = LazyLock::new(|| format!("assets/{}/page.js", *SCRIPT_HASH));

/// The address of the page's script, relative to `/book/`.
pub fn script_path() -> &'static str {
    &SCRIPT_PATH
}

/// The scripts. They are the same for everybody: no key is needed, and nothing is counted.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/book/assets/{hash}/page.js", get(page_script))
        .route("/book/embed.js", get(embed_script))
}

/// The script of this version. One of another version is not served in its place, because it would not match this page.
async fn page_script(Path(hash): Path<String>) -> Response {
    if hash != *SCRIPT_HASH {
        let no_store = HeaderValue::from_static("no-store");
        return (StatusCode::NOT_FOUND, [(header::CACHE_CONTROL, no_store)]).into_response();
    }
    script(&SCRIPT, HeaderValue::from_static("public, max-age=31536000, immutable"))
}

/// The script for other sites, with the consent header that sites with cross-origin isolation require.
async fn embed_script() -> Response {
    let mut response = script(&EMBED_SCRIPT, HeaderValue::from_static("public, max-age=3600"));
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    response
}

fn script(text: &'static str, cache_control: HeaderValue) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=utf-8")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, cache_control),
    ];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_served_without_their_comments() {
        for script in [&SCRIPT, &EMBED_SCRIPT] {
            assert!(script.starts_with("\"use strict\";\n") && script.ends_with("})();\n"), "{}", **script);
        }
    }
}
