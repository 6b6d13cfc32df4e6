//! A scripted connector: it passes each call to a server in the test, which returns the prepared pages.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::StatusCode;
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::connections;
use storage::api_keys;
use storage::connections::Connection;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

const MANIFEST: &str = r#"
name = "relay"
version = "1.0.0"
title = "A relay"
level = "strict"
surfaces = ["email@1.0.0", "calendar@1.0.0", "contacts@1.0.0", "tasks@1.0.0", "lifecycle@1.0.0"]
hosts_from_settings = ["serverUrl"]
[auth]
kinds = ["basic"]
[[settings]]
name = "serverUrl"
description = "where the server is"
"#;

/// The scripted responses of the provider.
#[derive(Clone, Default)]
pub struct Provider(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    /// The answer of each operation; one without gets an empty page.
    pages: HashMap<String, Value>,
    /// The answers of its next calls, before that one.
    scripts: HashMap<String, VecDeque<ScriptedAnswer>>,
    /// Operations whose next answer notes a wait.
    waits: HashSet<String>,
    calls: u32,
    calls_of: HashMap<String, u32>,
}

/// An answer of an operation. The connector ignores the status.
pub struct ScriptedAnswer {
    pub status: u16,
    pub more: bool,
    pub body: Value,
}

impl ScriptedAnswer {
    /// A last page.
    pub fn page(body: Value) -> ScriptedAnswer {
        ScriptedAnswer { status: 200, more: false, body }
    }
}

impl Provider {
    /// Sets the response of this operation from now on.
    pub fn tell(&self, op: &str, body: Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pages.insert(op.to_owned(), body);
    }

    /// Has the next calls of this operation answer so, each once.
    pub fn script(&self, op: &str, answers: impl IntoIterator<Item = ScriptedAnswer>) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.scripts.entry(op.to_owned()).or_default().extend(answers);
    }

    /// Has the next answer of this operation report a wait of a minute, in the bucket "calendar".
    pub fn wait_once(&self, op: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).waits.insert(op.to_owned());
    }

    /// How often this operation was called.
    pub fn calls_of(&self, op: &str) -> u32 {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.calls_of.get(op).copied().unwrap_or(0)
    }

    fn answer(&self, request: &str) -> (StatusCode, String) {
        let op = request.lines().next().unwrap_or_default();
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.calls += 1;
        *told.calls_of.entry(op.to_owned()).or_default() += 1;
        let number = told.calls;
        let wait = if told.waits.remove(op) { 2 } else { 0 };
        if let Some(scripted) = told.scripts.get_mut(op).and_then(VecDeque::pop_front) {
            let status = StatusCode::from_u16(scripted.status).expect("a status");
            return (status, format!("{}c{number:07}{}", wait + u8::from(scripted.more), scripted.body));
        }
        let body = match told.pages.get(op) {
            Some(body) => body.clone(),
            None if op == "check" => json!({ "externalAccountId": "a", "email": "a@relay.test",
                "surfaces": ["email", "calendar", "contacts", "tasks"] }),
            None => json!({ "sources": [] }),
        };
        (StatusCode::OK, format!("{wait}c{number:07}{body}"))
    }
}

/// A service with the relay in it, and an account there.
pub struct World {
    pub server: TestServer,
    pub api: Actor,
    pub provider: Provider,
    pub connection: Connection,
}

impl World {
    pub async fn open() -> World {
        World::open_with("").await
    }

    /// Opens a world with more lines in the connector's manifest.
    pub async fn open_with(more: &str) -> World {
        let provider = Provider::default();
        let url = serve(provider.clone()).await;
        let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
        let server = TestServer::builder().config(|c| c.egress_allow = loopback).start().await;
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("connector.toml"), format!("{MANIFEST}{more}")).expect("a manifest");
        std::fs::write(dir.path().join("relay.wasm"), component(&url)).expect("a component");
        server.app.runtime.install(dir.path()).await.expect("it is fit to be installed");
        let api = server.client().await;
        let made = api.connect(json!({
            "provider": "relay",
            "settings": { "serverUrl": url },
            "credentials": { "username": "a", "password": "b" },
            "scopes": ["email.read", "calendar.read", "calendar.write", "contacts.read", "tasks.read"],
        }));
        let id = made.await["id"].as_str().expect("an id").to_owned();
        let tenant = api_keys::tenants(server.app.db.reader()).await.expect("a query").remove(0);
        let connection = connections::find(&server.app, &tenant, &id).await.expect("it is there");
        World { server, api, provider, connection }
    }
}

async fn serve(provider: Provider) -> String {
    let answer = async |State(provider): State<Provider>, request: String| provider.answer(&request);
    let router = axum::Router::new().fallback(answer).with_state(provider);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await.expect("the provider runs") });
    url
}

fn component(url: &str) -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = include_str!("relay.wat")
        .replace(";;prelude", include_str!("../../../conformance/guests/prelude.wat"))
        .replace(";;url", url)
        .replace(";;len", &url.len().to_string());
    let mut module = wat::parse_str(format!("(module {text})")).expect("a module");
    let mut resolve = wit_parser::Resolve::default();
    let (package, _) = resolve.push_path(here.join("../wit")).expect("the interfaces");
    let world = resolve.packages[package].worlds["connector-all"];
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata");
    let mut encoder = ComponentEncoder::default().validate(true).module(&module).expect("a module");
    encoder.encode().expect("a component")
}
