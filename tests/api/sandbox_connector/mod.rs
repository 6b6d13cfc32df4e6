//! The sandbox connector against the sandbox provider, both in this process: the connector's code runs natively, through the host's own
//! entry point, over a real socket.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod contacts;
mod mail;
mod tasks;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use connector_sandbox::Sandbox;
use connector_sdk::http::{Http, Request};
use connector_sdk::testing::{Credentials, Live};
use connector_sdk::{Answer, Calendar as _, Context, Failure, Lifecycle as _, Outcome, code};
use model::Instant;
use model::calendar::{ConferenceProvider, Event, EventType, ResponseStatus};
use model::wire::calendar::{
    EventConference, EventRespond, EventTarget, EventWrite, FreeBusyRequest, RecurrenceScope,
};
use model::wire::{ChangesRequest, Connection, Mutated, Source, SourceRef, Sources};
use sandbox_provider::{self, Config};
use serde_json::{Value, json};

/// Tuesday 2026-03-10, 08:00 in Berlin.
const NOW_MS: i64 = 1_773_126_000_000;

/// A running provider and one account's connection to it.
struct Api {
    live: Live,
    server_url: String,
    mail: String,
    now_ms: Arc<AtomicI64>,
}

impl Api {
    fn start() -> Self {
        let now_ms = Arc::new(AtomicI64::new(NOW_MS));
        let clock = now_ms.clone();
        let config = Config { seed: Some(7), ..Config::new(Arc::new(move || clock.load(Ordering::Relaxed))) };
        let router = sandbox_provider::router(sandbox_provider::Sandbox::new(config).unwrap());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let server_url = format!("http://{}/sandbox", listener.local_addr().unwrap());
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), router).await.unwrap();
            });
        });
        Api { live: live("alice"), server_url, mail: "alice@sandbox.test".to_owned(), now_ms }
    }

    fn as_person(&self, name: &str) -> Self {
        let (server_url, now_ms) = (self.server_url.clone(), self.now_ms.clone());
        Api { live: live(name), server_url, mail: format!("{name}@sandbox.test"), now_ms }
    }

    fn context(&self) -> Context<'_> {
        let settings = json!({ "serverUrl": self.server_url });
        let connection = Connection {
            settings: settings.as_object().unwrap().clone(),
            addresses: vec![self.mail.clone()],
            username: Some(self.mail.clone()),
        };
        Context::new(&self.live, connection)
    }

    fn fault(&self, fault: Value) {
        let request = Request::post(format!("{}/faults", self.server_url)).json(&fault);
        assert_eq!(self.live.send(request).unwrap().status, 201);
    }

    fn changes(&self, cursor: Option<String>, limit: u32) -> Outcome<Answer<Sources>> {
        let args = ChangesRequest { collection: Some("work".to_owned()), limit, ..ChangesRequest::default() };
        Sandbox::changes(&self.context().at(cursor), args)
    }

    fn create(&self, event: &Event, key: &str) -> Outcome<Mutated> {
        Sandbox::create_event(&self.context().keyed(key), write(EventTarget::default(), event, &[]))
    }

    fn read(&self, source: &str) -> Source {
        let args = SourceRef { collection: "work".to_owned(), source: source.to_owned(), time_zone: None };
        Sandbox::get_event(&self.context(), args).unwrap().sources.remove(0)
    }
}

/// The names of all fields that a value has.
fn fields(of: &Value) -> Vec<String> {
    of.as_object().unwrap().keys().cloned().collect()
}

fn live(name: &str) -> Live {
    let username = format!("{name}@sandbox.test");
    Live::new(Credentials::Basic { username, password: "sandbox".to_owned() })
}

fn write(target: EventTarget, event: &Event, changed: &[&str]) -> EventWrite {
    EventWrite {
        collection: "work".to_owned(),
        target,
        event: event.clone(),
        changed: changed.iter().map(|c| (*c).to_owned()).collect(),
        ..EventWrite::default()
    }
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn event(source: &Source, item: usize) -> Event {
    source.items[item].body.read().unwrap()
}

fn lunch() -> Event {
    Event {
        start: at("2026-03-12T11:00:00Z"),
        end: at("2026-03-12T12:00:00Z"),
        time_zone: "Europe/Berlin".to_owned(),
        title: Some("Lunch".to_owned()),
        ..Event::default()
    }
}

fn daily() -> Event {
    Event { recurrence: vec!["RRULE:FREQ=DAILY;COUNT=10".to_owned()], ..lunch() }
}

fn of(mutated: &Mutated) -> EventTarget {
    let source = &mutated.sources[0];
    EventTarget {
        source: Some(source.external_id.clone()),
        if_match: source.etag.clone(),
        scope: RecurrenceScope::All,
        ..EventTarget::default()
    }
}

fn instance(mutated: &Mutated, id: &str, scope: RecurrenceScope) -> EventTarget {
    EventTarget { recurrence_id: Some(id.to_owned()), scope, ..of(mutated) }
}

fn refused<T: std::fmt::Debug>(outcome: Outcome<T>, code: &str) -> Failure {
    let failure = outcome.unwrap_err();
    assert_eq!(failure.code, code, "{failure:?}");
    failure
}

#[test]
fn check() {
    let api = Api::start();
    let account = Sandbox::check(&api.context()).unwrap();
    assert_eq!(account.external_account_id, "acc_alice");
    assert_eq!(account.email.as_deref(), Some("alice@sandbox.test"));
    assert_eq!(account.surfaces, ["email", "calendar", "contacts", "tasks"]);
    refused(Sandbox::check(&api.as_person("revoked").context()), code::AUTH_EXPIRED);
    refused(Sandbox::check(&Context::new(&api.live, Connection::default())), code::INVALID);
}

/// Every field that a client can set comes back as it was sent, on create and on update.
#[test]
fn every_field_of_an_event() {
    let api = Api::start();
    let full = json!({
        "iCalUid": "uid-1@example.com", "title": "Lunch", "start": "2026-03-12T11:00:00Z", "end": "2026-03-12T12:00:00Z",
        "timeZone": "Europe/Berlin", "endTimeZone": "America/New_York", "description": "plain", "descriptionHtml": "<b>rich</b>",
        "location": "Room 1", "color": "#123456", "status": "tentative", "showAs": "oof", "visibility": "confidential",
        "locations": [{ "name": "HQ", "address": "Main St 1", "uri": "https://example.com/map", "geo": "52.5,13.4" }],
        "eventKind": "focusTime", "hideAttendees": true, "guestsCanModify": true, "guestsCanInvite": true, "capacity": 12,
        "attendees": [
            {
                "email": "dana@customer.example", "name": "Dana", "responseStatus": "accepted", "role": "nonParticipant",
                "kind": "resource", "comment": "by phone",
            },
            { "email": "alice@sandbox.test", "self": true, "organizer": true },
        ],
        "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=TH;COUNT=4", "EXDATE;TZID=Europe/Berlin:20260319T120000"],
        "conference": {
            "provider": "zoom", "status": "pending", "joinUrl": "https://zoom.example/1", "meetingId": "1", "passcode": "s3",
            "phones": [{ "number": "+49 30 1", "pin": "2", "region": "DE" }], "createRequestId": "r",
        },
        "reminders": { "useDefault": false, "overrides": [{ "method": "email", "minutesBefore": 40_320 }] },
        "attachments": [{ "title": "Agenda", "url": "https://example.com/a.pdf", "mimeType": "application/pdf" }],
    });
    let sent: Event = serde_json::from_value(full).unwrap();
    let made = api.create(&sent, "e1").unwrap();
    let got = event(&made.sources[0], 0);
    let me = got.organizer.clone().unwrap();
    assert_eq!((me.email.as_deref(), me.is_self), (Some("alice@sandbox.test"), true));
    let expected = Event {
        event_type: EventType::Series,
        busy: true,
        html_link: got.html_link.clone(),
        organizer: got.organizer.clone(),
        creator: got.organizer.clone(),
        my_response: Some(ResponseStatus::NeedsAction),
        ..sent.clone()
    };
    assert_eq!(got, expected);
    assert!(got.html_link.is_some());
    assert_eq!(event(&api.read(&made.sources[0].external_id), 0), expected);

    // The same by an update of all fields.
    let fields = fields(&json!(sent));
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let other = api.create(&lunch(), "e2").unwrap();
    let changed = Sandbox::update_event(&api.context(), write(of(&other), &sent, &fields)).unwrap();
    let got = event(&changed.sources[0], 0);
    let uid = got.i_cal_uid.clone();
    assert_eq!(got, Event { i_cal_uid: uid, html_link: got.html_link.clone(), sequence: 1, ..expected });
}

/// A rule that has no place for an exception any more drops it, with a warning.
#[test]
fn dropped_exceptions() {
    let api = Api::start();
    let made = api.create(&daily(), "d").unwrap();
    let target = instance(&made, "2026-03-13T12:00:00", RecurrenceScope::This);
    let change = Event { title: Some("Other".to_owned()), ..lunch() };
    let changed = Sandbox::update_event(&api.context(), write(target, &change, &["title"])).unwrap();
    let rule = Event { recurrence: vec!["RRULE:FREQ=DAILY;INTERVAL=2".to_owned()], ..daily() };
    let changed = Sandbox::update_event(&api.context(), write(of(&changed), &rule, &["recurrence"])).unwrap();
    assert_eq!(changed.sources[0].items.len(), 1);
    assert_eq!(changed.warnings[0].target.as_deref(), Some("2026-03-13T12:00:00"));
}

/// The refusals that only some changes of an event have.
#[test]
fn refusals() {
    let api = Api::start();
    let made = api.create(&lunch(), "i").unwrap();
    let respond = EventRespond {
        collection: "work".to_owned(),
        target: of(&made),
        response: ResponseStatus::Accepted,
        ..EventRespond::default()
    };
    let failure = refused(Sandbox::respond(&api.context(), respond), code::CONFLICT);
    assert_eq!(failure.detail.unwrap()["reason"], "organizer_cannot_rsvp");
    // The calendar supports the provider's own service only.
    let teams = EventConference {
        collection: "work".to_owned(),
        target: of(&made),
        provider: Some(ConferenceProvider::Teams),
        ..EventConference::default()
    };
    refused(Sandbox::conference(&api.context(), teams), code::UNSUPPORTED);
    let busy = FreeBusyRequest {
        email: Some("nobody@sandbox.test".to_owned()),
        start: at("2026-03-15T00:00:00Z"),
        end: at("2026-03-16T00:00:00Z"),
        ..FreeBusyRequest::default()
    };
    refused(Sandbox::free_busy(&api.context(), busy), code::NOT_FOUND);
}

/// Each fault of the provider becomes one defined failure.
#[test]
fn faults() {
    let api = Api::start();
    let cursor = api.changes(None, 0).unwrap().cursor;
    let cases = [
        (json!({ "status": 429, "retryAfterS": 3 }), code::RATE_LIMITED, Some(3000)),
        (json!({ "status": 401 }), code::AUTH_EXPIRED, None),
        (json!({ "status": 410, "syncTokenOnly": true }), code::CURSOR_EXPIRED, None),
        (json!({ "status": 503, "retryAfterS": 1 }), code::UNAVAILABLE, Some(1000)),
        (json!({ "status": 403 }), code::FORBIDDEN, None),
        (json!({ "lostAnswer": true }), code::UNAVAILABLE, None),
    ];
    for (fault, expected, retry_after_ms) in cases {
        api.fault(fault);
        let failure = refused(api.changes(cursor.clone(), 0), expected);
        assert_eq!(failure.retry_after_ms, retry_after_ms);
    }
    assert!(api.changes(cursor, 0).is_ok());
    let bad = Event { color: Some("red".to_owned()), ..lunch() };
    let failure = refused(api.create(&bad, "bad"), code::INVALID);
    assert_eq!(failure.message, "the provider rejected creating the event: color must look like #3b82f6");
}
