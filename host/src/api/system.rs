//! What is not an operation of the contract: probes, metrics, the API's description and its pages. No key is asked for.

use std::future::ready;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use secrecy::ExposeSecret;
use serde_json::json;
use subtle::ConstantTimeEq;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::api::access::api_key::{client_ip, peer};
use crate::api::access::rate_limit::{Class, Limiters};
use crate::api::operations::Operations;
use crate::api::{docs, metrics, openapi};
use crate::app::App;

/// Requests per minute of one address to `/readyz` and `/metrics`: balancers and collectors ask every few seconds.
const PROBES_PER_MINUTE: u64 = 300;
/// How long the store's last word is believed, in milliseconds.
const READINESS_LIFE_MS: i64 = 1_000;

/// `/healthz`, `/readyz`, `/metrics`, `/openapi.json`, `/docs`.
pub fn routes(operations: &Operations, limiters: Arc<Limiters>, app: &App) -> Router<App> {
    let (rows, address): (Vec<_>, _) = (operations.iter().cloned().collect(), app.config.public_address());
    // Written when it is first asked for: it takes many times its size to put together, and most servers are never asked.
    let document =
        Arc::new(LazyLock::new(move || Bytes::from(openapi::document(&rows, &address).to_string())));
    let probes = Router::new()
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics_with_token))
        .layer(from_fn_with_state((app.clone(), limiters.clone()), within_probes))
        .layer(Extension(limiters))
        .layer(Extension(Arc::<Readiness>::default()));
    Router::new()
        .route("/healthz", get(healthz))
        .route("/openapi.json", get(move || ready(public_json(Bytes::clone(&document)))))
        .merge(probes)
        .merge(docs::routes::<App>())
}

/// `/metrics` alone, without a token: for a listener of its own.
pub fn metrics_routes(app: App) -> Router {
    let text = |State(app): State<App>| async move { metrics_text(&app, 0).await };
    Router::new().route("/metrics", get(text)).with_state(app)
}

/// Refuses whoever probes too often, before the store is asked anything.
async fn within_probes(
    State((app, limiters)): State<(App, Arc<Limiters>)>,
    request: Request,
    next: Next,
) -> Response {
    let ip = client_ip(peer(&request), request.headers(), &app.config.trusted_proxies);
    let standing = limiters.take_of_address(Class::Probe, ip, PROBES_PER_MINUTE, app.now());
    let Some(seconds) = standing.retry_after_s else { return next.run(request).await };
    let body = json!({ "status": "rate_limited" }).to_string();
    let mut response = json_text(StatusCode::TOO_MANY_REQUESTS, body);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

fn json_text(status: StatusCode, text: impl Into<Bytes>) -> Response {
    let mut response = (status, text.into()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A document that pages of every site may read: it is the same for all, and no key is sent for it.
fn public_json(text: Bytes) -> Response {
    let mut response = json_text(StatusCode::OK, text);
    let anybody = HeaderValue::from_static("*");
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, anybody);
    response
}

/// The process is there. It never asks the store: a dead database is no reason to kill the process.
async fn healthz() -> Response {
    let (version, tzdb) = (env!("CARGO_PKG_VERSION"), recurrence::TZDB_RELEASE);
    let body = json!({ "status": "ok", "version": version, "timeZoneDatabase": tzdb });
    json_text(StatusCode::OK, body.to_string())
}

/// What the store last said, and when.
#[derive(Default)]
struct Readiness(Mutex<Option<(i64, bool)>>);

impl Readiness {
    /// Whether the store answers and has this program's schema. It is asked once a second at most, however many ask.
    async fn is_ready(&self, app: &App) -> bool {
        let mut last = self.0.lock().await;
        let now = app.now();
        if let Some((_, is_ready)) = last.filter(|(at, _)| (0..READINESS_LIFE_MS).contains(&(now - at))) {
            return is_ready;
        }
        let checked = app.db.check().await;
        if let Err(e) = &checked {
            tracing::error!(error = %format!("{e:#}"), "not ready");
        }
        *last = Some((now, checked.is_ok()));
        checked.is_ok()
    }
}

/// Fit to take requests: the store answers and has this program's schema, and what they leave to be done in the background is done.
async fn readyz(State(app): State<App>, Extension(readiness): Extension<Arc<Readiness>>) -> Response {
    if app.is_draining() {
        return json_text(StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "stopping" }).to_string());
    }
    if !readiness.is_ready(&app).await {
        return json_text(StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "unavailable" }).to_string());
    }
    if let Some(reason) = app.presence.trouble((app.now(), Instant::now())) {
        let body = json!({ "status": "unavailable", "reason": reason });
        return json_text(StatusCode::SERVICE_UNAVAILABLE, body.to_string());
    }
    let connectors: Vec<String> =
        app.runtime.list().iter().map(|c| format!("{}@{}", c.manifest.name, c.manifest.version)).collect();
    let instances = format!("{:?}", app.runtime.status().allocation);
    let body = json!({ "status": "ready", "connectors": connectors, "instances": instances });
    json_text(StatusCode::OK, body.to_string())
}

/// The metrics, to whoever has their token. Without one set there are none at this address.
async fn metrics_with_token(
    State(app): State<App>,
    Extension(limiters): Extension<Arc<Limiters>>,
    headers: HeaderMap,
) -> Response {
    let Some(token) = &app.config.metrics_token else {
        let message = "metrics are served with --metrics-token-file or --metrics-listen";
        return json_text(StatusCode::NOT_FOUND, json!({ "status": "off", "message": message }).to_string());
    };
    let given = headers.get(header::AUTHORIZATION).and_then(|v| v.as_bytes().strip_prefix(b"Bearer "));
    if !given.is_some_and(|given| given.ct_eq(token.expose_secret().as_bytes()).into()) {
        let message = "send the metrics token as `Authorization: Bearer <token>`";
        let body = json!({ "status": "unauthenticated", "message": message }).to_string();
        let mut response = json_text(StatusCode::UNAUTHORIZED, body);
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    }
    metrics_text(&app, limiters.len()).await
}

async fn metrics_text(app: &App, callers: usize) -> Response {
    let mut response = metrics::text(app, callers).await.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    response
}
