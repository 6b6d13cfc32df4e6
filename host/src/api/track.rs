//! `/t`: pictures and links of messages that were sent from here. Whoever reads such a message comes here, without a key; what is asked for
//! is in the signed address, and a link leads nowhere but where the message said that it leads.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::get;
use http::{HeaderValue, Method, StatusCode, header};

use crate::api::caller::client_ip;
use crate::api::peer;
use crate::app::App;
use crate::tracking::PATH;
use crate::tracking::hits::{self, Visitor};

/// A transparent picture of one pixel.
const PIXEL: &[u8] = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

pub fn routes() -> Router<App> {
    Router::new().route(&format!("{PATH}/{{target}}"), get(hit))
}

async fn hit(State(app): State<App>, Path(signed): Path<String>, request: Request) -> Response {
    let Some(target) = hits::target(&app, &signed) else { return answer(StatusCode::NOT_FOUND, None) };
    let destination = match hits::destination(&app, &target).await {
        Ok(found) => found,
        Err(e) => {
            tracing::error!(error = %e, "where a link leads cannot be read");
            return answer(StatusCode::SERVICE_UNAVAILABLE, None);
        }
    };
    if target.link.is_some() && destination.is_none() {
        return answer(StatusCode::NOT_FOUND, None);
    }
    let headers = request.headers();
    let user_agent = headers.get(header::USER_AGENT).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let visitor = Visitor {
        ip: client_ip(peer(&request), headers, &app.config.trusted_proxies),
        user_agent,
        is_head: request.method() == Method::HEAD,
    };
    // Whoever reads mail is not kept waiting, and not turned away, because something cannot be counted.
    if let Err(e) = hits::note(&app, &target, &visitor).await {
        tracing::warn!(error = %e, "a hit could not be kept");
    }
    match destination {
        Some(url) => answer(StatusCode::FOUND, Some(&url)),
        None => answer(StatusCode::OK, None),
    }
}

fn answer(status: StatusCode, location: Option<&str>) -> Response {
    let is_pixel = status == StatusCode::OK;
    let mut response = Response::new(if is_pixel { Body::from(PIXEL) } else { Body::empty() });
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store, private"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if is_pixel {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/gif"));
    }
    if let Some(url) = location.and_then(|l| HeaderValue::try_from(l).ok()) {
        headers.insert(header::LOCATION, url);
    }
    response
}
