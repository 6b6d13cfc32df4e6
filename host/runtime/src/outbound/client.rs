//! The HTTP clients: one per tenant and connector, so that no two tenants share a connection or a TLS session. No proxies, no
//! redirects, no cookies; every name goes through the checking resolver.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use anyhow::Context;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue, USER_AGENT};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use ipnet::IpNet;
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tower::ServiceExt;
use tower_http::decompression::{Decompression, DecompressionBody};

use crate::outbound::address::Resolver;
use crate::outbound::body::ClientBody;
use crate::outbound::client_cache::ClientCache;
use crate::outbound::connect::{Connector, Versions};
use crate::outbound::names::Names;
use crate::outbound::redirect::ProviderRedirect;

/// Idle connections that a client keeps to a host, and how long.
const IDLE_CONNECTIONS: usize = 32;
const IDLE_TIME: Duration = Duration::from_secs(60);

/// Bytes of a long-lived answer that are read ahead at most; also the limit of its head.
const LASTING_BUFFER: usize = 32 << 10;

/// An answer, its body decompressed while it is read.
pub(super) type DecompressedResponse = Response<DecompressionBody<Incoming>>;

/// Settings of all clients.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The `User-Agent` of requests unless the connector sets its own.
    pub user_agent: String,
    /// Time limit of making a connection, TLS included, ms.
    pub connect_timeout_ms: u64,
    /// Certificates (PEM, one or several) trusted beside the system's.
    pub extra_roots_pem: Vec<String>,
    /// For the development of connectors: the server that plays the provider. No flag of a server sets it.
    pub redirect: Option<ProviderRedirect>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            user_agent: concat!("Switchboard/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout_ms: 10_000,
            extra_roots_pem: Vec::new(),
            redirect: None,
        }
    }
}

pub(crate) struct Clients {
    user_agent: HeaderValue,
    connect_timeout: Duration,
    tls: rustls::ClientConfig,
    allowed: Arc<[IpNet]>,
    names: Arc<Names>,
    pool: Mutex<ClientCache<(String, String), ProviderClient>>,
}

impl Clients {
    pub(crate) fn new(
        settings: HttpSettings,
        allowed: Arc<[IpNet]>,
        names: Arc<Names>,
    ) -> anyhow::Result<Self> {
        Ok(Clients {
            user_agent: HeaderValue::try_from(settings.user_agent).context("the name that providers see")?,
            connect_timeout: Duration::from_millis(settings.connect_timeout_ms),
            tls: tls(&settings.extra_roots_pem)?,
            allowed,
            names,
            pool: Mutex::default(),
        })
    }

    /// The client of this tenant and connector.
    pub(crate) fn get(&self, tenant: &str, connector: &str) -> ProviderClient {
        let mut pool = self.pool.lock().expect("no panic while choosing a client");
        let key = (tenant.to_owned(), connector.to_owned());
        pool.get_or_build(key, || self.build(tenant, Versions::All))
    }

    /// For connections that do not speak HTTP, and for webhooks: the same roots. Sessions are not resumed: tenants would share a
    /// ticket.
    pub(crate) fn line_tls(&self) -> rustls::ClientConfig {
        let mut tls = self.tls.clone();
        tls.resumption = Resumption::disabled();
        tls
    }

    /// A client for one long-lived answer: its connection is not shared, unlike the streams of HTTP/2, whose number a server
    /// limits. The body is not decompressed: a server could otherwise send compressed data without end that decompresses to
    /// nothing.
    pub(super) fn lasting(&self, tenant: &str) -> ProviderClient {
        self.build(tenant, Versions::Http1)
    }

    fn build(&self, tenant: &str, versions: Versions) -> ProviderClient {
        let mut tls = self.tls.clone();
        // The roots are shared, the sessions are not.
        tls.resumption = Resumption::in_memory_sessions(32);
        let resolver = Resolver {
            names: self.names.clone(),
            tenant: tenant.into(),
            allowed: self.allowed.clone(),
            is_plain: false,
        };
        let plain = Resolver { is_plain: true, ..resolver.clone() };
        let http = |resolver| {
            let mut builder = legacy::Client::builder(TokioExecutor::new());
            builder
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(IDLE_TIME)
                .pool_max_idle_per_host(IDLE_CONNECTIONS)
                .timer(TokioTimer::new())
                .http2_adaptive_window(true);
            if versions == Versions::Http1 {
                builder.http1_max_buf_size(LASTING_BUFFER);
            }
            let connector = Connector::new(tls.clone(), resolver, self.connect_timeout, versions);
            let http = Decompression::new(builder.build(connector));
            if versions == Versions::Http1 { http.no_gzip() } else { http }
        };
        ProviderClient { http: http(resolver), plain: http(plain), user_agent: self.user_agent.clone() }
    }
}

/// One tenant's client for the providers of one connector.
#[derive(Clone)]
pub(crate) struct ProviderClient {
    http: Decompression<legacy::Client<Connector, ClientBody>>,
    /// For credentials over plain http, with separate connections: other addresses are allowed for those.
    plain: Decompression<legacy::Client<Connector, ClientBody>>,
    user_agent: HeaderValue,
}

impl ProviderClient {
    /// Sends a request to an absolute URL, and waits for the head of the answer. Credentials go over plain http only to addresses
    /// that the operator allows.
    pub(super) async fn send(
        &self,
        request: Request<ClientBody>,
    ) -> Result<DecompressedResponse, legacy::Error> {
        let is_secret = request.headers().contains_key(AUTHORIZATION);
        self.send_as(request, is_secret).await
    }

    /// The same for a request that is secret as a whole, including its body.
    pub(super) async fn send_secret(
        &self,
        request: Request<ClientBody>,
    ) -> Result<DecompressedResponse, legacy::Error> {
        self.send_as(request, true).await
    }

    async fn send_as(
        &self,
        mut request: Request<ClientBody>,
        is_secret: bool,
    ) -> Result<DecompressedResponse, legacy::Error> {
        let headers = request.headers_mut();
        headers.entry(USER_AGENT).or_insert_with(|| self.user_agent.clone());
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        let is_plain = is_secret && request.uri().scheme_str() == Some("http");
        let http = if is_plain { &self.plain } else { &self.http };
        http.clone().oneshot(request).await
    }
}

/// The system's certificates, read once per process: they are hundreds of files, and every caller needs the same.
fn system_roots() -> rustls::RootCertStore {
    static READ: OnceLock<rustls::RootCertStore> = OnceLock::new();
    let read = || {
        let system = rustls_native_certs::load_native_certs();
        for error in &system.errors {
            tracing::warn!("reading the system's certificates: {error}");
        }
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(system.certs);
        roots
    };
    READ.get_or_init(read).clone()
}

/// TLS with the system's certificates and these (PEM).
pub(super) fn tls(extra_roots_pem: &[String]) -> anyhow::Result<rustls::ClientConfig> {
    let mut roots = system_roots();
    for pem in extra_roots_pem {
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            roots
                .add(certificate.context("an extra trusted certificate")?)
                .context("an extra trusted certificate")?;
        }
    }
    if roots.is_empty() {
        tracing::warn!(
            "no trusted certificates: https to providers will fail until the system has ca-certificates"
        );
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    Ok(rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}
