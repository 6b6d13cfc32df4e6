//! `/v1/providers/{provider}/notifications`: the addresses to which providers post their notifications.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::response::{IntoResponse, Response};
use base::error::{Code, Refusal, Result, not_found};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;
use service::app::App;
use service::connections::watch_reach;
use service::push::notification::{self, ProviderRequest};
use service::push::receive::{self, Budgets, NotificationPace, ReceiveResult};

use crate::api::operation::Priority::Additive;
use crate::api::operation::{ANY_KEY, Routes};
use crate::api::request::extractors::Path;
use crate::api::response::error::ApiError;
use crate::web::client_ip::{client_ip, peer};
use crate::web::rate_limit::{Limiters, site};
use crate::web::small_body::BodyRoom;

/// Largest body, bytes.
const MAX_BODY: usize = 256 << 10;
/// Memory for the bodies of all providers, of which one network may use a quarter: providers post from few networks, and any other client
/// fills only the share of its own.
static ROOM: LazyLock<BodyRoom> = LazyLock::new(|| BodyRoom::new(16 << 20, 4 << 20));
/// Time limit for a body to arrive, and for the database, including a second to fetch token keys: providers wait for three seconds.
const BODY_WITHIN: Duration = Duration::from_millis(900);
const TAKEN_WITHIN: Duration = Duration::from_secs(2);
/// Requests of one provider per second from one network, and from all: a provider posts from few networks, and any other client only uses
/// up its own network's budget. Merged requests and handshakes have budgets of the same size.
const PER_SITE: u64 = 200;
const PER_PROVIDER: u64 = 2_000;
/// Notifications of one watch per second that make a pull due at once, and that are processed at all.
const PER_WATCH: u64 = 2;
const LOOKED_AT_PER_WATCH: u64 = 20;

/// The response, which does not reveal what happened to the notifications.
#[derive(Debug, Serialize, JsonSchema)]
struct NotificationsTaken {}

pub fn routes() -> Routes<App> {
    Routes::new("Providers")
        .post("/v1/providers/{provider}/notifications", ANY_KEY, Additive, notify)
        .summary("Receive a provider's notifications")
        .description("For providers, not for clients. A notification is a hint that something has changed, authenticated by the secret of its watch; changes are then read from the provider. The answer is 202 whether or not the watches are known and the secrets right, and 401 without any secret. A provider that signs a JSON Web Token for each request sends it as a `Bearer` token: 401 for a token that was not made for this address, and 503 while the provider's keys cannot be read. 200 for a handshake, whose value is returned as text. 503 above 200 requests of the provider in a second from one network or 2,000 from all, for far more than 2 notifications of a watch in a second, and if the database does not answer within 2 seconds: the provider then repeats the request. A request has at most 256 KiB and 1,000 notifications.")
        .status(202)
        .returns::<NotificationsTaken>()
        .return_type("text/plain")
        .own_budget()
        .post("/v1/providers/{provider}/notifications/{name}", ANY_KEY, Additive, notify_of_kind)
        .summary("Receive a provider's notifications of one kind")
        .description("For providers, not for clients. The same as `POST /v1/providers/{provider}/notifications`, for the kind of notification that has this name in the connector's manifest.")
        .status(202)
        .returns::<NotificationsTaken>()
        .return_type("text/plain")
        .own_budget()
}

async fn notify(
    State(app): State<App>,
    Extension(limiters): Extension<Arc<Limiters>>,
    Path(provider): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    take(&app, &limiters, &provider, None, request).await
}

async fn notify_of_kind(
    State(app): State<App>,
    Extension(limiters): Extension<Arc<Limiters>>,
    Path((provider, name)): Path<(String, String)>,
    request: Request,
) -> Result<Response, ApiError> {
    take(&app, &limiters, &provider, Some(&name), request).await
}

/// Processes the notifications of a request to the address that ends with this name; none: to the address without one.
async fn take(
    app: &App,
    limiters: &Limiters,
    provider: &str,
    name: Option<&str>,
    request: Request,
) -> Result<Response, ApiError> {
    let push = watch_reach::push_named(app, provider, name);
    let push = push.ok_or_else(|| not_found("provider that posts such notifications"))?;
    let ip = client_ip(peer(&request), request.headers(), &app.config.trusted_proxies);
    let budgets = OfProvider { limiters, provider, site: site(ip), now: app.now() };
    let (parts, body) = request.into_parts();
    if let Some(value) = notification::handshake(&push, parts.uri.query().unwrap_or_default())? {
        budgets.take("handshakes")?;
        return Ok(echo(value));
    }
    let body = ROOM.read(body, ip, MAX_BODY, BODY_WITHIN).await?;
    let incoming = ProviderRequest { headers: &parts.headers, body: body.bytes() };
    let read = || notification::read(&push, incoming);
    let notifications = app.compute.run("", body.bytes().len(), read).await?;
    let taking = receive::receive(app, provider, &push, notifications, incoming, &budgets);
    match tokio::time::timeout(TAKEN_WITHIN, taking).await {
        Ok(taken) => Ok(answer(taken?)),
        Err(_) => {
            let message = "the notifications could not be processed in time; send them again";
            Err(ApiError(Refusal::new(Code::Overloaded, message).retry_after_s(1).into()))
        }
    }
}

/// Returns the value of a handshake, always as plain text.
fn echo(value: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    (StatusCode::OK, headers, value).into_response()
}

fn answer(taken: ReceiveResult) -> Response {
    let status = match taken {
        ReceiveResult::Notified => StatusCode::ACCEPTED,
        ReceiveResult::Greeted => StatusCode::OK,
    };
    (status, Json(NotificationsTaken {})).into_response()
}

/// The rate limits of a provider and its watches at this host.
struct OfProvider<'a> {
    limiters: &'a Limiters,
    provider: &'a str,
    /// The network of the client.
    site: IpAddr,
    now: i64,
}

impl OfProvider<'_> {
    fn take(&self, what: &str) -> Result<()> {
        let of_all = format!("{what} {}", self.provider);
        let of_site = format!("{of_all} {}", self.site);
        // The network first, so that a network over its limit does not use up the common one.
        for (name, limit, from) in [(of_site, PER_SITE, " from one network"), (of_all, PER_PROVIDER, "")] {
            if let Some(seconds) = self.limiters.take_of_notifications(&name, limit, self.now).retry_after_s {
                let message = format!("more than {limit} {what} of this provider in a second{from}");
                // Not 429: Google only retries after 500, 502, 503 and 504.
                return Err(Refusal::new(Code::Overloaded, message).retry_after_s(seconds).into());
            }
        }
        Ok(())
    }
}

impl Budgets for OfProvider<'_> {
    fn of_watch(&self, name: &str) -> NotificationPace {
        let is_within = |what: &str, limit: u64| {
            let name = format!("{what} {name}");
            self.limiters.take_of_notifications(&name, limit, self.now).retry_after_s.is_none()
        };
        match is_within("watch", PER_WATCH) {
            true => NotificationPace::Fine,
            false if is_within("merged", LOOKED_AT_PER_WATCH) => NotificationPace::Merged,
            false => NotificationPace::Flood,
        }
    }

    fn of_provider(&self, pace: NotificationPace) -> Result<()> {
        self.take(if pace == NotificationPace::Fine { "requests" } else { "merged requests" })
    }
}
