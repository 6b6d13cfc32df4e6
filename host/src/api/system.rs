//! What is not an operation of the contract: probes, metrics, the API's description and its pages. No key is asked for.

use std::future::ready;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::api::operation::Operations;
use crate::api::rate_limit::RateLimiter;
use crate::api::{docs, metrics, openapi};
use crate::app::App;

/// `/healthz`, `/readyz`, `/metrics`, `/openapi.json`, `/docs`.
pub fn routes(operations: &Operations, limiter: Arc<RateLimiter>, app: &App) -> Router<App> {
    let (rows, address): (Vec<_>, _) = (operations.iter().cloned().collect(), app.config.public_address());
    // Written when it is first asked for: it takes many times its size to put together, and most servers are never asked.
    let document =
        Arc::new(LazyLock::new(move || Bytes::from(openapi::document(&rows, &address).to_string())));
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route(
            "/metrics",
            get(move |State(app): State<App>| async move { metrics_text(&app, &limiter).await }),
        )
        .route("/openapi.json", get(move || ready(json_text(StatusCode::OK, Bytes::clone(&document)))))
        .merge(docs::routes::<App>())
}

fn json_text(status: StatusCode, text: impl Into<Bytes>) -> Response {
    let mut response = (status, text.into()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The process is there. It never asks the store: a dead database is no reason to kill the process.
async fn healthz() -> Response {
    let (version, tzdb) = (env!("CARGO_PKG_VERSION"), recurrence::TZDB_RELEASE);
    let body = json!({ "status": "ok", "version": version, "timeZoneDatabase": tzdb });
    json_text(StatusCode::OK, body.to_string())
}

/// Fit to take requests: the store answers and has this program's schema.
async fn readyz(State(app): State<App>) -> Response {
    if app.is_draining() {
        return json_text(StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "stopping" }).to_string());
    }
    let allocation = app.runtime.status();
    match app.db.check().await {
        Ok(()) => {
            let connectors: Vec<String> = app
                .runtime
                .list()
                .iter()
                .map(|c| format!("{}@{}", c.manifest.name, c.manifest.version))
                .collect();
            let body = json!({ "status": "ready", "connectors": connectors, "instances": format!("{:?}", allocation.allocation) });
            json_text(StatusCode::OK, body.to_string())
        }
        Err(e) => {
            tracing::error!(error = %format!("{e:#}"), "not ready");
            json_text(StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "unavailable" }).to_string())
        }
    }
}

async fn metrics_text(app: &App, limiter: &RateLimiter) -> Response {
    let mut response = metrics::text(app, limiter.len()).await.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    response
}
