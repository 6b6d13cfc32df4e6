//! The documentation page: `/docs` renders `/openapi.json` in the browser. All its files are in this binary and served by this host, so
//! that it works without a network and under a strict content security policy.

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderName, HeaderValue, header};

/// The content security policy: no foreign or inline content, and no framing, because users type a key into the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `/docs` and its parts, without a key.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let page = || asset("text/html; charset=utf-8", include_str!("index.html"));
    Router::new()
        .route("/docs", get(async move || page()))
        .route("/docs/", get(async move || page()))
        .route("/docs/docs.css", get(async || asset("text/css; charset=utf-8", include_str!("docs.css"))))
        .route(
            "/docs/docs.js",
            get(async || asset("text/javascript; charset=utf-8", include_str!("docs.js"))),
        )
        .route(
            "/docs/schema.js",
            get(async || asset("text/javascript; charset=utf-8", include_str!("schema.js"))),
        )
}

fn asset(media_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // A new version of the program has new pages at the same address.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ];
    (headers, text).into_response()
}
