//! `/t`: images and links of tracked messages. Recipients open these addresses without a key; the target is in the signed address, and a
//! link leads only where the message said.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Path, Request, State};
use axum::response::Response;
use axum::routing::get;
use http::{HeaderValue, Method, StatusCode, header};
use service::app::App;
use service::tracking::hits::{self, Visitor};
use service::tracking::{PATH, TrackedTarget};

use crate::web::client_ip::{client_ip, peer};
use crate::web::rate_limit::{Class, Limiters, RateLimitState};

/// A transparent image of one pixel.
const PIXEL: &[u8] = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

/// Hits per minute of one address: the image proxy of a large provider has many.
const PER_ADDRESS: u64 = 600;
/// Hits per minute of one message.
const PER_RECORD: u64 = 120;

pub fn routes(limiters: Arc<Limiters>) -> Router<App> {
    Router::new().route(&format!("{PATH}/{{target}}"), get(visited)).layer(Extension(limiters))
}

async fn visited(
    State(app): State<App>,
    Extension(limiters): Extension<Arc<Limiters>>,
    Path(signed): Path<String>,
    request: Request,
) -> Response {
    let ip = client_ip(peer(&request), request.headers(), &app.config.trusted_proxies);
    let is_head = request.method() == Method::HEAD;
    let user_agent = request.headers().get(header::USER_AGENT).and_then(|v| v.to_str().ok());
    let user_agent = user_agent.unwrap_or_default().to_owned();
    drop(request);
    hit(&app, &limiters, &signed, &Visitor { ip, user_agent: &user_agent, is_head }).await
}

async fn hit(app: &App, limiters: &Limiters, signed: &str, visitor: &Visitor<'_>) -> Response {
    let Some(target) = hits::target(app, signed) else { return answer(StatusCode::NOT_FOUND, None) };
    let now = app.now();
    let of_address = limiters.take_of_address(Class::Tracking, visitor.ip, PER_ADDRESS, now);
    if of_address.retry_after_s.is_some() {
        return over(&target, of_address);
    }
    let destination = match hits::destination(app, &target).await {
        Ok(found) => found,
        Err(e) => {
            if !e.is_outage() {
                tracing::error!(error = %e, "where a link leads cannot be read");
            }
            let mut response = answer(StatusCode::SERVICE_UNAVAILABLE, None);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            return response;
        }
    };
    if target.link.is_some() && destination.is_none() {
        return answer(StatusCode::NOT_FOUND, None);
    }
    let of_record = limiters.take_of_name(&format!("record {}", target.tracking_id), PER_RECORD, now);
    // Recipients are neither delayed nor turned away because a hit cannot be counted.
    if of_record.retry_after_s.is_none()
        && let Err(e) = hits::record_hit(app, &target, visitor).await
        && !e.is_outage()
    {
        tracing::warn!(error = %e, "a hit could not be kept");
    }
    match destination {
        Some(url) => answer(StatusCode::FOUND, Some(&url)),
        None => answer(StatusCode::OK, None),
    }
}

/// The response to an address over its limit: the image is still returned because it costs nothing; a link would need a lookup.
fn over(target: &TrackedTarget, standing: RateLimitState) -> Response {
    if target.link.is_none() {
        return answer(StatusCode::OK, None);
    }
    let mut response = answer(StatusCode::TOO_MANY_REQUESTS, None);
    let seconds = HeaderValue::from(standing.retry_after_s.unwrap_or(1));
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
    response
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
