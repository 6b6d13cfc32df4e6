//! The `http` import: the only way out of the sandbox. Every request is checked against the policy, gets its credentials here,
//! goes to a checked address and follows no redirect; answers are limited in size and cleaned.

mod address;
mod attempt;
mod body;
mod carried;
mod client;
mod client_cache;
mod connect;
mod direct;
mod event_source;
mod exchange;
mod failures;
mod headers;
mod kept;
mod meter;
mod names;
mod news;
mod operator;
mod origin_overrides;
mod origins;
mod pace;
mod policy;
mod post;
mod redact;
mod redirect;
mod rules;
mod target;
pub(crate) mod tcp;
#[cfg(test)]
mod tests;
mod transport;
pub(crate) mod wasi_http;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ipnet::IpNet;
use tokio::sync::Semaphore;
use url::{Host, Url};
use zeroize::Zeroizing;

use crate::bindings::http::{self, BlobInfo, Req, Res};
use crate::blobs::Blobs;
use crate::limits::Limits;
use crate::spawned::ScopedTask;
use crate::state::State;

pub use client::HttpSettings;
pub use direct::{DirectError, DirectRequest, DirectResponse};
pub(crate) use meter::{LONGEST_WAIT_MS, Meter};
pub use names::{Lookup, SystemLookup};
pub use news::{Listener, News};
pub use operator::{OperatorAnswer, OperatorClient};
pub use origin_overrides::{OriginOverrides, parse_origin};
pub use origins::{BadOrigin, check_origins};
pub(crate) use pace::PaceRules;
pub(crate) use policy::Policy;
pub use post::{Post, PostError, PostResponse, UrlCheck, parse_webhook_url};
pub use redirect::ProviderRedirect;
pub use rules::OwnProvider;
pub(crate) use rules::Rules;
pub use tcp::check_server;
pub use transport::{CarriedBody, Network, Transport, TransportError};

/// The whole value of an `Authorization` header. Wiped when dropped, and hidden by `Debug`.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a header value: "Bearer …", "Basic …".
    pub fn new(header_value: impl Into<String>) -> Self {
        Secret(Zeroizing::new(header_value.into()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The source of a call's credentials. Connectors name slots and never see their values.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// The credentials of a slot; none if the connection has none for it.
    async fn authorization(&self, slot: &str) -> Result<Option<Secret>, CredentialsError>;

    /// Fresh ones after the provider answered 401; none if these cannot be refreshed. That several calls refresh once is up
    /// to the implementation.
    async fn refreshed(&self, slot: &str) -> Result<Option<Secret>, CredentialsError>;

    /// The same for protocols that authenticate by SASL (RFC 4422); none where the connection has no such credentials.
    async fn login(&self) -> Result<Option<Login>, CredentialsError> {
        Ok(None)
    }
}

/// The reason why a connection has no credentials now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialsError {
    /// The account has to be connected again; a retry is useless. The connector gets `auth-expired`. The text is for the log.
    Refused(String),
    /// Credentials may be available later, and the account is unchanged: the connector gets `unavailable`.
    Unavailable {
        /// One sentence for the API's user, without secrets.
        message: String,
        /// Milliseconds after which a repeat may do better.
        retry_after_ms: Option<u64>,
    },
}

impl std::fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CredentialsError::Refused(why) => f.write_str(why),
            CredentialsError::Unavailable { message, .. } => f.write_str(message),
        }
    }
}

impl std::error::Error for CredentialsError {}

/// The user name and secret of a login.
#[derive(Clone)]
pub struct Login {
    pub username: String,
    pub secret: LoginSecret,
}

/// Wiped when dropped, and hidden by `Debug`.
#[derive(Clone)]
pub enum LoginSecret {
    Password(Zeroizing<String>),
    /// An OAuth access token: OAUTHBEARER (RFC 7628) or XOAUTH2.
    Token(Zeroizing<String>),
}

impl std::fmt::Debug for LoginSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LoginSecret(..)")
    }
}

/// Credentials of a connection that has none.
pub struct NoCredentials;

#[async_trait]
impl Credentials for NoCredentials {
    async fn authorization(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(None)
    }

    async fn refreshed(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(None)
    }
}

/// Clients and limits that all calls share.
pub(crate) struct Egress {
    /// Requests run here and not on the guests' threads.
    runtime: tokio::runtime::Handle,
    clients: client::Clients,
    /// For webhooks: the host's own requests to URLs that the API's clients choose.
    pub(crate) webhooks: post::PostClients,
    /// The host's own requests to a URL that the operator has set.
    pub(crate) operator: post::PostClients,
    allowed: Arc<[IpNet]>,
    own: Option<OwnProvider>,
    transport: Option<Arc<dyn Transport>>,
    redirect: Option<ProviderRedirect>,
    names: Arc<names::Names>,
    total: Arc<Semaphore>,
    paces: Arc<pace::Paces>,
    pub(crate) approved: Vec<Url>,
    limits: Limits,
    /// Idle mail connections for the next call of their account.
    lines: Arc<tcp::ConnectionPool>,
    line_tls: Arc<rustls::ClientConfig>,
    connect_timeout: Duration,
}

impl Egress {
    /// Must be called inside the tokio runtime that requests are to run on.
    pub(crate) fn new(settings: HttpSettings, rules: Rules, limits: &Limits) -> anyhow::Result<Self> {
        let allowed: Arc<[IpNet]> = rules.allowed.into();
        let names = Arc::new(names::Names::new(rules.lookup, limits));
        let runtime = tokio::runtime::Handle::current();
        let connect_timeout = Duration::from_millis(settings.connect_timeout_ms);
        let redirect = settings.redirect.clone();
        let clients = client::Clients::new(settings, allowed.clone(), names.clone())?;
        let webhooks = post::PostClients::new(
            clients.line_tls(),
            rules.webhook_allowed.into(),
            names.clone(),
            connect_timeout,
            post::BodyUse::Shown,
        );
        let operator = post::PostClients::new(
            clients.line_tls(),
            address::PRIVATE.into(),
            names.clone(),
            connect_timeout,
            post::BodyUse::Answer,
        );
        let lines = Arc::default();
        tcp::ConnectionPool::tend(&lines, &runtime);
        Ok(Egress {
            runtime,
            line_tls: Arc::new(clients.line_tls()),
            clients,
            webhooks,
            operator,
            allowed,
            own: rules.own,
            transport: rules.transport,
            redirect,
            names,
            total: Arc::new(Semaphore::new(limits.http_total_concurrent)),
            paces: Arc::default(),
            approved: rules.approved,
            limits: limits.clone(),
            lines,
            connect_timeout,
        })
    }

    /// See `Runtime::used_units`.
    pub(crate) fn used_units(&self, connection: &str, now: i64) -> BTreeMap<String, u64> {
        self.paces.used_units(connection, now)
    }

    /// Whether this address is the connector's provider in this process.
    fn is_own(&self, connector: &str, address: SocketAddr) -> bool {
        self.own.as_ref().is_some_and(|own| own.connector == connector && own.address == address)
    }

    /// Whether requests of a connector may go to a host that is an address: that needs the operator's permission, public or not.
    /// A name is checked by the resolver.
    fn permits_literal(&self, connector: &str, address: SocketAddr) -> bool {
        let ip = address.ip();
        let has_leave =
            self.allowed.iter().any(|net| net.contains(&ip)) && address::permitted(ip, &self.allowed);
        has_leave || self.is_own(connector, address)
    }

    /// Whether a request over plain http would go to a public address that the operator has not named. False where the lookup
    /// fails: then the request fails by itself.
    pub(crate) async fn is_exposed(&self, tenant: &str, url: &Url) -> bool {
        let addresses = match url.host() {
            _ if url.scheme() != "http" => return false,
            Some(Host::Ipv4(v4)) => vec![IpAddr::V4(v4)],
            Some(Host::Ipv6(v6)) => vec![IpAddr::V6(v6)],
            Some(Host::Domain(name)) => self.names.resolve(tenant, name).await.unwrap_or_default(),
            None => return false,
        };
        let is_exposed = |a: &IpAddr| address::is_public(*a) && !address::is_allowed(*a, &self.allowed);
        !addresses.is_empty() && addresses.iter().all(is_exposed)
    }
}

/// One call's way out.
pub(crate) struct CallEgress {
    pub(crate) shared: Arc<Egress>,
    pub(crate) policy: Policy,
    pub(crate) pacing: PaceRules,
    pub(crate) credentials: Arc<dyn Credentials>,
    pub(crate) tenant: String,
    pub(crate) connection: String,
    pub(crate) connector: Arc<str>,
    pub(crate) blobs: Blobs,
    pub(crate) deadline: Instant,
    pub(crate) meter: Meter,
    pub(crate) redactor: Mutex<redact::Redactor>,
    /// Permits of concurrent requests.
    pub(crate) turns: Semaphore,
}

/// An error as the guest sees it. The message is the host's own; it reveals nothing about networks behind the policy.
fn refused(code: &str, message: impl Into<String>) -> http::Err {
    http::Err { code: code.to_owned(), message: message.into(), retry_after_ms: None }
}

impl CallEgress {
    /// Takes every credential of this call out of `text`.
    pub(crate) fn redact(&self, text: String) -> String {
        self.redactor.lock().expect("no panic while redacting").redact_text(text)
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> ScopedTask<T> {
        ScopedTask::new(self.shared.runtime.spawn(work))
    }
}

impl http::Host for State {
    async fn send(&mut self, r: Req) -> wasmtime::Result<Result<Res, http::Err>> {
        self.host_calls.count()?;
        self.cpu.pause();
        let egress = self.egress.clone();
        // Off the guest's stack: TLS and DNS need more stack than a fiber has.
        let answer = self.egress.spawn(async move { egress.send(r).await }).await;
        self.cpu.resume();
        Ok(answer.unwrap_or_else(|| Err(refused("unavailable", "the host gave up this request"))))
    }

    async fn send_many(
        &mut self,
        rs: Vec<Req>,
        at_once: u8,
    ) -> wasmtime::Result<Vec<Result<Res, http::Err>>> {
        self.host_calls.count()?;
        self.cpu.pause();
        let (egress, count) = (self.egress.clone(), rs.len());
        let answers = self.egress.spawn(async move { egress.send_many(rs, at_once).await }).await;
        self.cpu.resume();
        let given_up =
            || (0..count).map(|_| Err(refused("unavailable", "the host gave up this request"))).collect();
        Ok(answers.unwrap_or_else(given_up))
    }

    async fn send_to_blob(
        &mut self,
        r: Req,
        decode: String,
        max_bytes: u64,
    ) -> wasmtime::Result<Result<BlobInfo, http::Err>> {
        self.host_calls.count()?;
        self.cpu.pause();
        let egress = self.egress.clone();
        let answer = self.egress.spawn(async move { egress.send_to_blob(r, &decode, max_bytes).await }).await;
        self.cpu.resume();
        Ok(answer.unwrap_or_else(|| Err(refused("unavailable", "the host gave up this request"))))
    }
}
