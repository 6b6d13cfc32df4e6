//! Accounts at a provider that a fake of `tests/fakes` plays: the service with the provider's client, an account that is connected by
//! consent, and its calendars on both sides. The fake answers as the provider does, and a document of the provider judges each request.

pub mod bookings;
pub mod contacts;
pub mod convergence;
pub mod mail;
pub mod tasks;

use std::time::Duration;

use fakes::{Fake, FakeService};
use harness::browser::{Browser, parameter};
use harness::{Actor, Builder, TestServer};
use serde_json::{Map, Value, json};
use storage::oauth_clients::OAuthClient;

use crate::email::mailbox::text;
use crate::oauth::{register, register_client, replace_origin};

/// The events and instances of March 2026.
pub const MARCH: &str = "expand=true&limit=200&start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z";

/// The service of a provider's fake, with what the tests need to register and connect an account.
pub trait FakeProvider: FakeService {
    /// The name of the connector.
    const CONNECTOR: &'static str;
    /// The registered address to which users of the tests' application return.
    const REDIRECT: &'static str;
    const ALICE: &'static str;
    /// A colleague of Alice's, who has an account where a test says so.
    const BOB: &'static str;
    /// The endpoints of a registration, each with its path.
    const ENDPOINTS: &'static [(&'static str, &'static str)];

    /// None where the provider's document is not installed.
    async fn start_or_skip() -> Option<Fake<Self>>;
    /// The provider's origins, each with the fake's in its place.
    fn origins(fake: &Fake<Self>) -> Vec<(&'static str, &str)>;
    fn add_user(state: &mut Self::State, address: &str, name: &str);
    /// Lets Alice grant all scopes of this consent page, at a provider where she chooses.
    fn grant_all(_fake: &Fake<Self>, _page: &str) {}
}

/// A service with the provider's client registered, and the fake with Alice's account.
pub struct World<P: FakeProvider> {
    pub fake: Fake<P>,
    pub server: TestServer,
    pub api: Actor,
    pub browser: Browser,
}

/// A calendar of Alice's that is read through the API.
pub struct FollowedCalendar {
    pub id: String,
    pub events: String,
    pub cursor: Option<String>,
}

/// The start of a server that reaches the fake, on the loopback interface.
pub fn builder() -> Builder {
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    TestServer::builder().config(|c| c.egress_allow = loopback)
}

impl<P: FakeProvider> World<P> {
    /// None where the provider's document is not installed.
    pub async fn start() -> Option<World<P>> {
        World::<P>::on(builder()).await
    }

    /// Starts with a server that the test has configured.
    pub async fn on(builder: Builder) -> Option<World<P>> {
        World::<P>::with_account(builder, |state| P::add_user(state, P::ALICE, "Alice Example")).await
    }

    /// Starts with the account that `add` makes.
    pub async fn with_account(builder: Builder, add: impl FnOnce(&mut P::State)) -> Option<World<P>> {
        let fake = P::start_or_skip().await?;
        fake.with(add);
        let server = builder.start().await;
        let api = server.client().await;
        register(&server, &api, P::REDIRECT).await;
        register_client(&server, &api, P::CONNECTOR, |client| set_up(&server, client, &fake)).await;
        Some(World { fake, server, api, browser: Browser::default() })
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

    /// Connects Alice's account with what the provider grants of these scopes.
    pub async fn authorize(&self, scopes: &[&str]) -> Value {
        let page = self.consent_page(scopes, json!({})).await;
        P::grant_all(&self.fake, &page);
        self.consent(&page).await
    }

    /// Asks for an authorization; `more` overrides fields of the request. Returns the address of the provider's page.
    pub async fn consent_page(&self, scopes: &[&str], more: Value) -> String {
        let mut request = json!({ "scopes": scopes, "redirectUri": P::REDIRECT, "state": "s" });
        for (name, value) in more.as_object().into_iter().flatten() {
            request[name.as_str()] = value.clone();
        }
        let path = format!("/v1/auth/connectors/{}/authorize", P::CONNECTOR);
        let asked = self.api.post(path, request).send().await.expect(201);
        let url = text(&asked["authorizationUrl"]);
        assert!(url.starts_with(self.fake.url()), "{url}");
        url
    }

    /// The address at which the user arrives in the application after the provider's page.
    pub async fn arrive(&self, page: &str) -> String {
        let returned = self.browser.open(page).await.location();
        self.browser.open(&returned).await.location()
    }

    /// Consents on this page of the provider's; the connection, which is active.
    pub async fn consent(&self, page: &str) -> Value {
        let location = self.arrive(page).await;
        assert_eq!(parameter(&location, "status").as_deref(), Some("active"), "{location}");
        let id = parameter(&location, "connection_id").expect("a connection");
        self.connection(&id).await
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

    /// The answer of the fake to a GET request that another program sends with this access token.
    pub async fn get_there(&self, path: &str, token: &str) -> Value {
        let client = harness::http_client().build().expect("an HTTP client");
        let url = format!("{}{path}", self.fake.url());
        let answer = client.get(url).bearer_auth(token).send().await.expect("the fake answers");
        serde_json::from_str(&answer.text().await.expect("a text")).expect("JSON")
    }

    /// Alice's calendar with this name.
    pub async fn calendar(&self, connection: &Value, name: &str) -> FollowedCalendar {
        self.find_calendar(connection, |calendar| calendar["name"] == name).await
    }

    /// Alice's default calendar.
    pub async fn default_calendar(&self, connection: &Value) -> FollowedCalendar {
        self.find_calendar(connection, |calendar| calendar["isPrimary"] == true).await
    }

    /// Alice's default calendar, with her account just connected.
    pub async fn primary(&self) -> FollowedCalendar {
        let connection = self.connect().await;
        self.default_calendar(&connection).await
    }

    async fn find_calendar(&self, connection: &Value, is_it: impl Fn(&Value) -> bool) -> FollowedCalendar {
        let page = self.get(&format!("/v1/calendars?connection_id={}", text(&connection["id"]))).await;
        let mut all = page["data"].as_array().expect("a list").iter();
        let found = all.find(|calendar| is_it(calendar));
        let id = text(&found.unwrap_or_else(|| panic!("no such calendar: {page:#}"))["id"]);
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
        let feed = format!("/v1/calendars/{}/sync/changes?limit=100", calendar.id);
        change_lines(&self.read_feed(&feed, &mut calendar.cursor).await, "title")
    }

    /// The changes in a feed since they were read last, as fresh as the provider. `feed` is its path, with a parameter already.
    async fn read_feed(&self, feed: &str, cursor: &mut Option<String>) -> Vec<Value> {
        let mut changes = Vec::new();
        loop {
            let from = cursor.as_ref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            let page = self.get(&format!("{feed}{from}")).await;
            changes.extend(page["data"].as_array().expect("a list").iter().cloned());
            *cursor = page["sync_cursor"].as_str().map(str::to_owned);
            if page["next_cursor"].is_null() {
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

    /// Lets time pass, here and at the provider.
    pub fn advance(&self, ms: i64) {
        self.server.clock.advance_ms(ms);
        self.fake.advance(Duration::from_millis(ms.unsigned_abs()));
    }

    /// Ends a test: neither the connector nor the fake did what the provider's document forbids.
    #[track_caller]
    pub fn assert_allowed(&self) {
        let violations = self.fake.violations();
        assert!(violations.is_empty(), "{violations:#?}");
    }
}

impl FollowedCalendar {
    /// The path of an event or of an instance.
    pub fn path(&self, event: &Value) -> String {
        format!("{}/{}", self.events, text(&event["id"]))
    }
}

/// Formats changes of a feed as their types and the names of their resources, such as `created Lunch`; sorted. `name` is the field of the
/// name.
fn change_lines<'c>(changes: impl IntoIterator<Item = &'c Value>, name: &str) -> Vec<String> {
    let line = |change: &Value| {
        let kind = text(&change["changeType"]);
        let name = change["resource"][name].as_str().filter(|_| kind != "deleted");
        format!("{kind} {}", name.unwrap_or_default()).trim_end().to_owned()
    };
    let mut lines: Vec<String> = changes.into_iter().map(line).collect();
    lines.sort();
    lines
}

/// Formats an event of the API as `march` does.
pub fn shown(event: &Value) -> String {
    let start = event["startDate"].as_str().or(event["start"].as_str()).expect("a start");
    line(start, event["title"].as_str().unwrap_or_default())
}

/// Formats the start of an event and its title: `03T09:00 Standup`.
pub fn line(start: &str, title: &str) -> String {
    let start: String = start.chars().skip(8).take(8).collect();
    format!("{start} {title}")
}

/// Completes the registration: the fake in the place of the provider's servers.
pub fn set_up<P: FakeProvider>(server: &TestServer, client: &mut OAuthClient, fake: &Fake<P>) {
    let place = format!("oauth_clients.client_secret:{}:{}", client.id, client.tenant.organization_id);
    client.client_secret = Some(server.app.keyring.seal(&place, b"a secret").expect("it is sealed"));
    let url = fake.url();
    let endpoints =
        P::ENDPOINTS.iter().map(|(name, path)| ((*name).to_owned(), json!(format!("{url}{path}"))));
    client.endpoints = Map::from_iter(endpoints);
    for (origin, replacement) in P::origins(fake) {
        replace_origin(client, origin, replacement);
    }
}
