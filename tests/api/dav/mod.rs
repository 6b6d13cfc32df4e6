//! The main job on real CalDAV and CardDAV servers, through the HTTP API and the sandboxed connector: a check of the sandbox provider's
//! tests against servers that others wrote.

mod across_pages;
mod calendars;
mod contacts;
mod foreign_exceptions;
mod large;
mod lengths;
mod moved_series;
mod moved_tasks;
mod odd_objects;
mod own_zones;
mod renamed;
mod silence;
mod tasks;
mod written;

use harness::{Actor, TestServer};
use serde_json::{Value, json};

/// Returns the address of a peer, or none if the peers are not up; then, unless they are required, the test says so and ends.
pub fn peer(name: &str) -> Option<String> {
    let url = std::env::var(name).ok();
    if url.is_none() {
        assert_ne!(std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(), Ok("1"), "{name} is not set");
        println!("NOT RUN: {name} is not set; `cargo xtask test` starts the peers");
    }
    url
}

pub async fn server() -> TestServer {
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    TestServer::builder().real_time().config(|c| c.egress_allow = loopback).start().await
}

pub async fn connect(api: &Actor, url: &str, user: &str) -> Value {
    api.connect(json!({
        "provider": "dav", "settings": { "serverUrl": url },
        "credentials": { "username": user, "password": "secret" },
        "scopes": ["calendar.read", "calendar.write", "contacts.read", "contacts.write", "tasks.read", "tasks.write"],
    }))
    .await
}

/// The two servers that are up, with their names.
pub fn servers() -> Vec<(&'static str, String)> {
    [("radicale", "RADICALE_URL"), ("cyrus", "CYRUS_URL")]
        .into_iter()
        .filter_map(|(name, variable)| Some((name, peer(variable)?)))
        .collect()
}

/// Stores an object as another client: a resource of the collection with this href.
pub async fn put(url: &str, user: &str, collection: &str, name: &str, (media_type, text): (&str, &str)) {
    let client = harness::http_client().build().expect("an HTTP client");
    let href = format!("{}{collection}{name}", url.trim_end_matches('/'));
    let request = client.put(href).basic_auth(user, Some("secret")).header("content-type", media_type);
    let response = request.body(text.replace('\n', "\r\n")).send().await.expect("the server answers");
    assert!(response.status().is_success(), "{}", response.status());
}

/// Takes the resource away, as another client does.
pub async fn delete(url: &str, user: &str, href: &str) {
    let client = harness::http_client().build().expect("an HTTP client");
    let href = format!("{}{href}", url.trim_end_matches('/'));
    let response =
        client.delete(href).basic_auth(user, Some("secret")).send().await.expect("the server answers");
    assert!(response.status().is_success(), "{}", response.status());
}

/// The resource as it is.
pub async fn got(url: &str, user: &str, href: &str) -> String {
    let client = harness::http_client().build().expect("an HTTP client");
    let request = client.get(format!("{}{href}", url.trim_end_matches('/'))).basic_auth(user, Some("secret"));
    request.send().await.expect("the server answers").text().await.expect("a text")
}
