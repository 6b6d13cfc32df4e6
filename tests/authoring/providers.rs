//! Providers other than the kit's Paper: slow ones, ones that limit requests, and fakes of a provider at a fixed address.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use reqwest::Client;
use tokio::net::TcpListener;

use crate::project::{Ended, Notes, command};
use crate::recordings::project;

/// Longer than the time limit of an answer before the pace is measured.
const SLOW: Duration = Duration::from_millis(450);
/// Bytes of a request.
const MAX_BODY: usize = 1 << 20;

/// The behaviour of a fake.
#[derive(Clone, Copy, Default)]
pub struct Behaviour {
    /// The delay of each answer.
    pub takes: Duration,
    /// The number of first requests that are answered with 429, and the seconds of its Retry-After.
    pub limits: (usize, u32),
}

/// Paper behind a server that behaves like a real one; ended when this is dropped.
pub struct FakeProvider {
    pub url: String,
    hosts: Arc<Mutex<Vec<String>>>,
    paper: Child,
}

impl FakeProvider {
    pub async fn start(behaviour: Behaviour) -> FakeProvider {
        let dir = std::env::temp_dir();
        let mut paper = command(&dir, &["connector", "provider", "paper", "--listen", "127.0.0.1:0"]);
        let mut paper = paper.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(paper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let behind = line.trim().strip_prefix("paper on ").unwrap().to_owned();
        let hosts = Arc::<Mutex<Vec<String>>>::default();
        let (seen, client) = (hosts.clone(), Client::builder().no_proxy().build().unwrap());
        let router = Router::new().fallback(move |request: Request| {
            let (seen, client, behind) = (seen.clone(), client.clone(), behind.clone());
            async move {
                let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
                let count = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(host.unwrap_or_default().to_owned());
                    seen.len()
                };
                tokio::time::sleep(behaviour.takes).await;
                if count <= behaviour.limits.0 {
                    let wait = behaviour.limits.1.to_string();
                    return (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, wait)]).into_response();
                }
                passed_on(&client, &behind, request).await
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        FakeProvider { url, hosts, paper }
    }

    /// The `Host` of each request.
    pub fn hosts(&self) -> Vec<String> {
        self.hosts.lock().unwrap().clone()
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        let _ = self.paper.kill();
        let _ = self.paper.wait();
    }
}

/// Paper's answer.
async fn passed_on(client: &Client, paper: &str, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MAX_BODY).await.unwrap();
    let mut headers = head.headers;
    for name in [header::HOST, header::CONTENT_LENGTH, header::ACCEPT_ENCODING] {
        headers.remove(name);
    }
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let request = client.request(head.method, format!("{paper}{path}")).headers(headers).body(body);
    let answer = request.send().await.unwrap();
    let status = answer.status();
    let body = answer.bytes().await.unwrap();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Runs a command in the project, while the fake answers.
async fn run(notes: Arc<Notes>, arguments: &'static [&'static str]) -> Ended {
    tokio::task::spawn_blocking(move || notes.run(arguments)).await.unwrap()
}

fn write_project(notes: &Notes, provider: &FakeProvider, server: &str) {
    let url = &provider.url;
    notes.write(
        "project.toml",
        &format!(
            "lang = \"rust\"\n[test]\nprovider = {{ url = \"{url}\", token = \"paper-kit\" }}\nsettings = {{ serverUrl = \"{server}\" }}\n"
        ),
    );
}

/// Names Paper's host in the manifest, and not in a setting.
pub fn name_host(notes: &Notes, manifest: &str) {
    let text = notes.read(manifest);
    const SETTING: &str = "hosts_from_settings = [\"serverUrl\"]";
    assert_eq!(text.matches(SETTING).count(), 1);
    let hosts = "hosts = [{ host = \"api.paper.test\", inject = \"default\" }]";
    notes.write(manifest, &text.replace(SETTING, hosts));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_provider_gets_more_time() {
    let provider = FakeProvider::start(Behaviour { takes: SLOW, ..Behaviour::default() }).await;
    let notes = Arc::new(project());
    write_project(&notes, &provider, &provider.url);
    let tested = run(notes, &["connector", "test", "--no-build", "--case", "D1,D3"]).await;
    let said = "==> the provider itself is slow (";
    assert!(tested.stderr.contains(said) && tested.stderr.contains("connector record"), "{}", tested.stderr);
    let report = tested.ok();
    assert!(report.contains("2 passed, 0 failed"), "{report}");
    assert!(report.contains("\nnote: the provider itself is slow: its slowest answer took "), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_limits_requests_is_waited_for() {
    let provider = FakeProvider::start(Behaviour { limits: (1, 1), ..Behaviour::default() }).await;
    let notes = Arc::new(project());
    write_project(&notes, &provider, &provider.url);
    let tested = run(notes, &["connector", "test", "--no-build", "--case", "D1,D3"]).await;
    let said = "==> the provider limits requests (429): waiting 1.0 s; a run waits 10 min at most in all";
    assert!(tested.stderr.contains(said), "{}", tested.stderr);
    let report = tested.ok();
    assert!(report.contains("2 passed, 0 failed"), "{report}");
    assert!(report.contains("\nnote: the provider limits requests: waited once, 1.0 s in all\n"), "{report}");
}

/// A wait of a day is too long for a run: the failures have one cause, and are reported once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_provider_itself_fails_at_is_reported_once() {
    let provider =
        FakeProvider::start(Behaviour { limits: (usize::MAX, 86_400), ..Behaviour::default() }).await;
    let notes = Arc::new(project());
    write_project(&notes, &provider, &provider.url);
    let tested = run(notes, &["connector", "test", "--no-build", "--case", "D1,D3,R2"]).await;
    assert_eq!(tested.code, Some(3), "{}", tested.stderr);
    let said =
        "✗ 3 cases: D1, D3, R2\n    the provider itself limits requests: no fault was injected\n    help: ";
    assert!(tested.stdout.contains(said), "{}", tested.stdout);
    assert_eq!(tested.stdout.matches('✗').count(), 1, "{}", tested.stdout);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fake_answers_for_the_hosts_of_the_manifest() {
    let provider = FakeProvider::start(Behaviour::default()).await;
    let notes = Arc::new(project());
    name_host(&notes, "connector.toml");
    name_host(&notes, "build/notes/connector.toml");
    write_project(&notes, &provider, "https://api.paper.test");
    let tested = run(notes.clone(), &["connector", "test", "--no-build", "--case", "D1,R1,W1"]).await;
    assert!(tested.ok().contains("3 passed, 0 failed"));
    let hosts = provider.hosts();
    assert!(hosts.len() > 5 && hosts.iter().all(|host| host == "api.paper.test"), "{hosts:?}");

    // No other host is redirected, and the refusal names the host.
    write_project(&notes, &provider, "https://other.paper.test");
    let tested = run(notes.clone(), &["connector", "test", "--no-build", "--case", "D1"]).await;
    assert_eq!((tested.code, provider.hosts().len()), (Some(3), hosts.len()));
    let said = "manifest does not allow requests to https://other.paper.test";
    assert!(tested.stdout.contains(said), "{}", tested.stdout);

    let project = notes.read("project.toml").replace(&provider.url, "http://fake.paper.test");
    notes.write("project.toml", &project);
    let tested = run(notes, &["connector", "test", "--no-build", "--case", "D1"]).await;
    assert_eq!(tested.code, Some(1), "{}", tested.stdout);
    assert!(tested.stderr.contains("the URL must be https, or http to this machine"), "{}", tested.stderr);
}
