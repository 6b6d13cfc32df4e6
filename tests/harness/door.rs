//! A door in front of a real server: TLS under a certificate of our own authority, and access tokens instead of passwords.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

use crate::http_client;

/// The address of the door, and the certificate that clients need.
pub struct Door {
    /// `https://localhost:…`
    pub origin: String,
    /// The certificate of the door's own authority, PEM: only clients that trust it can connect.
    pub authority_pem: String,
}

/// The account that the server behind the door has for a token.
#[derive(Clone)]
pub struct Account {
    pub token: &'static str,
    pub user: &'static str,
    pub password: &'static str,
}

impl Door {
    /// A door in front of the server at `behind`.
    pub async fn open(behind: &str, account: Account) -> Door {
        let key = KeyPair::generate().expect("a key");
        let mut authority = CertificateParams::new(Vec::new()).expect("parameters");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, key).expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let certificate = CertificateParams::new(vec!["localhost".to_owned()])
            .and_then(|of| of.signed_by(&key, &authority))
            .expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("TLS versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate with its key");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let behind = behind.trim_end_matches('/').to_owned();
        let client = http_client().build().expect("an HTTP client");
        let through = async move |request: Request| pass(&client, &behind, &account, request).await;
        let app = axum::Router::new().fallback(through);
        let tls = Tls { listener, acceptor: TlsAcceptor::from(Arc::new(config)) };
        tokio::spawn(async move { axum::serve(tls, app).await.expect("the door stays open") });
        Door { origin: format!("https://localhost:{port}"), authority_pem: authority.pem() }
    }
}

async fn pass(client: &reqwest::Client, behind: &str, account: &Account, request: Request) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION).cloned();
    if shown.is_none_or(|shown| shown != format!("Bearer {}", account.token)) {
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response();
    }
    let (mut head, body) = request.into_parts();
    for name in [header::AUTHORIZATION, header::HOST, header::CONTENT_LENGTH] {
        head.headers.remove(name);
    }
    let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let asked = client
        .request(head.method, format!("{behind}{}", head.uri.path_and_query().map_or("/", |p| p.as_str())))
        .headers(head.headers)
        .basic_auth(account.user, Some(account.password))
        .body(body);
    let answer = asked.send().await.expect("the server behind the door answers");
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    for name in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION] {
        headers.remove(name);
    }
    (status, headers, Body::from(answer.bytes().await.expect("a body"))).into_response()
}

struct Tls {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.listener.accept().await.expect("somebody comes");
            // A client that does not trust the certificate closes the connection.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}
