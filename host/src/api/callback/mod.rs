//! The page for a browser whose return from a provider cannot continue to an application, and for an administrator who comes back. It
//! contains fixed texts and the request's id, nothing of the request itself, and no script.

pub mod texts;

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use service::connections::authorization::PageReason;
use service::locale::Language;
use sha2::{Digest, Sha256};

use crate::api::callback::texts::texts;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{margin:0;font:1rem/1.5 system-ui,sans-serif;background:#f4f5f7;color:#1b1f24}\
main{box-sizing:border-box;max-width:34rem;margin:0 auto;padding:15vh 1.25rem 2rem;overflow-wrap:anywhere}\
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}\
p{margin:0 0 1rem}\
.id{font-size:.875rem;color:#57606a}\
@media(prefers-color-scheme:dark){body{background:#15181c;color:#e6e8eb}.id{color:#9aa4af}}";

/// The page loads nothing, sends nothing, and cannot be framed by another site; its own style is allowed by its hash.
static CONTENT_SECURITY_POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    );
    HeaderValue::try_from(policy).expect("base64 and the policy's words are ASCII")
});

/// The page for `reason`, in the language of `texts` that the request's `Accept-Language` prefers.
pub fn render(reason: PageReason, request_headers: &HeaderMap, request_id: &str) -> Response {
    let accept = request_headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let language = Language::preferred(accept.unwrap_or_default());
    let mut response = Response::new(Body::from(html(reason, language, request_id)));
    *response.status_mut() = status(reason);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
    headers.insert(header::VARY, HeaderValue::from_static("accept, accept-language"));
    headers.insert(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY.clone());
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn status(reason: PageReason) -> StatusCode {
    match reason {
        PageReason::UnknownLink
        | PageReason::AlreadyUsed
        | PageReason::Malformed
        | PageReason::WrongProvider
        | PageReason::AdminRefused => StatusCode::BAD_REQUEST,
        PageReason::AdminApproved => StatusCode::OK,
        PageReason::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// `request_id` is generated here (`request_id::new`) and needs no escaping.
fn html(reason: PageReason, language: Language, request_id: &str) -> String {
    let (tag, texts) = (language.tag(), texts(reason, language));
    let direction = if language.is_right_to_left() { " dir=\"rtl\"" } else { "" };
    format!(
        "<!doctype html>\n<html lang=\"{tag}\"{direction}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         <p>{what_happened}</p>\n<p>{what_to_do}</p>\n<p class=\"id\">{label}: <code>{request_id}</code></p>\n\
         </main>\n</body>\n</html>\n",
        title = texts.title,
        what_happened = texts.what_happened,
        what_to_do = texts.what_to_do,
        label = texts.request_id,
    )
}
