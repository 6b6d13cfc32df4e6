//! Microsoft accounts, with the fake of `tests/fakes` in the place of Entra and Graph: it answers as they do, and an extract of Microsoft's
//! own SDK judges each request of the connector.

mod booking;
mod calendar;
mod connect;
mod contacts;
mod convergence;
mod mail;
mod push;
mod series;
mod tasks;
mod writing;

use std::time::Duration;

use fakes::Graph;
use fakes::graph::{AccountKind, GraphRequest};
use harness::browser::{Browser, parameter};
use harness::{Actor, Builder, TestServer};
use serde_json::{Map, Value, json};
use storage::oauth_clients::OAuthClient;

use crate::email::mailbox::text;
use crate::oauth::{register, register_client, replace_origin};

/// The registered address to which users of the tests' application return.
pub const REDIRECT: &str = "https://app.example.test/microsoft";
pub const ALICE: &str = "alice@contoso.example";
/// A colleague of Alice's, who has an account where a test says so.
pub const BOB: &str = "bob@contoso.example";
/// The zone of Alice's mailbox, as Graph names it. It is Europe/Berlin.
pub const ZONE: &str = "W. Europe Standard Time";
/// The origin of Graph, and the one of upload sessions.
const GRAPH: &str = "https://graph.microsoft.com";
const UPLOADS: &str = "https://outlook.office.com";

/// The events and instances of March 2026.
const MARCH: &str = "expand=true&limit=200&start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z";

/// A service with Microsoft's client registered, and the fake with Alice's account.
pub struct World {
    pub graph: Graph,
    pub server: TestServer,
    pub api: Actor,
    browser: Browser,
}

/// A calendar of Alice's that is read through the API.
pub struct FollowedCalendar {
    pub id: String,
    pub events: String,
    cursor: Option<String>,
}

/// The start of a server that reaches the fake, on the loopback interface.
pub fn builder() -> Builder {
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    TestServer::builder().config(|c| c.egress_allow = loopback)
}

impl World {
    /// None where the extract of Microsoft's SDK is not installed.
    pub async fn start() -> Option<World> {
        World::on(builder()).await
    }

    /// Starts with a server that the test has configured, and a work account of Alice's.
    pub async fn on(builder: Builder) -> Option<World> {
        World::of(builder, AccountKind::Work).await
    }

    /// Starts with an account of this kind.
    pub async fn of(builder: Builder, kind: AccountKind) -> Option<World> {
        let graph = Graph::start_or_skip().await?;
        graph.with(|state| state.add_account(ALICE, "Alice Example", ZONE, kind));
        let server = builder.start().await;
        let api = server.client().await;
        register(&server, &api, REDIRECT).await;
        register_client(&server, &api, "microsoft", |client| set_up(&server, client, &graph)).await;
        Some(World { graph, server, api, browser: Browser::default() })
    }

    /// Connects Alice's account for calendars; the connection.
    pub async fn connect(&self) -> Value {
        self.connect_for(&["calendar.read", "calendar.write"]).await
    }

    /// Connects Alice's account with these scopes of ours, all of which she grants; the connection.
    pub async fn connect_for(&self, scopes: &[&str]) -> Value {
        let connection = self.authorize(scopes).await;
        assert_eq!(connection["missingScopes"], json!([]), "{connection:#}");
        connection
    }

    /// Connects Alice's account with what she grants of these scopes.
    pub async fn authorize(&self, scopes: &[&str]) -> Value {
        let location = self.arrive(&self.consent_page(scopes, json!({})).await).await;
        assert_eq!(parameter(&location, "status").as_deref(), Some("active"), "{location}");
        let id = parameter(&location, "connection_id").expect("a connection");
        self.connection(&id).await
    }

    /// Asks for an authorization; `more` overrides fields of the request. Returns the address of Microsoft's page.
    pub async fn consent_page(&self, scopes: &[&str], more: Value) -> String {
        let mut request = json!({ "scopes": scopes, "redirectUri": REDIRECT, "state": "s" });
        for (name, value) in more.as_object().into_iter().flatten() {
            request[name.as_str()] = value.clone();
        }
        let path = "/v1/auth/connectors/microsoft/authorize";
        let asked = self.api.post(path, request).send().await.expect(201);
        let url = text(&asked["authorizationUrl"]);
        assert!(url.starts_with(self.graph.url()), "{url}");
        url
    }

    /// The address at which the user arrives in the application after Microsoft's page.
    pub async fn arrive(&self, page: &str) -> String {
        let returned = self.browser.open(page).await.location();
        self.browser.open(&returned).await.location()
    }

    /// A connection as the API shows it.
    pub async fn connection(&self, id: &str) -> Value {
        self.api.get(format!("/v1/connections/{id}")).send().await.expect(200)
    }

    /// The answer to a read that is as fresh as the provider.
    pub async fn get(&self, path: &str) -> Value {
        self.server.clock.advance_ms(1);
        self.api.get(path).header("cache-control", "no-cache").send().await.expect(200)
    }

    /// Alice's calendar with this name.
    pub async fn calendar(&self, connection: &Value, name: &str) -> FollowedCalendar {
        let path = format!("/v1/calendars?connection_id={}", text(&connection["id"]));
        let page = self.get(&path).await;
        let mut all = page["data"].as_array().expect("a list").iter();
        let found = all.find(|calendar| calendar["name"] == name);
        let id = text(&found.unwrap_or_else(|| panic!("no calendar {name}: {page:#}"))["id"]);
        FollowedCalendar { events: format!("/v1/calendars/{id}/events"), id, cursor: None }
    }

    /// Alice's default calendar, with her account just connected.
    pub async fn primary(&self) -> FollowedCalendar {
        let connection = self.connect().await;
        self.default_calendar(&connection).await
    }

    /// Alice's default calendar.
    pub async fn default_calendar(&self, connection: &Value) -> FollowedCalendar {
        let page = self.get(&format!("/v1/calendars?connection_id={}", text(&connection["id"]))).await;
        let mut all = page["data"].as_array().expect("a list").iter();
        let found = all.find(|calendar| calendar["isPrimary"] == true);
        let id = text(&found.unwrap_or_else(|| panic!("no default calendar: {page:#}"))["id"]);
        FollowedCalendar { events: format!("/v1/calendars/{id}/events"), id, cursor: None }
    }

    /// Follows a calendar, and returns the initial items of its feed.
    pub async fn follow(&self, calendar: &mut FollowedCalendar) -> Vec<String> {
        let path = format!("/v1/calendars/{}/sync/start", calendar.id);
        self.api.post(path, json!({})).send().await.expect(202);
        self.changes(calendar).await
    }

    /// The changes in the feed since they were read last, each as its type and its title; sorted.
    pub async fn changes(&self, calendar: &mut FollowedCalendar) -> Vec<String> {
        let mut changes = Vec::new();
        loop {
            let cursor =
                calendar.cursor.as_ref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            let page =
                self.get(&format!("/v1/calendars/{}/sync/changes?limit=100{cursor}", calendar.id)).await;
            for change in page["data"].as_array().expect("a list") {
                let title = change["resource"]["title"].as_str().unwrap_or_default();
                changes.push(format!("{} {title}", text(&change["changeType"])).trim_end().to_owned());
            }
            calendar.cursor = page["sync_cursor"].as_str().map(str::to_owned);
            if page["next_cursor"].is_null() {
                changes.sort();
                return changes;
            }
        }
    }

    /// Start and title of each event and instance of March 2026, as in `03T09:00 Standup`.
    pub async fn march(&self, calendar: &FollowedCalendar) -> Vec<String> {
        let page = self.get(&format!("{}?{MARCH}", calendar.events)).await;
        page["data"].as_array().expect("a list").iter().map(shown).collect()
    }

    /// The event or instance that `march` shows so.
    pub async fn instance(&self, calendar: &FollowedCalendar, line: &str) -> Value {
        let page = self.get(&format!("{}?{MARCH}", calendar.events)).await;
        let mut all = page["data"].as_array().expect("a list").iter();
        let found = all.find(|event| shown(event) == line);
        found.unwrap_or_else(|| panic!("no {line}: {page:#}")).clone()
    }

    /// The stored event with this title.
    pub async fn titled(&self, calendar: &FollowedCalendar, title: &str) -> Value {
        let page = self.get(&format!("{}?limit=200", calendar.events)).await;
        let mut all = page["data"].as_array().expect("a list").iter();
        let found = all.find(|event| event["title"] == title);
        found.unwrap_or_else(|| panic!("no event {title}: {page:#}")).clone()
    }

    /// The requests that change something, since `clear_requests`; parts of batches each for itself.
    pub fn writes(&self) -> Vec<GraphRequest> {
        let all = self.graph.requests().into_iter().flat_map(|request| match request.parts.is_empty() {
            true => vec![request],
            false => request.parts,
        });
        all.filter(|request| request.method != "GET" && !request.path.ends_with("/token")).collect()
    }

    /// The methods of `writes`.
    pub fn methods(&self) -> Vec<String> {
        self.writes().into_iter().map(|request| request.method).collect()
    }

    /// Requests to Graph since `clear_requests`, a batch as one.
    pub fn round_trips(&self) -> usize {
        self.graph.requests().iter().filter(|request| request.path.starts_with("/v1.0")).count()
    }

    /// Lets time pass, here and at Microsoft.
    pub fn advance(&self, ms: i64) {
        self.server.clock.advance_ms(ms);
        self.graph.advance(Duration::from_millis(ms.unsigned_abs()));
    }

    /// Ends a test: neither the connector nor the fake did what Microsoft's SDK does not know.
    #[track_caller]
    pub fn assert_allowed(&self) {
        let violations = self.graph.violations();
        assert!(violations.is_empty(), "{violations:#?}");
    }
}

impl FollowedCalendar {
    /// The path of an event or of an instance.
    pub fn path(&self, event: &Value) -> String {
        format!("{}/{}", self.events, text(&event["id"]))
    }
}

fn shown(event: &Value) -> String {
    let start = event["startDate"].as_str().or(event["start"].as_str()).expect("a start");
    let start: String = start.chars().skip(8).take(8).collect();
    format!("{start} {}", event["title"].as_str().unwrap_or_default())
}

/// Completes the registration: the fake in the place of Microsoft's servers.
fn set_up(server: &TestServer, client: &mut OAuthClient, graph: &Graph) {
    let place = format!("oauth_clients.client_secret:{}:{}", client.id, client.tenant.organization_id);
    client.client_secret = Some(server.app.keyring.seal(&place, b"a secret").expect("it is sealed"));
    let url = graph.url();
    let endpoints = [
        ("authorizeUrl", "/common/oauth2/v2.0/authorize"),
        ("tokenUrl", "/common/oauth2/v2.0/token"),
        ("userinfoUrl", "/v1.0/me?$select=id,mail,userPrincipalName,displayName"),
    ];
    let endpoints = endpoints.map(|(name, path)| (name.to_owned(), json!(format!("{url}{path}"))));
    client.endpoints = Map::from_iter(endpoints);
    replace_origin(client, GRAPH, url);
    replace_origin(client, UPLOADS, graph.upload_url());
}
