//! Google accounts, with the fake of `tests/fakes` in Google's place: it answers as Google does, and Google's own discovery documents judge
//! each request of the connector.

mod booking;
mod calendar;
mod consent;
mod contacts;
mod convergence;
mod errors;
mod guests;
mod mail;
mod push;
mod quarantine;
mod series;
mod tasks;
mod traps;
mod writing;

use std::time::Duration;

use fakes::Google;
use fakes::google::RequestRecord;
use harness::browser::{Browser, parameter};
use harness::{Actor, Builder, TestServer};
use serde_json::{Map, Value, json};
use storage::oauth_clients::OAuthClient;

use crate::email::mailbox::text;
use crate::oauth::{register, register_client, replace_origin};

/// The registered address to which users of the tests' application return.
const REDIRECT: &str = "https://app.example.test/google";
const ALICE: &str = "alice@example.com";
/// A colleague of Alice's, who has an account where a test says so.
const BOB: &str = "bob@example.com";
/// The zone of Alice's primary calendar.
const ZONE: &str = "Europe/Berlin";
/// The origins of Google's that the connector calls.
const ORIGINS: [&str; 5] = [
    "https://www.googleapis.com",
    "https://openidconnect.googleapis.com",
    "https://gmail.googleapis.com",
    "https://people.googleapis.com",
    "https://tasks.googleapis.com",
];

/// The scope of all that another program of Alice's does with calendars.
const CALENDAR_SCOPE: &str = "https://www.googleapis.com/auth/calendar";
/// The events and instances of March 2026.
const MARCH: &str = "expand=true&limit=200&start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z";

/// A service with Google's client registered, and the fake with Alice's account.
pub struct World {
    pub google: Google,
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
    /// None where Google's documents are not installed.
    pub async fn start() -> Option<World> {
        World::on(builder()).await
    }

    /// Starts with a server that the test has configured.
    pub async fn on(builder: Builder) -> Option<World> {
        let google = Google::start_or_skip().await?;
        google.with(|state| state.add_user(ALICE, "Alice Example", ZONE));
        let server = builder.start().await;
        let api = server.client().await;
        register(&server, &api, REDIRECT).await;
        let url = google.url();
        register_client(&server, &api, "google", |client| set_up(&server, client, url)).await;
        Some(World { google, server, api, browser: Browser::default() })
    }

    /// Connects Alice's account with all scopes that are asked for; the connection.
    pub async fn connect(&self) -> Value {
        self.connect_ticking(|_| true).await
    }

    /// Connects an account for which Alice ticks only the scopes for which `ticks` is true.
    pub async fn connect_ticking(&self, ticks: impl Fn(&str) -> bool) -> Value {
        self.authorize(&["calendar.read", "calendar.write"], ticks).await
    }

    /// Connects Alice's account with these scopes of ours, all of which she grants; the connection.
    pub async fn connect_for(&self, scopes: &[&str]) -> Value {
        let connection = self.authorize(scopes, |_| true).await;
        assert_eq!(connection["missingScopes"], json!([]), "{connection:#}");
        connection
    }

    async fn authorize(&self, scopes: &[&str], ticks: impl Fn(&str) -> bool) -> Value {
        let request = json!({ "scopes": scopes, "redirectUri": REDIRECT, "state": "s" });
        let asked = self.api.post("/v1/auth/connectors/google/authorize", request).send().await.expect(201);
        let url = text(&asked["authorizationUrl"]);
        assert!(url.starts_with(self.google.url()), "{url}");
        let scopes = parameter(&url, "scope").expect("scopes");
        let ticked = scopes.split(' ').filter(|scope| ticks(scope)).map(str::to_owned).collect();
        self.google.with(|state| state.authority.ticked = Some(ticked));
        let returned = self.browser.open(&url).await.location();
        let page = self.browser.open(&returned).await;
        let location = page.location();
        assert_eq!(parameter(&location, "status").as_deref(), Some("active"), "{page:#?}");
        let id = parameter(&location, "connection_id").expect("a connection");
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

    /// Returns the same days as another program gets them from Google, which expands series there.
    pub async fn their_march(&self, calendar: &str) -> Vec<String> {
        let token = self.google.with(|state| {
            let now = state.clock.now_ms();
            state.authority.issue(ALICE, &[CALENDAR_SCOPE], now)
        });
        let query = "singleEvents=true&orderBy=startTime&maxResults=2500&timeZone=UTC&timeMin=2026-03-01T00:00:00Z\
                     &timeMax=2026-04-01T00:00:00Z";
        let url = format!("{}/calendar/v3/calendars/{calendar}/events?{query}", self.google.url());
        let client = harness::http_client().build().expect("an HTTP client");
        let answer = client.get(url).bearer_auth(token).send().await.expect("the fake answers");
        let page: Value = serde_json::from_str(&answer.text().await.expect("a text")).expect("JSON");
        assert!(page["items"].is_array() && page["nextPageToken"].is_null(), "{page:#}");
        page["items"].as_array().expect("a list").iter().map(shown_there).collect()
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

    /// Alice's primary calendar, with her account just connected.
    pub async fn primary(&self) -> FollowedCalendar {
        let connection = self.connect().await;
        self.calendar(&connection, ALICE).await
    }

    /// Puts an event into Alice's primary calendar, as another program of hers does.
    pub fn put(&self, event: Value) {
        self.google.with(|state| state.put_event(ALICE, event));
    }

    /// An event of Alice's primary calendar as Google has it.
    pub fn theirs(&self, id: &str) -> Value {
        let found = self.google.with(|state| state.event(ALICE, id));
        found.unwrap_or_else(|| panic!("Google has no event {id}"))
    }

    /// The ids of the events that Google has in Alice's primary calendar.
    pub fn ids(&self) -> Vec<String> {
        self.google.with(|state| state.event_ids(ALICE))
    }

    /// The requests for changes of calendars and events since `clear_requests`.
    pub fn writes(&self) -> Vec<RequestRecord> {
        let all = self.google.requests().into_iter();
        let is_write = |request: &RequestRecord| {
            request.method != "GET" && request.path.starts_with("/calendar/v3/calendars")
        };
        all.filter(is_write).collect()
    }

    /// The methods of `writes`.
    pub fn methods(&self) -> Vec<String> {
        self.writes().into_iter().map(|request| request.method).collect()
    }

    /// Lets time pass, here and at Google.
    pub fn advance(&self, ms: i64) {
        self.server.clock.advance_ms(ms);
        self.google.advance(Duration::from_millis(ms.unsigned_abs()));
    }

    /// Ends a test: neither the connector nor the fake did what Google's documents forbid.
    #[track_caller]
    pub fn assert_allowed(&self) {
        let violations = self.google.violations();
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

/// Formats an event of Google's, which was requested in UTC.
fn shown_there(event: &Value) -> String {
    let start = event["start"]["date"].as_str().or(event["start"]["dateTime"].as_str()).expect("a start");
    let start: String = start.chars().skip(8).take(8).collect();
    format!("{start} {}", event["summary"].as_str().unwrap_or_default())
}

/// Completes the registration: the fake in the place of Google's servers.
fn set_up(server: &TestServer, client: &mut OAuthClient, url: &str) {
    let place = format!("oauth_clients.client_secret:{}:{}", client.id, client.tenant.organization_id);
    client.client_secret = Some(server.app.keyring.seal(&place, b"a secret").expect("it is sealed"));
    let endpoints = [
        ("authorizeUrl", "/o/oauth2/v2/auth"),
        ("tokenUrl", "/token"),
        ("userinfoUrl", "/v1/userinfo"),
        ("revokeUrl", "/revoke"),
    ];
    let endpoints = endpoints.map(|(name, path)| (name.to_owned(), json!(format!("{url}{path}"))));
    client.endpoints = Map::from_iter(endpoints);
    for origin in ORIGINS {
        replace_origin(client, origin, url);
    }
}

/// An event at Google from this time to an hour later, in UTC; `more` overrides fields.
pub fn event(id: &str, title: &str, start: &str, more: Value) -> Value {
    let hour = start.get(11..13).and_then(|hour| hour.parse::<u8>().ok()).expect("an hour");
    let end =
        format!("{}{:02}{}", start.get(..11).expect("a date"), hour + 1, start.get(13..).expect("minutes"));
    let time = |text: &str| json!({ "dateTime": text, "timeZone": "UTC" });
    let mut event = json!({ "id": id, "summary": title, "start": time(start), "end": time(&end) });
    for (name, value) in more.as_object().into_iter().flatten() {
        event[name.as_str()] = value.clone();
    }
    event
}
