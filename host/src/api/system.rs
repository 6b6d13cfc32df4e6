//! Routes outside the contract's operations: probes, metrics, the API's description and its pages. They need no key.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base::error::Refusal;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use secrecy::ExposeSecret;
use serde_json::json;
use service::app::App;
use storage::Outage;
use storage::lane::Lane;
use subtle::ConstantTimeEq;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::api::openapi::published;
use crate::api::operations::Operations;
use crate::api::{docs, metrics};
use crate::web::client_ip::{client_ip, peer};
use crate::web::rate_limit::{Class, Limiters};

/// Requests per minute of one address to `/readyz` and `/metrics`: load balancers and metrics collectors ask every few seconds.
const PROBES_PER_MINUTE: u64 = 300;
/// Time for which the database's last answer is valid, ms.
const READINESS_LIFE_MS: i64 = 1_000;
/// Time limit of the database for a probe, which itself is answered within a second.
const READY_WITHIN: Duration = Duration::from_millis(900);

/// `/healthz`, `/readyz`, `/metrics`, `/openapi.json`, `/openapi/clients.json`, `/docs`.
pub fn routes(operations: &Operations, limiters: Arc<Limiters>, app: &App) -> Router<App> {
    let probes = Router::new()
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics_with_token))
        .layer(from_fn_with_state((app.clone(), limiters.clone()), within_probes))
        .layer(Extension(limiters))
        .layer(Extension(Arc::<Readiness>::default()));
    Router::new()
        .route("/healthz", get(healthz))
        .merge(probes)
        .merge(published::routes(operations, app))
        .merge(docs::routes(operations, app))
}

/// `/metrics` alone, without a token: for a listener of its own.
pub fn metrics_routes(app: App) -> Router {
    let text = |State(app): State<App>| async move { metrics_text(&app, 0).await };
    Router::new().route("/metrics", get(text)).with_state(app)
}

/// Refuses a client over the probe limit, before the database is queried.
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

/// The process is alive. The database is not queried: its failure is no reason to kill the process.
async fn healthz() -> Response {
    let (version, tzdb) = (env!("CARGO_PKG_VERSION"), recurrence::TZDB_RELEASE);
    let body = json!({ "status": "ok", "version": version, "timeZoneDatabase": tzdb });
    json_text(StatusCode::OK, body.to_string())
}

/// The database's last answer to a probe.
#[derive(Default)]
struct Readiness(Mutex<StoreAnswer>);

/// An answer of the database to a probe.
#[derive(Default)]
struct StoreAnswer {
    /// Unix ms; none before the first answer.
    at: Option<i64>,
    /// The reason why the database cannot be used; none if it can.
    reason: Option<String>,
    /// Whether this reason has been logged.
    is_logged: bool,
}

impl Readiness {
    /// The reason why the database cannot be used: it does not answer, has another schema, or accepts no writes. None if it can. It is
    /// queried at most once a second for all callers.
    async fn trouble(&self, app: &App) -> Option<String> {
        let mut last = self.0.lock().await;
        let now = app.now();
        if last.at.is_some_and(|at| (0..READINESS_LIFE_MS).contains(&(now - at))) {
            return last.reason.clone();
        }
        let checked = Lane::requests().scope(app.db.check_usable());
        let (reason, cause) = match timeout(READY_WITHIN, checked).await {
            Ok(Ok(())) => (None, None),
            Ok(Err(e)) => (Some(reason(&e)), Outage::from_error(&e).is_none().then(|| format!("{e:#}"))),
            Err(_) => {
                let late = "the database does not answer".to_owned();
                (Some(late.clone()), Some(late))
            }
        };
        let was_logged = last.is_logged;
        match &cause {
            Some(cause) if !was_logged => tracing::error!(error = %cause, "not ready"),
            None if was_logged => tracing::info!("ready again"),
            _ => {}
        }
        *last = StoreAnswer { at: Some(now), is_logged: cause.is_some(), reason: reason.clone() };
        reason
    }
}

/// An error of the database for clients, without hosts, files and statements.
fn reason(e: &anyhow::Error) -> String {
    let refusal = e.downcast_ref::<Refusal>().map(|refusal| refusal.message.as_str());
    // The rest is advice for clients.
    let of_refusal = refusal.and_then(|message| message.split(';').next());
    of_refusal
        .unwrap_or("the database fails, or has another schema than this program; the log has the cause")
        .to_owned()
}

/// Ready for requests: the database answers and has this program's schema, and required background work is done.
async fn readyz(State(app): State<App>, Extension(readiness): Extension<Arc<Readiness>>) -> Response {
    if app.is_draining() {
        return json_text(StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "stopping" }).to_string());
    }
    let of_host = app.presence.trouble(app.now(), Instant::now()).map(str::to_owned);
    let reasons: Vec<String> = readiness.trouble(&app).await.into_iter().chain(of_host).collect();
    if !reasons.is_empty() {
        let body = json!({ "status": "unavailable", "reason": reasons.join("; ") });
        return json_text(StatusCode::SERVICE_UNAVAILABLE, body.to_string());
    }
    let connectors: Vec<String> =
        app.runtime.list().iter().map(|c| format!("{}@{}", c.manifest.name, c.manifest.version)).collect();
    let instances = format!("{:?}", app.runtime.status().allocation);
    // Contract silent: a host whose machine's clock is wrong stays ready, since it uses the database's time.
    let warnings: Vec<String> = app.clock_deviation.warning().into_iter().collect();
    let body =
        json!({ "status": "ready", "connectors": connectors, "instances": instances, "warnings": warnings });
    json_text(StatusCode::OK, body.to_string())
}

/// The metrics, for clients with their token. Without a configured token this address has none.
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
