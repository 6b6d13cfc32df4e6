//! An OpenID provider of the tests' own, on the loopback interface, which signs what a test tells it to. It keeps to the rules that it has to
//! keep: a code counts once, for its client, its redirect URI and its verifier.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::browser::parameter;
use harness::{Builder, TestServer};
use reqwest::Url;
use serde_json::{Value, json};
use service::app::App;
use service::app::config::OidcSettings;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

use crate::push::keys::{Signer, coded};

const CLIENT_ID: &str = "panel";
const CLIENT_SECRET: &str = "a secret & more";
const ACCESS_TOKEN: &str = "at-1";

/// The conduct of the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenAnswer {
    /// The worth of the code.
    Honest,
    /// 36 MB.
    Large,
    /// The address of another endpoint, which gives the token.
    Elsewhere,
}

/// The provider.
pub struct OpenIdProvider {
    pub signer: Signer,
    pub issuer: String,
    shared: Arc<Shared>,
}

/// The worth of a code.
struct Grant {
    challenge: String,
    redirect_uri: String,
    id_token: String,
}

struct Shared {
    document: Mutex<Value>,
    keys: Mutex<Value>,
    /// The answer of `/me`.
    profile: Mutex<Value>,
    answer: Mutex<TokenAnswer>,
    grants: Mutex<BTreeMap<String, Grant>>,
    codes: AtomicUsize,
    /// Requests to the endpoint that a redirect leads to.
    strayed: AtomicUsize,
    /// Held for writing, it holds answers of the token endpoint back.
    gate: Arc<RwLock<()>>,
}

impl OpenIdProvider {
    pub async fn start() -> OpenIdProvider {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (issuer, signer) = (format!("http://{address}"), Signer::es256("1"));
        let shared = Arc::new(Shared {
            document: Mutex::new(document(address)),
            keys: Mutex::new(json!({ "keys": [signer.public()] })),
            profile: Mutex::default(),
            answer: Mutex::new(TokenAnswer::Honest),
            grants: Mutex::default(),
            codes: AtomicUsize::default(),
            strayed: AtomicUsize::default(),
            gate: Arc::default(),
        });
        let (documents, keys, tokens) = (shared.clone(), shared.clone(), shared.clone());
        let (profiles, strays) = (shared.clone(), shared.clone());
        let discovery = async move || Json(documents.document.lock().expect("it is whole").clone());
        let key_set = async move || Json(keys.keys.lock().expect("it is whole").clone());
        let token = async move |headers: HeaderMap, form: Bytes| tokens.token(&headers, &form).await;
        let profile = async move |headers: HeaderMap| profiles.profile(&headers);
        let elsewhere = async move |form: Bytes| {
            strays.strayed.fetch_add(1, Ordering::Relaxed);
            strays.redeem(&form)
        };
        let routes = axum::Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(key_set))
            .route("/token", post(token))
            .route("/me", get(profile))
            .route("/elsewhere", post(elsewhere));
        tokio::spawn(async move { axum::serve(listener, routes).await.expect("the provider stays") });
        OpenIdProvider { signer, issuer, shared }
    }

    /// A server at whose panel people sign in by this provider.
    pub fn server(&self) -> Builder {
        let oidc = OidcSettings {
            issuer: self.issuer.clone(),
            client_id: CLIENT_ID.to_owned(),
            client_secret: Some(CLIENT_SECRET.into()),
            name: "Example ID".to_owned(),
            deadline: Duration::from_secs(5),
        };
        TestServer::builder().config(|config| config.admin_oidc = Some(oidc))
    }

    /// The claims about a person, for the authorization to which a browser was sent by this address.
    #[track_caller]
    pub fn claims(&self, app: &App, url: &str, subject: &str) -> Value {
        let now_s = app.now() / 1_000;
        json!({ "iss": self.issuer, "aud": CLIENT_ID, "sub": subject, "iat": now_s, "exp": now_s + 300,
            "auth_time": now_s, "nonce": parameter(url, "nonce").expect("a nonce"),
            "email": format!("{subject}@example.com"), "email_verified": true, "name": "Ada Lovelace" })
    }

    /// Takes an authorization; the path and query by which the browser returns, with a code that is worth this ID token.
    #[track_caller]
    pub fn grant(&self, url: &str, id_token: String) -> String {
        assert!(url.starts_with(&format!("{}/auth?", self.issuer)), "{url}");
        let asked = |name: &str| parameter(url, name).unwrap_or_else(|| panic!("no {name} in {url}"));
        assert_eq!((asked("response_type").as_str(), asked("client_id").as_str()), ("code", CLIENT_ID));
        assert_eq!(asked("code_challenge_method"), "S256");
        assert!(asked("scope").split(' ').any(|scope| scope == "openid"), "{url}");
        let code = format!("code {}", self.shared.codes.fetch_add(1, Ordering::Relaxed));
        let (challenge, redirect_uri) = (asked("code_challenge"), asked("redirect_uri"));
        let mut back = Url::parse(&redirect_uri).expect("a URL");
        back.query_pairs_mut().append_pair("code", &code).append_pair("state", &asked("state"));
        let grant = Grant { challenge, redirect_uri, id_token };
        self.shared.grants.lock().expect("it is whole").insert(code, grant);
        format!("{}?{}", back.path(), back.query().unwrap_or_default())
    }

    /// The same for a person whom the provider tells good things of.
    #[track_caller]
    pub fn vouch(&self, app: &App, url: &str, subject: &str) -> String {
        self.grant(url, self.signer.token(&self.claims(app, url, subject)))
    }

    /// From now on it has these keys.
    pub fn has_keys(&self, signers: &[&Signer]) {
        let keys: Vec<Value> = signers.iter().map(|signer| signer.public()).collect();
        *self.shared.keys.lock().expect("it is whole") = json!({ "keys": keys });
    }

    /// From now on its document says this of one thing.
    pub fn says(&self, name: &str, value: Value) {
        self.shared.document.lock().expect("it is whole")[name] = value;
    }

    /// From now on it tells this of whom an access token is for.
    pub fn tells(&self, profile: Value) {
        *self.shared.profile.lock().expect("it is whole") = profile;
    }

    /// From now on the token endpoint answers so.
    pub fn answers(&self, answer: TokenAnswer) {
        *self.shared.answer.lock().expect("it is whole") = answer;
    }

    /// How often a redirect was followed.
    pub fn strayed(&self) -> usize {
        self.shared.strayed.load(Ordering::Relaxed)
    }

    /// Holds answers of the token endpoint back until what this returns is dropped.
    pub async fn hold(&self) -> OwnedRwLockWriteGuard<()> {
        self.shared.gate.clone().write_owned().await
    }
}

fn document(address: SocketAddr) -> Value {
    let at = |path: &str| format!("http://{address}/{path}");
    json!({ "issuer": format!("http://{address}"), "authorization_endpoint": at("auth"),
        "token_endpoint": at("token"), "jwks_uri": at("keys"), "userinfo_endpoint": at("me"), "response_types_supported": ["code"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"] })
}

impl Shared {
    async fn token(&self, headers: &HeaderMap, form: &[u8]) -> Response {
        let _open = self.gate.read().await;
        // Both parts are encoded as in a form before they are put together (RFC 6749, section 2.3.1).
        let wanted = format!("Basic {}", BASE64_STANDARD.encode(format!("{CLIENT_ID}:a+secret+%26+more")));
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if sent != Some(wanted.as_str()) {
            return (StatusCode::UNAUTHORIZED, Json(json!({ "error": "invalid_client" }))).into_response();
        }
        match *self.answer.lock().expect("it is whole") {
            TokenAnswer::Honest => self.redeem(form),
            TokenAnswer::Large => vec![b' '; 36 << 20].into_response(),
            TokenAnswer::Elsewhere => {
                (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/elsewhere")]).into_response()
            }
        }
    }

    fn profile(&self, headers: &HeaderMap) -> Response {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        match sent == Some(format!("Bearer {ACCESS_TOKEN}").as_str()) {
            true => Json(self.profile.lock().expect("it is whole").clone()).into_response(),
            false => StatusCode::UNAUTHORIZED.into_response(),
        }
    }

    /// The answer to a code.
    fn redeem(&self, form: &[u8]) -> Response {
        let form = format!("http://form.test/?{}", String::from_utf8_lossy(form));
        let sent = |name: &str| parameter(&form, name).unwrap_or_default();
        let grant = self.grants.lock().expect("it is whole").remove(&sent("code"));
        let is_good = |grant: &Grant| {
            sent("grant_type") == "authorization_code"
                && sent("redirect_uri") == grant.redirect_uri
                && coded(Sha256::digest(sent("code_verifier"))) == grant.challenge
        };
        match grant.filter(is_good) {
            Some(grant) => Json(json!({ "access_token": ACCESS_TOKEN, "token_type": "Bearer",
                "expires_in": 60, "id_token": grant.id_token }))
            .into_response(),
            None => (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" }))).into_response(),
        }
    }
}
