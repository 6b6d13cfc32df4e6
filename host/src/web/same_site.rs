//! Detects forms that other sites make a browser send.

use axum::extract::Request;
use http::{HeaderMap, header};
use service::app::App;
use url::Url;

/// Whether another site made the browser send this request. A page that gives no referrer sends its own forms with the Origin `null`: there
/// `Sec-Fetch-Site` decides, and in browsers without it the form's token.
pub fn is_foreign(app: &App, request: &Request) -> bool {
    let headers = request.headers();
    if let Some(is_foreign) = fetch_site_is_foreign(headers) {
        return is_foreign;
    }
    let Some(origin) = text(headers, "origin").filter(|origin| *origin != "null") else { return false };
    let host = host(headers).or_else(|| request.uri().authority().map(|host| host.as_str()));
    let own = Url::parse(&app.config.public_address()).ok().map(|url| url.origin().ascii_serialization());
    let is_here = origin.split_once("://").is_some_and(|(_, authority)| Some(authority) == host);
    !is_here && own.as_deref() != Some(origin)
}

/// Whether `Sec-Fetch-Site` says that another origin made the browser send a request; none if the header is absent.
pub fn fetch_site_is_foreign(headers: &HeaderMap) -> Option<bool> {
    text(headers, "sec-fetch-site").map(|site| !matches!(site, "same-origin" | "none"))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST).and_then(|value| value.to_str().ok())
}
