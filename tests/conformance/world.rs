//! Helpers of the sandbox tests: guests made from text, a runtime in a folder of its own, and a provider on loopback.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a panic is the report")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use runtime::{
    Blobs, Call, CallContext, Config, Credentials, CredentialsError, HttpSettings, Limits, NoCredentials,
    PoolStatus, Runtime, Secret, Surface, SystemLookup, Verb,
};
use serde_json::{Value, json};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

/// 2025-01-01.
pub const START_MS: i64 = 1_735_689_600_000;

/// Returns the text of a guest module, with its prelude.
pub fn guest_text(name: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/guests");
    let read = |name: &str| std::fs::read_to_string(dir.join(format!("{name}.wat"))).unwrap();
    let text = read(name).replace(";;prelude", &read("prelude"));
    format!("(module {text})")
}

/// A calendar connector made of this module.
pub fn component(module_text: &str) -> Vec<u8> {
    encode(module_text, "calendar-connector")
}

/// A component made of this module, of a world of `wit/` or of `guests/wasi_http.wit`.
pub fn encode(module_text: &str, world: &str) -> Vec<u8> {
    let mut module = wat::parse_str(module_text).unwrap();
    let mut resolve = wit_parser::Resolve::default();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (ours, _) = resolve.push_path(here.join("../wit")).unwrap();
    let (of_wasi, _) = resolve.push_path(here.join("conformance/guests/wasi_http.wit")).unwrap();
    let find = |package| resolve.packages[package].worlds.get(world).copied();
    let world = find(ours).or_else(|| find(of_wasi)).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().validate(true).module(&module).unwrap().encode().unwrap()
}

/// The component of a guest in `guests/`.
pub fn guest(name: &str) -> Vec<u8> {
    component(&guest_text(name))
}

/// A manifest of level strict; `more` is appended.
pub fn manifest(name: &str, version: &str, more: &str) -> String {
    format!(
        r#"
name = "{name}"
version = "{version}"
title = "A guest"
level = "strict"
surfaces = ["calendar@1.0.0"]
{more}
"#
    )
}

/// A manifest for guests that speak to the server named in the settings.
pub const SELF_HOSTED: &str = r#"
hosts_from_settings = ["serverUrl"]
[[settings]]
name = "serverUrl"
description = "where the server is"
"#;

/// Limits that a test reaches soon.
pub fn tight() -> Limits {
    Limits {
        wall_ms: 3_000,
        cpu_ms: 300,
        host_calls: 20_000,
        max_concurrent: 8,
        max_per_tenant: 4,
        max_queued: 64,
        log_lines: 100,
        http_requests: 16,
        blob_bytes: 4 << 20,
        ..Limits::default()
    }
}

/// A runtime whose folders and clock are the test's.
pub struct World {
    pub runtime: Runtime,
    pub clock_ms: Arc<AtomicI64>,
    pub config: Config,
    dir: tempfile::TempDir,
}

impl World {
    /// Starts a runtime without connectors.
    pub async fn start(limits: Limits, egress_allow: &[&str]) -> World {
        World::with(limits, egress_allow, |_| {}).await
    }

    /// Starts a runtime without connectors, with a change of its configuration.
    pub async fn with(limits: Limits, egress_allow: &[&str], change: impl FnOnce(&mut Config)) -> World {
        let dir = tempfile::tempdir().unwrap();
        let clock_ms = Arc::new(AtomicI64::new(START_MS));
        let clock = clock_ms.clone();
        let mut config = Config {
            cache_dir: dir.path().join("cache"),
            store_dir: dir.path().join("store"),
            bundle_dir: Some(dir.path().join("bundle")),
            artefact_key: [7; 32],
            egress_allow: egress_allow.iter().map(|net| net.parse().unwrap()).collect(),
            webhook_allow: Vec::new(),
            approved_origins: Vec::new(),
            own_provider: None,
            lookup: Arc::new(SystemLookup),
            transport: None,
            limits,
            now: Arc::new(move || clock.load(Ordering::SeqCst)),
            http: HttpSettings::default(),
            compile_in_child: None,
            lines: false,
            observer: None,
            shared: None,
        };
        change(&mut config);
        let runtime = Runtime::start(config.clone()).await.unwrap();
        World { runtime, clock_ms, config, dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a connector into a folder of this name, and returns its path.
    pub fn write(&self, folder: &str, manifest: &str, name: &str, wasm: &[u8]) -> PathBuf {
        let dir = self.dir.path().join(folder);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("connector.toml"), manifest).unwrap();
        std::fs::write(dir.join(format!("{name}.wasm")), wasm).unwrap();
        dir
    }

    /// Installs a guest of `guests/` under its own name (`_` as `-`).
    pub async fn install(&self, guest_name: &str, more: &str) -> String {
        let name = guest_name.replace('_', "-");
        let dir = self.write(&name, &manifest(&name, "1.0.0", more), &name, &guest(guest_name));
        self.runtime.install(&dir).await.unwrap();
        name
    }

    /// Waits until no call runs, and returns the pool's status: nothing is in use if every slot was freed.
    pub async fn settled(&self) -> PoolStatus {
        let started = Instant::now();
        loop {
            let status = self.runtime.status();
            let pool = status.pool.unwrap_or_default();
            let idle = status.occupancy.running == 0
                && status.occupancy.queued == 0
                && status.occupancy.memory_mib == 0;
            if idle && pool == PoolStatus::default() || started.elapsed() > Duration::from_secs(3) {
                assert!(idle, "room was not given back: {:?}", status.occupancy);
                return pool;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A call of `calendar.fetch` for tenant "t1" without credentials.
pub fn call(connector: &str) -> Call {
    Call {
        connector: connector.to_owned(),
        surface: Surface::Calendar,
        verb: Verb::Fetch,
        op: "noop".to_owned(),
        body: "{}".to_owned(),
        cursor: None,
        idempotency_key: None,
        extra: Vec::new(),
        blobs: Blobs::default(),
        context: CallContext {
            tenant: "t1".to_owned(),
            connection_id: "con_1".to_owned(),
            request_id: "req_1".to_owned(),
            background: false,
            settings: serde_json::Map::new(),
            credentials: Arc::new(NoCredentials),
            origins: Arc::default(),
            limits: None,
            progress: None,
            seed: None,
            timeout_ms: None,
        },
    }
}

/// A call of `guests/http_probe.wat`, which sends this request.
pub fn probe(
    method: &str,
    url: &str,
    header: Option<(&str, &str)>,
    server: &str,
    credentials: Arc<dyn Credentials>,
) -> Call {
    let mut call = call("http-probe");
    call.op = method.to_owned();
    call.body = url.to_owned();
    call.cursor = header.map(|(name, _)| name.to_owned());
    call.idempotency_key = header.map(|(_, value)| value.to_owned());
    call.context.settings = json!({"serverUrl": server}).as_object().unwrap().clone();
    call.context.credentials = credentials;
    call
}

/// Credentials of one fixed header, replaced by another once refreshed.
pub struct Fixed(pub &'static str, pub Option<&'static str>);

#[async_trait]
impl Credentials for Fixed {
    async fn authorization(&self, slot: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok((slot == "default").then(|| Secret::new(self.0)))
    }

    async fn refreshed(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(self.1.map(Secret::new))
    }
}

/// Starts a provider on loopback, and returns its origin.
pub async fn provider() -> String {
    use axum::http::{HeaderMap, StatusCode, header};
    use axum::response::IntoResponse;
    use axum::routing::any;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    async fn echo(headers: HeaderMap) -> impl IntoResponse {
        let seen = headers.get(header::AUTHORIZATION).map_or("", |v| v.to_str().unwrap()).to_owned();
        let others: Value = headers
            .iter()
            .map(|(n, v)| (n.to_string(), json!(String::from_utf8_lossy(v.as_bytes()))))
            .collect();
        let body = json!({
            "raw": seen,
            "base64": STANDARD.encode(&seen),
            "base64Shifted": STANDARD.encode(format!("x{seen}")),
            "base64url": URL_SAFE_NO_PAD.encode(&seen),
            "length": seen.len(),
            "headers": others,
        });
        ([("x-echo", seen), ("set-cookie", "session=1".to_owned())], axum::Json(body))
    }
    async fn only_fresh(headers: HeaderMap) -> impl IntoResponse {
        let fresh = headers.get(header::AUTHORIZATION).is_some_and(|v| v == "Bearer fresh-token-0123456789");
        let status = if fresh { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
        (status, axum::Json(json!({ "fresh": fresh })))
    }
    async fn redirect(uri: axum::http::Uri) -> impl IntoResponse {
        let to = uri.query().unwrap_or("").to_owned();
        (StatusCode::FOUND, [(header::LOCATION, to)], "moved")
    }
    async fn slow() -> &'static str {
        tokio::time::sleep(Duration::from_secs(30)).await;
        "{}"
    }
    async fn big() -> String {
        format!("\"{}\"", "x".repeat(20 << 20))
    }
    let app = axum::Router::new()
        .route("/echo", any(echo))
        .route("/only-fresh", any(only_fresh))
        .route("/redirect", any(redirect))
        .route("/slow", any(slow))
        .route("/big", any(big))
        .route("/length", any(async |body: axum::body::Bytes| axum::Json(json!({ "length": body.len() }))));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    origin
}
