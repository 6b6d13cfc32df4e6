//! The HTTP clients: one per tenant and connector, so that no two tenants share a connection or a TLS session. No proxies, no
//! redirects, no cookies; every name goes through the checking resolver.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use ipnet::IpNet;
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::runtime::outbound::address::Resolver;

/// Clients kept; beyond it the one unused for longest goes, with its idle connections.
const KEPT: usize = 512;

/// Settings of all clients.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// What providers see as `User-Agent` unless the connector sets its own.
    pub user_agent: String,
    /// For a connection to be made, TLS included, ms.
    pub connect_timeout_ms: u64,
    /// Certificates (PEM, one or several) trusted beside the system's.
    pub extra_roots_pem: Vec<String>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            user_agent: concat!("Switchboard/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout_ms: 10_000,
            extra_roots_pem: Vec::new(),
        }
    }
}

pub(crate) struct Clients {
    settings: HttpSettings,
    tls: rustls::ClientConfig,
    allowed: Arc<[IpNet]>,
    pool: Mutex<Pool>,
}

#[derive(Default)]
struct Pool {
    clients: HashMap<(String, String), (reqwest::Client, u64)>,
    uses: u64,
}

impl Clients {
    pub(crate) fn new(settings: HttpSettings, allowed: Arc<[IpNet]>) -> anyhow::Result<Self> {
        let tls = tls(&settings.extra_roots_pem)?;
        Ok(Clients { settings, tls, allowed, pool: Mutex::default() })
    }

    /// The client of this tenant and connector.
    pub(crate) fn get(&self, tenant: &str, connector: &str) -> Result<reqwest::Client, reqwest::Error> {
        let mut pool = self.pool.lock().expect("no panic while choosing a client");
        pool.uses += 1;
        let now = pool.uses;
        let key = (tenant.to_owned(), connector.to_owned());
        if let Some((client, used)) = pool.clients.get_mut(&key) {
            *used = now;
            return Ok(client.clone());
        }
        if pool.clients.len() >= KEPT {
            let oldest = pool.clients.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.map(|key| pool.clients.remove(&key));
        }
        let client = self.build()?;
        pool.clients.insert(key, (client.clone(), now));
        Ok(client)
    }

    /// For lines that do not speak HTTP: the same roots, and no protocol to agree on. Sessions are not resumed: a ticket would be
    /// shared by tenants.
    pub(crate) fn line_tls(&self) -> rustls::ClientConfig {
        let mut tls = self.tls.clone();
        tls.alpn_protocols = Vec::new();
        tls.resumption = Resumption::disabled();
        tls
    }

    fn build(&self) -> Result<reqwest::Client, reqwest::Error> {
        let mut tls = self.tls.clone();
        // The roots are shared, the sessions are not.
        tls.resumption = Resumption::in_memory_sessions(32);
        reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .dns_resolver(Resolver { allowed: self.allowed.clone() })
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .user_agent(&self.settings.user_agent)
            .connect_timeout(Duration::from_millis(self.settings.connect_timeout_ms))
            .pool_idle_timeout(Duration::from_secs(60))
            .pool_max_idle_per_host(32)
            .http2_adaptive_window(true)
            .build()
    }
}

fn tls(extra_roots_pem: &[String]) -> anyhow::Result<rustls::ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        tracing::warn!("reading the system's certificates: {error}");
    }
    roots.add_parsable_certificates(system.certs);
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
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
