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

use fakes::Google;
use fakes::google::{GoogleService, RequestRecord, State};
use harness::browser::parameter;
use serde_json::{Value, json};

use crate::fake_provider::{self, FakeProvider};

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

pub type World = fake_provider::World<GoogleService>;

impl FakeProvider for GoogleService {
    const CONNECTOR: &'static str = "google";
    const REDIRECT: &'static str = REDIRECT;
    const ALICE: &'static str = ALICE;
    const BOB: &'static str = BOB;
    const ENDPOINTS: &'static [(&'static str, &'static str)] = &[
        ("authorizeUrl", "/o/oauth2/v2/auth"),
        ("tokenUrl", "/token"),
        ("userinfoUrl", "/v1/userinfo"),
        ("revokeUrl", "/revoke"),
    ];

    async fn start_or_skip() -> Option<Google> {
        Google::start_or_skip().await
    }

    fn origins(google: &Google) -> Vec<(&'static str, &str)> {
        ORIGINS.iter().map(|origin| (*origin, google.url())).collect()
    }

    fn add_user(state: &mut State, address: &str, name: &str) {
        state.add_user(address, name, ZONE);
    }

    fn grant_all(google: &Google, page: &str) {
        tick(google, page, |_| true);
    }
}

/// Has Alice tick those boxes of this consent page for whose scopes `ticks` is true.
fn tick(google: &Google, page: &str, ticks: impl Fn(&str) -> bool) {
    let scopes = parameter(page, "scope").expect("scopes");
    let ticked = scopes.split(' ').filter(|scope| ticks(scope)).map(str::to_owned).collect();
    google.with(|state| state.authority.ticked = Some(ticked));
}

impl World {
    /// Connects an account with these scopes of ours, where Alice ticks only Google's scopes for which `ticks` is true.
    pub async fn connect_ticking(&self, scopes: &[&str], ticks: impl Fn(&str) -> bool) -> Value {
        let page = self.consent_page(scopes, json!({})).await;
        tick(&self.fake, &page, ticks);
        self.consent(&page).await
    }

    /// Returns the events and instances of March 2026 as another program gets them from Google, which expands series there.
    pub async fn their_march(&self, calendar: &str) -> Vec<String> {
        let token = self.fake.with(|state| {
            let now = state.clock.now_ms();
            state.authority.issue(ALICE, &[CALENDAR_SCOPE], now)
        });
        let query = "singleEvents=true&orderBy=startTime&maxResults=2500&timeZone=UTC&timeMin=2026-03-01T00:00:00Z\
                     &timeMax=2026-04-01T00:00:00Z";
        let page = self.get_there(&format!("/calendar/v3/calendars/{calendar}/events?{query}"), &token).await;
        assert!(page["items"].is_array() && page["nextPageToken"].is_null(), "{page:#}");
        page["items"].as_array().expect("a list").iter().map(shown_there).collect()
    }

    /// Puts an event into Alice's primary calendar, as another program of hers does.
    pub fn put(&self, event: Value) {
        self.fake.with(|state| state.put_event(ALICE, event));
    }

    /// An event of Alice's primary calendar as Google has it.
    pub fn theirs(&self, id: &str) -> Value {
        let found = self.fake.with(|state| state.event(ALICE, id));
        found.unwrap_or_else(|| panic!("Google has no event {id}"))
    }

    /// The ids of the events that Google has in Alice's primary calendar.
    pub fn ids(&self) -> Vec<String> {
        self.fake.with(|state| state.event_ids(ALICE))
    }

    /// The requests for changes of calendars and events since `clear_requests`.
    pub fn writes(&self) -> Vec<RequestRecord> {
        let all = self.fake.requests().into_iter();
        let is_write = |request: &RequestRecord| {
            request.method != "GET" && request.path.starts_with("/calendar/v3/calendars")
        };
        all.filter(is_write).collect()
    }

    /// The methods of `writes`.
    pub fn methods(&self) -> Vec<String> {
        self.writes().into_iter().map(|request| request.method).collect()
    }
}

/// Formats an event of Google's, which was requested in UTC.
fn shown_there(event: &Value) -> String {
    let start = event["start"]["date"].as_str().or(event["start"]["dateTime"].as_str()).expect("a start");
    fake_provider::line(start, event["summary"].as_str().unwrap_or_default())
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
